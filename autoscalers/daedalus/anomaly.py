"""Analyse: whether the job has recovered from its last change, by statistical anomaly detection.

The difference between workload and throughput is normal as long as it lies within one standard deviation of its mean,
both kept online while the job is well. After a change it is first far above (nothing comes out), then far below (the
job catches up), and the job has recovered when it is normal again. As a third of all normal seconds lie beyond one
standard deviation, a few seconds have to be within on average: their distances, not their differences, which cancel
where the one turns into the other. And because workers that boot leave a job as it is, the time counts from when
nothing comes out or these seconds are far beyond (section 3.4: "from when processing stops").

Reference
---------
Pfister et al. (Daedalus, ICPE 2024), section 3.5; the few seconds, and what is far, are our own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, sqrt

import numpy as np

from autoscalers.daedalus.welford import Moments
from autoscalers.model import Floats


@dataclass(frozen=True, slots=True)
class Recovery:
    """One change that is over."""

    seconds: float
    """From when processing was disturbed until it was normal again; workers that boot before that disturb nothing."""
    downtime_s: float
    """Seconds of these in which nothing came out."""


@dataclass(slots=True)
class RecoveryWatch:
    """Follows workload - throughput, second by second.

    >>> watch = RecoveryWatch()
    >>> calm = np.tile([1.0, -1.0], 30)
    >>> watch.observe(100.0 + calm, np.full(60, 100.0))
    >>> watch.begin()
    >>> throughput = np.concatenate([np.zeros(10), np.full(20, 150.0), np.full(30, 100.0)])
    >>> watch.observe(100.0 + calm, throughput)
    Recovery(seconds=30.0, downtime_s=10.0)
    """

    threshold: float = 1.0
    """Standard deviations that are still normal."""
    calm_s: int = 5
    """Seconds that have to be normal on average."""
    far: float = 3.0
    """Thresholds beyond which a few seconds cannot be chance."""
    patience_s: int = 120
    """After so many seconds without a sign the change has left the job as it was."""
    normal: Moments = field(default_factory=Moments)
    _watching: bool = False
    _elapsed: int = 0
    _down: int = 0
    _felt_s: int | None = None
    """After so many seconds the change was felt."""
    _recent: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """A change starts now; one that is still being watched is given up."""
        self._watching, self._felt_s = True, None
        self._elapsed = self._down = 0
        self._recent = []

    def observe(self, workload: Floats, throughput: Floats) -> Recovery | None:
        """More seconds; a throughput of NaN is none. Returns the recovery if it ended in them."""
        difference = workload - np.where(np.isfinite(throughput), throughput, 0.0)
        if not self._watching:
            self.normal.update(difference)
            return None
        for second, value in enumerate(difference):
            if self._step(float(value), down=not throughput[second] > 0.0):
                self._watching = False
                self.normal.update(difference[second + 1 :])
                seconds = 0 if self._felt_s is None else max(0, self._elapsed - self.calm_s - self._felt_s)
                return Recovery(float(seconds), float(self._down))
        return None

    def _step(self, difference: float, *, down: bool) -> bool:
        self._elapsed += 1
        self._down += down
        self._recent = [*self._recent, self._deviations(difference)][-self.calm_s :]
        if down and self._felt_s is None:
            self._felt_s = self._elapsed - 1
        if len(self._recent) < self.calm_s:
            return False
        deviations = sum(self._recent) / self.calm_s
        if self._felt_s is not None:
            return deviations <= self.threshold and not down
        if deviations > self.far * self.threshold:
            self._felt_s = self._elapsed - self.calm_s
        return self._felt_s is None and self._elapsed >= self.patience_s

    def _deviations(self, difference: float) -> float:
        """How many standard deviations a difference is from normal."""
        variance = self.normal.variance
        distance = abs(difference - self.normal.mean)
        return distance / sqrt(variance) if variance > 0.0 else inf if distance > 0.0 else 0.0
