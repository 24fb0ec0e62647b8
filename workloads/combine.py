"""Several workloads in one: sum and product."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from workloads.model import Floats, Timeline, Workload, common_cycle, shortest


@dataclass(frozen=True)
class Combination(Workload):
    """Workloads joined second by second. The parts' random numbers are independent."""

    parts: tuple[Workload, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("it needs at least one part")

    @property
    def length_s(self) -> int | None:
        return shortest(self.parts)

    @property
    def cycle_s(self) -> int | None:
        return common_cycle(self.parts)

    @property
    def fits_run(self) -> bool:
        return any(part.fits_run for part in self.parts)

    @property
    def random(self) -> bool:
        return any(part.random for part in self.parts)

    def rates(self, timeline: Timeline) -> Floats:
        rates = self.parts[0].rates(timeline.part(0))
        for index, part in enumerate(self.parts[1:], start=1):
            rates = self.join(rates, part.rates(timeline.part(index)))
        return rates

    @abstractmethod
    def join(self, left: Floats, right: Floats) -> Floats: ...


@dataclass(frozen=True)
class Sum(Combination):
    """All parts at once: several sources of one job.

    >>> from workloads.shapes import Constant
    >>> Sum((Constant(peak=2), Constant(peak=3))).curve(2)
    array([5., 5.])
    """

    def join(self, left: Floats, right: Floats) -> Floats:
        return np.add(left, right)


@dataclass(frozen=True)
class Product(Combination):
    """One workload shaped by others, which are read as factors: {shape: square, peak: 1, low: 50%} halves at times."""

    def join(self, left: Floats, right: Floats) -> Floats:
        return np.multiply(left, right)
