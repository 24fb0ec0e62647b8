"""How many events/s so many workers can take, read from spells of overload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from autoscalers.model import Floats
from experiments.validation.calibration.estimate import Estimate, constant
from experiments.validation.clusters import CLUSTERS
from experiments.validation.measured import LATE_S, Measured

#: After an action readings are left to settle, and a spell must last.
SETTLES_S, LASTS_S = 180, 240
#: With more workers than this, the counts of twres include some that the job did not use: 25 took no more than 12,
#: while a static fleet of 24 took twice as much.
MOST_WORKERS = 14
#: Of spells with as many workers the faster ones count: the others were held back by attempts to save their state.
QUICK = 0.75
_SYSTEMS = frozenset({"baseline", "twres"})


def spells(run: Measured) -> Iterator[tuple[int, Floats]]:
    """(workers, throughput) of each spell in which the job was late from begin to end."""
    times = [0, *(action.time_s for action in run.actions), run.seconds]
    workers = [run.first_workers, *(action.workers for action in run.actions)]
    for (begin, end), count in zip(pairwise(times), workers, strict=True):
        late = run.latency_s[begin + SETTLES_S : end] > LATE_S
        length = int(late.size if late.all() else late.argmin())
        if length >= LASTS_S:
            yield count, run.throughput[begin + SETTLES_S : begin + SETTLES_S + length]


def power_law(runs: Iterable[Measured]) -> tuple[float, float, int]:
    """Factor and exponent of capacity over workers, and how many spells they are from."""
    taken: dict[int, list[float]] = {}
    for run in runs:
        for count, throughput in spells(run):
            if count <= MOST_WORKERS:
                taken.setdefault(count, []).append(float(np.nanmedian(throughput)))
    workers = np.log(list(taken))
    capacity = np.log([np.quantile(rates, QUICK) for rates in taken.values()])
    trust = np.sqrt([len(rates) for rates in taken.values()])
    exponent, factor = np.polyfit(workers, capacity, 1, w=trust)
    return float(np.exp(factor)), float(exponent), sum(len(rates) for rates in taken.values())


def capacity(runs: Iterable[Measured]) -> list[Estimate]:
    overloaded = [run for run in runs if run.source == "Phoebe" and run.system in _SYSTEMS]
    if not overloaded:
        return []
    factor, exponent, n = power_law(overloaded)
    profile = CLUSTERS["phoebe"].profile
    how = f"overloaded spells of up to {MOST_WORKERS} workers"
    return [
        constant("cluster phoebe", "worker_capacity", factor, profile, n, f"{how}: factor of the power law"),
        constant("cluster phoebe", "scaling_exponent", exponent, profile, n, f"{how}: its exponent"),
    ]
