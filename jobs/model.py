"""A benchmark job: its topology, and how it behaves on an engine (its simulator profile).

Profiles are data: every figure has a unit and says who measured or published it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Style = Literal["restart", "boot", "live", "rebalance", "executors"]
"""How an engine changes its size: the whole job restarts; a machine joins; state moves under load; partitions
change hands; executors come and go between batches."""

Coupling = Literal["shared", "pulled", "partitioned"]
"""What holds a job back: its hottest worker (back-pressure reaches the source), only the sum of its workers (they
pull from one queue), or nothing but a worker's own partitions."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of the job."""

    name: str
    selectivity: float
    """Events out per event in."""
    keyed: bool = False
    """Whether events go to an instance by their key, so that a hot key makes a hot instance."""
    inputs: tuple[str, ...] = ()
    """The operators it reads from; empty means the one before it in the topology."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A figure with its unit and where it comes from."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles of something that varies, as measured or published, with a straight line between two of them.

    >>> boot = Distribution(((0.0, 5.0), (0.5, 11.0), (1.0, 25.0)), "s", "an example")
    >>> boot.at(0.25), boot.median
    (8.0, 11.0)
    """

    quantiles: tuple[tuple[float, float], ...]
    """(share of cases, value), both ascending, from share 0 to share 1."""
    unit: str
    source: str

    @classmethod
    def always(cls, value: float, unit: str, source: str) -> Distribution:
        return cls(((0.0, value), (1.0, value)), unit, source)

    def at(self, share: float) -> float:
        """The value that this share of the cases stays below."""
        index = bisect_right(self.quantiles, share, key=lambda quantile: quantile[0])
        if index in {0, len(self.quantiles)}:
            return self.quantiles[min(index, len(self.quantiles) - 1)][1]
        (before, low), (after, high) = self.quantiles[index - 1 : index + 1]
        return low + (high - low) * (share - before) / (after - before)

    @property
    def median(self) -> float:
        return self.at(0.5)


@dataclass(frozen=True, slots=True)
class Engine:
    """What an engine brings to every job on it: how workers join, how a rescale interrupts, how state is saved."""

    name: str
    about: str
    style: Style
    coupling: Coupling
    constants: Mapping[str, Constant]
    delays: Mapping[str, Distribution]
    scales: Literal["job", "operators"] = "job"
    """Whether a worker holds a slice of every operator, or each operator has instances of its own."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How a job behaves on an engine: the engine's figures, and the job's own, which come first."""

    engine: Engine
    own: Mapping[str, Constant] = field(default_factory=dict)
    own_delays: Mapping[str, Distribution] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        return (self.own if name in self.own else self.engine.constants)[name].value

    @property
    def constants(self) -> dict[str, Constant]:
        return {**self.engine.constants, **self.own}

    @property
    def delays(self) -> dict[str, Distribution]:
        return {**self.engine.delays, **self.own_delays}

    def changed(self, source: str, values: Mapping[str, float]) -> Profile:
        """The same with other values; a delay becomes the same in all cases."""
        known, delays = self.constants, self.delays
        own = {
            name: replace(known[name], value=value, source=source) for name, value in values.items() if name in known
        }
        own_delays = {
            name: Distribution.always(value, delays[name].unit, source)
            for name, value in values.items()
            if name in delays
        }
        unknown = [name for name in values if name not in known and name not in delays]
        if unknown:
            raise KeyError(f"{self.engine.name} knows no {', '.join(unknown)}")
        return Profile(self.engine, {**self.own, **own}, {**self.own_delays, **own_delays})


@dataclass(frozen=True, slots=True)
class Job:
    """A stream-processing program that autoscalers are measured on."""

    name: str
    title: str
    about: str
    reference: str
    event: str
    """What one event is, in a few words."""
    topology: tuple[Operator, ...]
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By engine; the first is the default."""

    @property
    def default_engine(self) -> str:
        return next(iter(self.profiles))
