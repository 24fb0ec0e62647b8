"""The arrays that the kernel works on, growing with the fleet and the time."""

from __future__ import annotations

import numpy as np

from autoscalers.model import Floats
from infra.simulated import gauges, layout

#: Steps that the first record has room for.
_ROWS = 32_768


class Buffers:
    """Records of steps and instances, and what the monitoring remembers of each worker."""

    def __init__(
        self, *, steps: int, workers: int, lanes: int, spell: int, period_s: float, moments: np.random.Generator
    ) -> None:
        self.filled = 0
        self.rows: Floats = np.empty((min(steps, _ROWS), layout.ROW_COLUMNS))
        self.instances: Floats = np.empty((self.rows.shape[0], workers, gauges.INSTANCE_PLANES))
        self.workers = np.zeros(workers, dtype=layout.WORKER)
        self.held: Floats = np.full((workers + 1, gauges.INSTANCE_PLANES + 1), np.nan)
        # without an average there is nothing to remember, and one column would cost as much as all
        self.window: Floats = np.zeros((spell + 1, workers + 1, gauges.AVERAGED) if spell > 1 else (1, 1, 1))
        self.scratch: Floats = np.empty((4, max(workers, lanes)))
        self._period_s = period_s
        self._moments = moments
        self.held[:, -1] = self._scrape_moments(workers + 1)

    @property
    def width(self) -> int:
        return self.workers.size

    def reserve(self, steps: int) -> None:
        """Make room for more steps."""
        if self.filled + steps <= self.rows.shape[0]:
            return
        rows = max(self.filled + steps, 2 * self.rows.shape[0])
        self.rows = _grown(self.rows, 0, rows, self.filled)
        self.instances = _grown(self.instances, 0, rows, self.filled)

    def forget(self, keep: int) -> None:
        """Drop all recorded steps but the last `keep`."""
        first = self.filled - keep
        self.rows[:keep] = self.rows[first : self.filled].copy()
        self.instances[:keep] = self.instances[first : self.filled].copy()
        self.filled = keep

    def widen(self, workers: int) -> None:
        """Make room for more workers; the job's own row stays the last."""
        if workers <= self.width:
            return
        before, width = self.width, max(workers, 2 * self.width)
        self.instances = _grown(self.instances, 1, width, before)
        fleet = np.zeros(width, dtype=layout.WORKER)
        fleet[:before] = self.workers
        self.workers = fleet
        held = np.full((width + 1, self.held.shape[1]), np.nan)
        held[:before], held[-1] = self.held[:-1], self.held[-1]
        held[before:-1, -1] = self._scrape_moments(width - before)
        self.held = held
        if self.window.size > 1:
            window = np.zeros((self.window.shape[0], width + 1, gauges.AVERAGED))
            window[:, :before], window[:, -1] = self.window[:, :-1], self.window[:, -1]
            self.window = window
        self.scratch = np.empty((4, max(width, self.scratch.shape[1])))

    def clear(self, first: int, end: int) -> None:
        """Forget what the monitoring remembers of workers that come anew."""
        self.held[first:end, :-1] = np.nan
        if self.window.size > 1:
            self.window[:, first:end] = 0.0

    def _scrape_moments(self, count: int) -> Floats:
        return self._moments.uniform(0.0, self._period_s, count) if self._period_s > 1.0 else np.zeros(count)


def _grown(array: Floats, axis: int, size: int, used: int) -> Floats:
    shape = list(array.shape)
    shape[axis] = size
    grown = np.full(shape, np.nan)
    kept = (slice(None),) * axis + (slice(0, used),)
    grown[kept] = array[kept]
    return grown
