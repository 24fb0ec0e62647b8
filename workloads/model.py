"""What a workload is: events/s over time, one value a second, the same again for the same seed."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from workloads.units import format_duration

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Keeps a workload's draws apart from whatever else a run derives from the same seed.
_OURS: Final = int.from_bytes(b"load")
_NOISE: Final = 0


class WorkloadError(ValueError):
    """What is wrong with a workload, a line for each problem."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What a component of a workload is asked for: how many seconds, and where its random numbers come from.

    Random numbers follow from the run's seed and the component's place in the workload: components differ in their
    path, so their draws are independent. A modifier passes the path on as it is, so that adding noise to a random
    walk, or clipping it, leaves the walk itself as it was.
    """

    duration_s: int
    seed: int
    path: tuple[int, ...] = ()
    layer: int = 0
    """How many layers of noise lie above this component."""

    @property
    def seconds(self) -> Floats:
        """The start of every second: 0, 1, 2, ..."""
        return np.arange(self.duration_s, dtype=np.float64)

    def lasting(self, duration_s: int) -> Timeline:
        return replace(self, duration_s=duration_s)

    def part(self, index: int) -> Timeline:
        """For a part of a sum or product. Parts count from 1: 0 marks noise."""
        return Timeline(self.duration_s, self.seed, (*self.path, index + 1))

    def below_noise(self) -> Timeline:
        return replace(self, layer=self.layer + 1)

    def generator(self) -> np.random.Generator:
        """For a shape."""
        return self._generator(self.path)

    def noise_generator(self, kind: int) -> np.random.Generator:
        """For a noise of this kind in this layer. Each kind has its own, so that none depends on how many
        numbers another one drew: that is what lets a longer run begin like a shorter one."""
        return self._generator((*self.path, _NOISE, self.layer, kind))

    def _generator(self, path: tuple[int, ...]) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_OURS, *path)))


class Workload(ABC):
    """Events/s over time.

    Subclasses are frozen dataclasses. They implement `rates` without a Python loop over seconds: a curve of
    sixty days is one call.
    """

    @property
    def length_s(self) -> int | None:
        """How long it can go on; None where there is no end."""
        return None

    @property
    def cycle_s(self) -> int | None:
        """After how many seconds an endless workload starts over; None where it never does."""
        return None

    @property
    def span_s(self) -> int | None:
        """What `shift` rotates and `stretch` stretches: the whole length, else one cycle. None: the run itself."""
        return self.cycle_s if self.length_s is None else self.length_s

    @property
    def fits_run(self) -> bool:
        """Whether the curve is laid out over the run. If not, curve(n)[:m] equals curve(m) for every m <= n."""
        return False

    @property
    def random(self) -> bool:
        """Whether the seed matters."""
        return False

    @abstractmethod
    def rates(self, timeline: Timeline) -> Floats:
        """The curve as a component of a larger workload; `curve` is the way in from outside."""

    def curve(self, duration_s: int, seed: int = 0) -> Floats:
        """`duration_s` values in events/s: finite, not negative, and the same again for the same seed.

        A value is the rate at the start of its second.
        """
        seconds = operator.index(duration_s)
        if seconds < 1:
            raise WorkloadError("a run lasts at least one second")
        if problem := self.too_short_for(seconds):
            raise WorkloadError(problem)
        return self.rates(Timeline(seconds, seed))

    def too_short_for(self, duration_s: float) -> str | None:
        """What to tell whoever runs it for longer than it can go on; None if it is long enough."""
        if self.length_s is None or duration_s <= self.length_s:
            return None
        lasts, run = format_duration(self.length_s), format_duration(duration_s)
        return f"the workload lasts {lasts} and the run {run}; add repeat: true, or stretch: {run}"


def shortest(parts: Iterable[Workload]) -> int | None:
    """How long several workloads can go on together."""
    return min((part.length_s for part in parts if part.length_s is not None), default=None)


def common_cycle(parts: Iterable[Workload]) -> int | None:
    """The cycle of several endless workloads together: the longest one, if it is a multiple of all others."""
    cycles = [part.cycle_s for part in parts]
    known = [cycle for cycle in cycles if cycle is not None]
    if not known or len(known) < len(cycles):
        return None
    longest = max(known)
    return longest if all(longest % cycle == 0 for cycle in known) else None
