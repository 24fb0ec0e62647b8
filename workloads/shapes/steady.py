"""Shapes that settle: constant, ramp, step."""

from __future__ import annotations

import numpy as np
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.portion import Moment, OptionalMoment, Span, percent
from workloads.shapes.base import STRICT, Banded, KeyConflictError, Shape
from workloads.units import Flag


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Constant(Shape, name="constant"):
    """The same rate all the time.

    >>> Constant(peak=5).curve(3)
    array([5., 5., 5.])
    """

    @property
    def cycle_s(self) -> int:
        return 1

    def rates(self, timeline: Timeline) -> Floats:
        return np.full(timeline.duration_s, self.peak)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Ramp(Banded, name="ramp"):
    """A straight line from low to peak, or down; whichever end it reaches early, it stays there.

    >>> Ramp(peak=50).curve(5)
    array([ 5.  , 16.25, 27.5 , 38.75, 50.  ])
    """

    over: Span = percent(100)
    down: Flag = False

    @property
    def fits_run(self) -> bool:
        return self.over.relative

    def rates(self, timeline: Timeline) -> Floats:
        # The line reaches its end in the last second of `over`, not in the one after it.
        steps = max(self.over.of(timeline.duration_s) - 1, 1)
        risen = np.minimum(timeline.seconds / steps, 1.0)
        return self.between(1 - risen if self.down else risen)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Step(Banded, name="step"):
    """Low, then peak from one second to the next; back to low where `until` is given.

    >>> Step(peak=10).curve(4)
    array([ 1.,  1., 10., 10.])
    """

    at: Moment = percent(50)
    until: OptionalMoment = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.until and self.until.relative == self.at.relative and self.until.value <= self.at.value:
            raise KeyConflictError("until", f"{self.until} is not after {self.at}, when the step begins")

    @property
    def fits_run(self) -> bool:
        return self.at.relative or (self.until is not None and self.until.relative)

    def rates(self, timeline: Timeline) -> Floats:
        start = self.at.of(timeline.duration_s)
        end = self.until.of(timeline.duration_s) if self.until else np.inf
        return self.between((start <= timeline.seconds) & (timeline.seconds < end))
