"""The profile of a job whose operators scale each on their own, on the nodes of one or several regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from jobs.model import Constant, Distribution, Operator, Profile

#: An input that is no operator: the events that are offered to the job.
OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class OperatorsProfile(Profile):
    """Figures of the engine and the job, where `name.part` is what holds for one operator or region only.

    `part` gives the figures of one of them: what is its own comes before what holds for all. In `changed`, a figure
    that is known for all may be set for one.

    >>> from jobs.model import Engine
    >>> engine = Engine("example", "", "live", "partitioned", {}, {}, scales="operators")
    >>> slow, quick = (Constant(rate, "events/s", "an example") for rate in (20.0, 100.0))
    >>> profile = OperatorsProfile(engine, {"worker_capacity": quick, "worker_capacity.join": slow})
    >>> profile.part("join")["worker_capacity"], profile.part("split")["worker_capacity"]
    (20.0, 100.0)
    >>> profile.changed("a suite", {"worker_capacity.split": 50.0}).part("split")["worker_capacity"]
    50.0
    """

    topology: tuple[Operator, ...] = ()
    """The operators as this engine runs them; empty means the job's own."""
    regions: tuple[str, ...] = ("cluster",)
    """Where there are nodes. The events that are offered to the job come from the first one."""
    placement: str = "near"
    """How instances are placed on nodes: one of the simulator's policies."""

    def part(self, name: str) -> OperatorsProfile:
        """The same figures as one operator or region knows them."""
        return replace(self, own=_specific(self.constants, name), own_delays=_specific(self.delays, name))

    def between(self, one: str, other: str) -> float:
        """Seconds that the network takes from one region to another; both directions are alike."""
        if one == other:
            return self["latency_within_s"]
        named = [name for name in (f"{one}.{other}", f"{other}.{one}") if f"latency_between_s.{name}" in self.constants]
        return self[f"latency_between_s.{named[0]}" if named else "latency_between_s"]

    def changed(self, source: str, values: Mapping[str, float]) -> OperatorsProfile:
        """The same with other values; a delay becomes the same in all cases."""
        constants, delays = self.constants, self.delays
        for name in values:
            general = name.partition(".")[0]
            if general in constants:
                constants.setdefault(name, constants[general])
            elif general in delays:
                delays.setdefault(name, delays[general])
        found = Profile(self.engine, constants, delays).changed(source, values)
        return replace(self, own=found.own, own_delays=found.own_delays)


Figure = TypeVar("Figure", Constant, Distribution)


def _specific(figures: Mapping[str, Figure], part: str) -> dict[str, Figure]:
    ending = f".{part}"
    return {**figures, **{name.removesuffix(ending): it for name, it in figures.items() if name.endswith(ending)}}
