"""One workload made into another: repeat, shift, stretch, scale to a peak, clip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.model import Floats, Timeline, Workload
from workloads.units import format_duration, format_quantity


@dataclass(frozen=True)
class Modified(Workload):
    """A workload that follows another one; it inherits what it does not change."""

    base: Workload

    @property
    def length_s(self) -> int | None:
        return self.base.length_s

    @property
    def cycle_s(self) -> int | None:
        return self.base.cycle_s

    @property
    def fits_run(self) -> bool:
        return self.base.fits_run

    @property
    def random(self) -> bool:
        return self.base.random


@dataclass(frozen=True)
class Repeat(Modified):
    """The first `every_s` seconds over and over, random parts included. Endless.

    >>> from workloads.shapes import Step
    >>> Repeat(Step(peak=10), every_s=2).curve(5)
    array([ 1., 10.,  1., 10.,  1.])
    """

    every_s: int

    def __post_init__(self) -> None:
        if self.base.length_s is not None and self.every_s > self.base.length_s:
            lasts, every = format_duration(self.base.length_s), format_duration(self.every_s)
            raise ValueError(f"it lasts {lasts}, so it cannot be repeated every {every}")

    @property
    def length_s(self) -> None:
        return None

    @property
    def cycle_s(self) -> int:
        return self.every_s

    @property
    def fits_run(self) -> bool:
        return False

    def rates(self, timeline: Timeline) -> Floats:
        return np.resize(self.base.rates(timeline.lasting(self.every_s)), timeline.duration_s)


@dataclass(frozen=True)
class Shift(Modified):
    """Moved later by `later_s` seconds, or earlier if negative; what leaves at one end comes back at the other.

    The ends are those of the span: a trace's length, a periodic workload's cycle; else the run.

    >>> from workloads.shapes import Step
    >>> Shift(Step(peak=10), later_s=1).curve(4)
    array([10.,  1.,  1., 10.])
    """

    later_s: int

    @property
    def fits_run(self) -> bool:
        return self.base.length_s is None and (self.base.cycle_s is None or self.base.fits_run)

    def rates(self, timeline: Timeline) -> Floats:
        wanted, length, cycle = timeline.duration_s, self.base.length_s, self.base.cycle_s
        if length is None and cycle is not None:
            skipped = -self.later_s % cycle
            return self.base.rates(timeline.lasting(wanted + skipped))[skipped:]
        whole = self.base.rates(timeline if length is None else timeline.lasting(length))
        return np.roll(whole, self.later_s)[:wanted].copy()


@dataclass(frozen=True)
class Stretch(Modified):
    """Slower or faster, so that the span (a trace's length, a cycle) takes `to_s` seconds.

    Each new second is the mean of the time it covers, so the mean rate stays the same; peaks that are compressed
    become flatter. A workload without a span of its own is laid out over `to_s` and ends there.

    >>> from workloads.shapes import Ramp
    >>> Stretch(Repeat(Ramp(peak=10), every_s=2), to_s=4).curve(6)
    array([ 1.,  1., 10., 10.,  1.,  1.])
    """

    to_s: int

    @property
    def length_s(self) -> int | None:
        return None if self._endless else self.to_s

    @property
    def cycle_s(self) -> int | None:
        return self.to_s if self._endless and self.base.cycle_s != 1 else self.base.cycle_s

    @property
    def fits_run(self) -> bool:
        return self._endless and self.base.fits_run

    @property
    def _endless(self) -> bool:
        return self.base.length_s is None and self.base.cycle_s is not None

    def rates(self, timeline: Timeline) -> Floats:
        wanted, span = timeline.duration_s, self.base.span_s or self.to_s
        # Whole-number arithmetic: a float would ask for a second too many now and then.
        needed = -(-wanted * span // self.to_s) if self._endless else span
        return _means(self.base.rates(timeline.lasting(needed)), span / self.to_s, wanted)


def _means(rates: Floats, seconds: float, count: int) -> Floats:
    """Means over `count` successive stretches of so many `seconds`, via the running total."""
    if seconds == 1:
        return rates[:count].copy()
    total = np.concatenate(([0.0], np.cumsum(rates)))
    edges = np.arange(count + 1) * seconds
    means = np.diff(np.interp(edges, np.arange(len(total)), total)) / seconds
    return np.asarray(np.maximum(means, 0.0))  # the running total is exact only to its last digit


@dataclass(frozen=True)
class ToPeak(Modified):
    """Scaled so that the highest rate of the run is `peak`. A run without any load stays without."""

    peak: float

    @property
    def cycle_s(self) -> None:
        return None

    @property
    def fits_run(self) -> bool:
        return True

    def rates(self, timeline: Timeline) -> Floats:
        rates = self.base.rates(timeline)
        highest = rates.max()
        # Divided first: the highest rate becomes exactly 1, and then exactly the peak.
        return rates / highest * self.peak if highest > 0 else rates


@dataclass(frozen=True)
class Clip(Modified):
    """Never below `low` nor above `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"the lower bound {format_quantity(self.low)} is above {format_quantity(self.high)}")

    def rates(self, timeline: Timeline) -> Floats:
        return np.clip(self.base.rates(timeline), self.low, self.high)
