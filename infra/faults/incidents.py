"""The incidents of one run: when faults come, and whom they hit."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from infra.faults.reading import Fault

_ROUNDING: Final = 1e-9
"""An interval fits as often as it does in decimals: 3.3 s hold 1.1 s three times, though not in binary fractions."""
_DIGITS: Final = 6
"""Regular moments are multiples of a microsecond, for the same reason."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that goes wrong at one moment of one run."""

    time_s: float
    kind: str
    until_s: float
    """When it is over; its own time if it does not last."""
    workers: int = 0
    """How many are hit; for a lost node, how many nodes; 0 if it hits none in particular."""
    worker: int | str = "random"
    amount: float = 1.0
    """What the kind says: a speed, a delay in seconds, a share; 1 for kinds that are all or nothing."""
    seed: int = 0
    """For what chance decides about this incident, whoever else draws numbers."""

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def victims(self, loads: Sequence[float]) -> list[int]:
        """Who is hit, given how busy each worker is. An index beyond the last worker means the last.

        >>> Incident(60, "crash", 60, workers=2, worker="hottest").victims([0.2, 0.9, 0.4])
        [1, 2]
        """
        there = len(loads)
        if self.worker == "hottest":
            busiest = sorted(
                range(there), key=lambda index: -loads[index] if loads[index] == loads[index] else math.inf
            )
            return sorted(busiest[: self.workers])
        if self.worker == "random":
            return sorted(int(index) for index in self.rng().permutation(there)[: self.workers])
        return [min(int(self.worker), there - 1)] if there else []


def schedule(faults: Iterable[Fault], duration_s: float, seed: int) -> tuple[Incident, ...]:
    """The incidents of one run in the order of time; those of the same moment in the order of the list.

    Each fault draws from a stream of its own, found by the seed and what the fault says: neither another fault in the
    list nor a longer run moves its times.

    >>> [incident.time_s for incident in schedule([Fault("crash", every_s=3600.0)], 4 * 3600, seed=1)]
    [3600.0, 7200.0, 10800.0]
    """
    incidents: list[Incident] = []
    same: Counter[Fault] = Counter()
    for fault in faults:
        when, whom = _streams(fault, same[fault], seed)
        same[fault] += 1
        times = [time_s for time_s in _times(fault, duration_s, when) if time_s < duration_s]
        seeds = whom.integers(2**63, size=len(times))
        incidents += (
            Incident(
                time_s,
                fault.kind,
                until_s=min(time_s + fault.lasts_s, duration_s),
                workers=fault.workers,
                worker=fault.worker,
                amount=fault.amount,
                seed=int(own),
            )
            for time_s, own in zip(times, seeds, strict=True)
        )
    return tuple(sorted(incidents, key=lambda incident: incident.time_s))


def _streams(fault: Fault, occurrence: int, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    said = hashlib.sha256(json.dumps(asdict(fault), sort_keys=True).encode()).digest()
    when, whom = np.random.SeedSequence([seed, int.from_bytes(said), occurrence]).spawn(2)
    return np.random.default_rng(when), np.random.default_rng(whom)


def _times(fault: Fault, duration_s: float, rng: np.random.Generator) -> list[float]:
    last_s = duration_s if fault.until_s is None else min(fault.until_s, duration_s)
    if fault.every_s is not None:
        count = int(last_s / fault.every_s + _ROUNDING)
        return [round(step * fault.every_s, _DIGITS) for step in range(1, count + 1)]
    times = list(fault.at_s)
    if fault.rate is not None:
        while (next_s := (times[-1] if times else 0.0) + rng.exponential(1.0 / fault.rate)) <= last_s:
            times.append(next_s)
    return times
