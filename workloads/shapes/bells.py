"""Courses of a day that are no simple wave: humps of their own place, height and steepness, laid over each other."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.shapes.base import STRICT, Shape


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Bells(Shape):
    """A sum of bell curves over the run, scaled to its peak."""

    bells: ClassVar[tuple[tuple[float, float, float, float], ...]]
    """(centre, height, width before it, width behind it): shares of the run, heights relative to each other."""

    @property
    def fits_run(self) -> bool:
        return True

    def rates(self, timeline: Timeline) -> Floats:
        run = timeline.seconds / timeline.duration_s
        height = np.zeros_like(run)
        for centre, top, before, behind in self.bells:
            height += top * np.exp(-0.5 * ((run - centre) / np.where(run < centre, before, behind)) ** 2)
        return np.asarray(self.peak * height / height.max())


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Advertising(Bells, name="advertising"):
    """Clicks on advertisements: a day from almost nothing over two humps to one sharp peak, and slowly back.

    Laid out like the workload of Pfister et al. (Daedalus, ICPE 2024, section 4.2, from the Avazu click-through data):
    a mean of 38 % of the peak, which comes after 55 % of the run and lasts for minutes.

    >>> day = Advertising(peak=1000).curve(21_600)
    >>> round(day.mean()), round(day.argmax() / 216)
    (382, 55)
    """

    bells = (
        (0.083, 0.245, 0.023, 0.024),
        (0.211, 0.190, 0.043, 0.039),
        (0.365, 0.318, 0.051, 0.026),
        (0.457, 0.472, 0.138, 0.264),
        (0.548, 0.560, 0.024, 0.046),
        (0.689, 0.235, 0.033, 0.057),
        (0.880, 0.086, 0.098, 0.018),
    )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RushHours(Bells, name="rush-hours"):
    """Vehicles on the road: two large spikes that come and go fast, little between and next to nothing around them.

    Laid out like the workload of Pfister et al. (Daedalus, ICPE 2024, section 4.2, from the TAPASCologne scenario): a
    mean of 30 % of the peak; the second spike is the higher and longer one.

    >>> day = RushHours(peak=1000).curve(21_600)
    >>> round(day.mean()), round(day.argmax() / 216)
    (310, 79)
    """

    bells = (
        (0.321, 0.646, 0.037, 0.032),
        (0.441, 0.065, 0.202, 0.008),
        (0.544, 0.222, 0.087, 0.041),
        (0.756, 0.672, 0.077, 0.085),
        (0.845, 0.342, 0.106, 0.021),
    )
