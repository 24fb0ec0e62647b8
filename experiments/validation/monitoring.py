"""The measured runs' monitoring, applied to the simulated truth before the two are compared.

Rates and lags came from Kafka's consumer, which keeps two samples of half a minute: for half a minute after a restart
its rate reads too low, then too high for another, and its lag is the highest of the last minute. In the Phoebe runs
every worker was read once a minute, at a moment of its own, and its reading stood until the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Flags, Floats

#: Kafka's consumer: metrics.sample.window.ms; it keeps two (metrics.num.samples).
SAMPLE_S = 30


def windows(seconds: int, restarts: tuple[int, ...]) -> tuple[NDArray[np.int64], Floats]:
    """For each second the first one that Kafka's samples reach back to, and the time it divides by.

    The consumer lives from restart to restart; before the first one it has been alive for long.

    >>> first, elapsed = windows(100, restarts=(20,))
    >>> [(int(first[t]), float(elapsed[t])) for t in (29, 48, 49, 79)]
    [(20, 40.0), (20, 59.0), (20, 30.0), (50, 30.0)]
    """
    now = np.arange(seconds)
    born = np.zeros(seconds, dtype=np.int64)
    for restart in restarts:
        born[restart:] = restart
    alive = now + 1 - born
    whole = alive // SAMPLE_S
    first = born + SAMPLE_S * np.maximum(whole - 1, 0)
    elapsed = (now + 1 - first + np.where(whole == 0, SAMPLE_S, 0)).astype(np.float64)
    never_restarted = born == 0
    if 0 not in restarts:
        elapsed[never_restarted] = (now + 1 - first)[never_restarted]
    return first, elapsed


def consumed_rate(consumed: Floats, restarts: tuple[int, ...]) -> Floats:
    """Kafka's records-consumed-rate of a reader that took so many events in each second."""
    first, elapsed = windows(consumed.size, restarts)
    total = np.concatenate([[0.0], np.cumsum(consumed)])
    return np.asarray((total[1:] - total[first]) / elapsed, dtype=np.float64)


def highest(lag: Floats, restarts: tuple[int, ...]) -> Floats:
    """Kafka's records-lag-max: the highest of the samples that are kept."""
    first, _ = windows(lag.size, restarts)
    now = np.arange(lag.size)
    found = lag.copy()
    for back in range(1, 2 * SAMPLE_S):
        there = now - back >= first
        found[there] = np.fmax(found[there], lag[now[there] - back])
    return found


def frozen(values: Floats, stalled: Flags) -> Floats:
    """What a gauge shows of a job that hangs: its last value.

    >>> frozen(np.array([5.0, np.nan, np.nan, 7.0]), np.array([False, True, False, False]))
    array([ 5.,  5., nan,  7.])
    """
    sources = np.where(stalled, 0, np.arange(values.size))
    held: Floats = values[np.maximum.accumulate(sources)]
    return np.where(stalled, held, values)


def scraped(total: Floats, workers: NDArray[np.int64], period_s: int, seed: int, *, add: bool) -> Floats:
    """Readings of each worker, a period apart and at moments of its own; their sum (`add`), or their mean.

    `total` is the truth of all workers together if `add`, of each of them otherwise. A worker that went keeps its
    last reading until it would be read again.
    """
    seconds = np.arange(total.size)
    phases = np.random.default_rng(seed).integers(0, period_s, int(workers.max()))
    summed = np.zeros(total.size)
    count = np.zeros(total.size, dtype=np.int64)
    for worker, phase in enumerate(phases):
        read = phase + (seconds - phase) // period_s * period_s
        known = read >= 0
        there = known & (workers[read] > worker) & np.isfinite(total[read])
        reading = total[read[there]]
        summed[there] += reading / workers[read[there]] if add else reading
        count[there] += 1
    seen = count > 0
    found = np.full(total.size, np.nan)
    found[seen] = summed[seen] if add else summed[seen] / count[seen]
    return found
