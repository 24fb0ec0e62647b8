"""Host metrics for whoever asks, at next to no cost for those who do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from autoscalers.model import Floats
from infra.simulated.host.machine import HostInputs
from infra.simulated.host.metrics import METRICS, Host, HostMetrics

#: Seconds that are kept before they are worked in: load averages need all that came before, nobody needs it at once.
_KEEP_S = 3600


class HostLog:
    """Takes the plant's true seconds down, and works them in only when somebody asks or there are many."""

    def __init__(self, seed: int, read: Callable[[Floats], HostInputs]) -> None:
        self._host = Host(seed=seed)
        self._read = read
        self._blocks: list[Floats] = []
        self._glimpses: list[Glimpse] = []
        self._first = self._kept = 0

    def note(self, truth: Floats) -> Mapping[str, Floats]:
        """The next seconds, a row each; they must not change afterwards."""
        glimpse = Glimpse(self, self._kept, truth.shape[0])
        self._blocks.append(truth)
        self._glimpses.append(glimpse)
        self._kept += truth.shape[0]
        if self._kept >= _KEEP_S:
            self.work_in()
        return glimpse

    def work_in(self) -> None:
        """Derive the metrics of all that was taken down."""
        metrics = self._host.look(self._first, self._read(np.concatenate(self._blocks)))
        for glimpse in self._glimpses:
            glimpse.metrics = metrics
        self._first += self._kept
        self._kept = 0
        self._blocks, self._glimpses = [], []


class Glimpse(Mapping[str, "Floats"]):
    """The metrics of some seconds, [t] each; nothing is worked out before it is asked for."""

    __slots__ = ("_count", "_first", "_log", "metrics")

    def __init__(self, log: HostLog, first: int, count: int) -> None:
        self._log, self._first, self._count = log, first, count
        self.metrics: HostMetrics | None = None

    def __getitem__(self, name: str) -> Floats:
        if self.metrics is None:
            self._log.work_in()
        assert self.metrics is not None
        return self.metrics[name][self._first : self._first + self._count]

    def __iter__(self) -> Iterator[str]:
        return iter(METRICS)

    def __len__(self) -> int:
        return len(METRICS)
