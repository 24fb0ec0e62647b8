"""What was asked of the fleet, and when it reaches the plant: at once, later, or never."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infra.simulated.trouble import Tell, Trouble


class Requests:
    """Scaling requests on their way; the last one that arrives counts."""

    def __init__(self, trouble: Trouble, start: int, seed: int) -> None:
        self.wanted = self.accepted = start
        """What has arrived, and what was last taken for granted by whoever asked."""
        self._trouble = trouble
        self._chance = np.random.default_rng([seed, _STREAM])
        self._under_way: list[tuple[float, int]] = []
        self._changes: list[tuple[float, int]] = [(0.0, start)]

    def make(self, now: float, workers: int, tell: Tell) -> None:
        """Ask for workers; trouble may lose the request or hold it up."""
        lost, late_s = self._trouble.together("request-lost"), self._trouble.together("request-late")
        if lost > 0 and self._chance.random() < lost:
            self.accepted = self.wanted
            tell(now, "request_lost", f"{workers} workers")
            return
        self.accepted = workers
        self._under_way.append((now + late_s, workers))
        self.act(now)

    def next_s(self) -> float:
        """When the next request arrives."""
        return min((time_s for time_s, _ in self._under_way), default=math.inf)

    def act(self, now: float) -> None:
        """Take in what has arrived."""
        if not self._under_way:
            return
        arrived = [request for request in self._under_way if request[0] <= now]
        self._under_way = [request for request in self._under_way if request[0] > now]
        for _, workers in sorted(arrived, key=lambda request: request[0]):
            if workers != self.wanted:
                self.wanted = workers
                self._changes.append((now, workers))

    def history(self, time_s: Any) -> Any:
        """What was wanted at each second, given in order; what came before is forgotten."""
        changes = np.array(self._changes)
        wanted = changes[np.searchsorted(changes[:, 0], time_s, side="right") - 1, 1].astype(np.int32)
        self._changes = [self._changes[-1]]
        return wanted


#: Tells this stream of random numbers from those of the plant and its faults.
_STREAM = 0x7265_7175
