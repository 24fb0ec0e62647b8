"""Monitor: each worker's CPU and throughput, averaged over a minute, of the fleet as it is now.

CPU is averaged to reduce noise (section 3.6). Throughput is averaged over the same seconds, as Flink's own rates are:
whatever is linear in the one then stays linear in the other, also while the load moves.

What was measured before the last change of the fleet says nothing about the workers there are now, whose keys are
others; averages begin anew with each fleet.

Reference
---------
Pfister et al. (Daedalus, ICPE 2024), section 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from autoscalers.model import Flags, Floats, OperatorView


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds in which the whole fleet served: [t, i] each."""

    cpu: Floats
    throughput: Floats
    new_fleet: bool
    """Whether these are the first of this fleet."""


@dataclass(slots=True)
class Monitor:
    """Turns views of one operator into averaged samples."""

    average_s: int
    _fleet: tuple[float, ...] = ()
    _cpu: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """The last samples of this fleet, as far as the next averages need them."""
    _throughput: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def samples(self, view: OperatorView, rescaled_s: float) -> Samples:
        """What the view adds; `rescaled_s` tells one fleet from the next of the same size."""
        cpu, throughput = np.asarray(view.cpu), np.asarray(view.throughput)
        first = _since_all_serve(cpu, throughput, view.ready)
        fleet = (float(cpu.shape[1]), rescaled_s, *view.started_s.tolist())
        new_fleet = fleet != self._fleet or first > 0
        if new_fleet:
            self._fleet = fleet
            self._cpu = self._throughput = np.empty((0, cpu.shape[1]))
        kept = self._cpu.shape[0]
        self._cpu = np.concatenate([self._cpu, cpu[first:]])
        self._throughput = np.concatenate([self._throughput, throughput[first:]])
        found = Samples(
            moving_average(self._cpu, self.average_s)[kept:],
            moving_average(self._throughput, self.average_s)[kept:],
            new_fleet,
        )
        tail = max(0, self.average_s - 1)
        self._cpu = self._cpu[self._cpu.shape[0] - min(tail, self._cpu.shape[0]) :]
        self._throughput = self._throughput[self._throughput.shape[0] - min(tail, self._throughput.shape[0]) :]
        return found


def _since_all_serve(cpu: Floats, throughput: Floats, ready: Flags) -> int:
    """The first row after the last in which a worker that is ready now was not yet measured."""
    measured = np.isfinite(cpu[:, ready]) & np.isfinite(throughput[:, ready])
    missing = np.flatnonzero(~measured.all(axis=1))
    return int(missing[-1]) + 1 if missing.size else 0


def moving_average(values: Floats, window: int) -> Floats:
    """The mean of each row and those up to `window` - 1 before it, as many as there are.

    >>> moving_average(np.array([[2.0], [4.0], [6.0]]), 2).ravel().tolist()
    [2.0, 3.0, 5.0]
    """
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    ends = np.arange(1, values.shape[0] + 1)
    starts = np.maximum(ends - max(1, window), 0)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts)[:, None])
