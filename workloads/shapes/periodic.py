"""Shapes that come round again: sine, square, pyramid."""

from __future__ import annotations

import numpy as np
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.shapes.base import STRICT, KeyConflictError, Periodic
from workloads.units import Count, OptionalSeconds, Share


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Sine(Periodic, name="sine"):
    """A smooth wave between low and peak, twice a run; it starts half-way, rising.

    >>> Sine(peak=100, periods=1).curve(4).round()
    array([ 55., 100.,  55.,  10.])
    """

    def rates(self, timeline: Timeline) -> Floats:
        turns = timeline.seconds / self.period_in(timeline.duration_s)
        return self.between((1 + np.sin(2 * np.pi * turns)) / 2)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Square(Periodic, name="square"):
    """Low, then at once peak, and again, twice a run; `duty` is the share of time at the peak.

    The scenario "Square" of Borkowski et al., PVLDB 12(7), section 3.2, holds 1 and 65 images/s for 370 s each:
    `{shape: square, low: 1, peak: 65, period: 740s}`.
    """

    duty: Share = 0.5

    def rates(self, timeline: Timeline) -> Floats:
        period = self.period_in(timeline.duration_s)
        return self.between(timeline.seconds % period >= period * (1 - self.duty))


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Pyramid(Periodic, name="pyramid"):
    """Stairs of so many `steps` from low up to peak and down again, twice a run, or with each level held for `hold`.

    The scenario "Pyramid" of Borkowski et al., PVLDB 12(7), section 3.2, climbs from 0 to 60 images/s by 15 and
    holds each level for 130 s: `{shape: pyramid, low: 0, peak: 60, steps: 4, hold: 130s}`.
    """

    steps: Count = 4
    hold: OptionalSeconds = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hold is not None and (self.period or self.periods):
            raise KeyConflictError("hold", "give hold, period or periods, only one of them")

    @property
    def levels(self) -> int:
        """Levels in one round: the lowest and the highest once, all others twice."""
        return 2 * self.steps

    def period_in(self, duration_s: int) -> float:
        return super().period_in(duration_s) if self.hold is None else self.hold * self.levels

    @property
    def cycle_s(self) -> int | None:
        return super().cycle_s if self.hold is None else self.hold * self.levels

    def rates(self, timeline: Timeline) -> Floats:
        period = self.period_in(timeline.duration_s)
        level = np.floor(timeline.seconds % period * self.levels / period)
        return self.between(1 - np.abs(level - self.steps) / self.steps)
