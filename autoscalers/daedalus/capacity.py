"""Analyse: the events/s that each scale-out can take.

For each worker a line of throughput over CPU is kept online. A worker's capacity is what its line says at the CPU that
it would reach if the fleet were at its limit: the hottest worker at 100 %, the others in proportion to it, because
keys that go elsewhere never reach them. The sum over the workers is the capacity of the fleet as it is. For other
scale-outs it is what was last estimated when they ran, and else the mean capacity of a worker times their number.

Reference
---------
Pfister et al. (Daedalus, ICPE 2024), section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from autoscalers.daedalus.welford import Regressions
from autoscalers.model import Floats

#: Below this spread of the CPU a line through its noise would mean nothing; throughput / CPU serves until then.
LEAST_SPREAD = 0.01


@dataclass(slots=True)
class CapacityModel:
    """What is known about capacity.

    >>> model = CapacityModel()
    >>> cpu = np.linspace(0.2, 0.6, 60)[:, None] * [1.0, 0.5]
    >>> model.observe(cpu, 1000 * cpu, new_fleet=True)
    >>> [round(capacity, 6) for capacity in (model.current, model.at(2), model.at(4))]
    [1500.0, 1500.0, 3000.0]
    """

    full_cpu: float = 1.0
    """The CPU at which a worker is at its limit."""
    current: float = float("nan")
    """Estimate for the fleet as it is; NaN while there is none."""
    _workers: int = 0
    _lines: Regressions = field(default_factory=lambda: Regressions(0))
    _seen: dict[int, float] = field(default_factory=dict)
    """The last estimate at each scale-out that ran."""

    def observe(self, cpu: Floats, throughput: Floats, *, new_fleet: bool) -> None:
        """More samples, [t, i]; a new fleet is learned from the beginning."""
        if new_fleet:
            self._workers = cpu.shape[1]
            self._lines = Regressions(self._workers)
        if cpu.size == 0:
            return
        self._lines.update(cpu, throughput)
        used = self._lines.count > 0
        if not used.any():
            return
        now = _column_means(cpu)
        hottest = float(np.nanmax(now, initial=0.0))
        if hottest <= 0.0:
            return
        capacity = self._of_workers(np.where(np.isfinite(now), now, 0.0) / hottest * self.full_cpu)
        if used.all() and np.isfinite(capacity).all() and capacity.sum() > 0.0:
            self.current = float(capacity.sum())
            self._seen[self._workers] = self.current
        elif self._workers in self._seen:
            self.current = self._seen[self._workers]

    def at(self, workers: int) -> float:
        """The estimate for a scale-out; NaN while nothing is known."""
        if workers in self._seen:
            return self._seen[workers]
        if not self._seen:
            return float("nan")
        base = self._workers if self._workers in self._seen else next(reversed(self._seen))
        return self._seen[base] / base * workers

    def _of_workers(self, cpu: Floats) -> Floats:
        """What each worker could do at the given CPU."""
        lines = self._lines
        by_line = lines.predict(cpu)
        ratio = np.divide(lines.mean_y, lines.mean_x, out=np.full(lines.columns, np.nan), where=lines.mean_x > 0)
        is_line = (lines.spread >= LEAST_SPREAD) & (lines.slope > 0) & (by_line > 0)
        return np.asarray(np.where(is_line, by_line, ratio * cpu), dtype=np.float64)


def _column_means(values: Floats) -> Floats:
    known = np.isfinite(values)
    count = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    means: Floats = np.divide(sums, count, out=np.full(values.shape[1], np.nan), where=count > 0)
    return means
