"""Load averages: the one thing on a host that remembers. They are worked out when asked for, however late."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Final

import numpy as np

from autoscalers.model import Floats
from infra.simulated.host.machine import HostInputs, running_threads
from jobs.model import Constant

AVERAGES: Final = ("load_1m", "load_5m", "load_15m")


class Load:
    """The seconds of one observation, and the way back to those before.

    Nothing is computed until an average is asked for. Then all observations since the last time it was are folded
    into the averages that this one starts with, and let go.
    """

    __slots__ = ("_constants", "_inputs", "_previous", "_start")

    def __init__(self, inputs: HostInputs, constants: Mapping[str, Constant], previous: Load | None = None) -> None:
        self._inputs = inputs
        self._constants = constants
        self._previous = previous
        self._start: dict[str, float] | None = None

    def average(self, name: str) -> Floats:
        """[t] the exponentially damped number of running threads that Linux calls load."""
        keep = self._keep(name)
        running = self._running([self._inputs])
        damped = accumulate(
            running.tolist(),
            lambda average, now: keep * average + (1.0 - keep) * now,
            initial=self.start()[name],
        )
        return np.fromiter(damped, np.float64, running.size + 1)[1:]

    def start(self) -> Mapping[str, float]:
        """The averages just before the first second. A run begins as if its first second had always been."""
        if self._start is None:
            past: list[HostInputs] = []
            before = self._previous
            known: Mapping[str, float] | None = None
            while before is not None and known is None:
                past.append(before._inputs)
                known, before = before._start, before._previous
            history = self._running(past[::-1])
            if known is None:
                first = [*self._running([*past[::-1], self._inputs])[:1]]
                if not first:
                    return dict.fromkeys(AVERAGES, 0.0)  # nothing was observed yet: nothing to remember
                known = dict.fromkeys(AVERAGES, float(first[0]))
            self._start = {name: self._folded(name, known[name], history) for name in AVERAGES}
            self._previous = None
        return self._start

    def _running(self, observations: list[HostInputs]) -> Floats:
        nothing = np.empty(0)
        cpu = np.concatenate([nothing, *(inputs.cpu for inputs in observations)])
        workers = np.concatenate([nothing, *(inputs.workers for inputs in observations)])
        return running_threads(cpu, workers, self._constants)

    def _folded(self, name: str, average: float, history: Floats) -> float:
        keep = self._keep(name)
        weights = (1.0 - keep) * keep ** np.arange(history.size - 1, -1, -1.0)
        return float(keep**history.size * average + weights @ history)

    def _keep(self, name: str) -> float:
        """The weight of what was, a second later."""
        return float(np.exp(-1.0 / self._constants[f"{name}_s"].value))
