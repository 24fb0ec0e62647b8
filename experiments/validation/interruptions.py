"""Outages, latency peaks and recoveries in a series: one estimator for measured and simulated seconds alike.

An outage is a spell of seconds without output. Recovery counts from its start until latency is usual again. Where
a monitoring is too slow to show outages, recovery counts from the action that caused it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscalers.model import Flags, Floats
from experiments.validation.measured import Action

#: Spells without output that are this close belong together: a job that restarts may try twice.
MERGED_S = 15
#: Latency is usual below this multiple of the run's usual one, or this much over it, whichever is more.
USUAL_FACTOR, USUAL_MARGIN_S = 1.25, 0.25
#: It has to stay there for so long.
STAYS_S = 10
#: A run whose usual latency is longer never came to rest; what followed an action in it tells nothing.
AT_REST_S = 5.0
#: What came before an interruption is judged on so many seconds.
BEFORE_S = 10
#: An outage belongs to the last action that is not longer ago than this; a failure is noticed only after a while.
ATTRIBUTED_S = 90
#: Latency that peaks does it within this time.
PEAK_S = 300


@dataclass(frozen=True, slots=True)
class Interruption:
    """What an action did to the job; NaN for what cannot be told."""

    begin_s: int
    cause: str
    outage_s: float
    peak_s: float
    """Latency at its highest, over the usual one."""
    recovery_s: float
    """NaN where something else came first."""
    normal_before: bool


def usual_latency(latency_s: Floats) -> float:
    """The run's median; of a run that was late most of the time, its tenth percentile.

    >>> usual_latency(np.array([1.0, 1.1, 1.2, 30.0])), usual_latency(np.array([1.0, 90.0, 95.0]))
    (1.15, 18.8)
    """
    known = latency_s[np.isfinite(latency_s) & (latency_s > 0.0)]
    if not known.size:
        return float("nan")
    median, low = float(np.median(known)), float(np.quantile(known, 0.1))
    return median if median <= 2.0 * low else low


def usual_limit(latency_s: Floats) -> float:
    """Latency up to here counts as usual."""
    usual = usual_latency(latency_s)
    return max(USUAL_FACTOR * usual, usual + USUAL_MARGIN_S)


def silent(throughput: Floats, latency_s: Floats) -> Flags:
    """Seconds in which nothing came out: no reading, or a reading of nothing."""
    return np.asarray(~(throughput > 0.0) | ~(latency_s > 0.0), dtype=np.bool_)


def spells(flags: Flags, merged_s: int = MERGED_S) -> list[tuple[int, int]]:
    """(begin, end) of the spells in which a flag is up, close ones merged.

    >>> spells(np.array([0, 1, 1, 0, 1, 0, 0, 0, 1]).astype(bool), merged_s=2)
    [(1, 5), (8, 9)]
    """
    up = np.flatnonzero(flags)
    if not up.size:
        return []
    gaps = np.flatnonzero(np.diff(up) > merged_s)
    begins = np.concatenate([up[:1], up[gaps + 1]])
    ends = np.concatenate([up[gaps], up[-1:]])
    return [(int(begin), int(end) + 1) for begin, end in zip(begins, ends, strict=True)]


def recovery(latency_s: Floats, begin: int, limit_s: float, until: int) -> float:
    """Seconds from `begin` until latency stays usual; NaN if it does not before `until`.

    >>> recovery(np.array([9.0] * 4 + [1.0] * 12), begin=1, limit_s=1.5, until=16)
    3.0
    """
    usual = latency_s[begin:until] < limit_s  # NaN is not below
    if usual.size < STAYS_S:
        return float("nan")
    held = np.flatnonzero(np.convolve(usual, np.ones(STAYS_S), mode="valid") == STAYS_S)
    return float(held[0]) if held.size else float("nan")


def find(throughput: Floats, latency_s: Floats, actions: tuple[Action, ...]) -> list[Interruption]:
    """Outages that seconds show, each with what caused it."""
    limit_s = usual_limit(latency_s)
    outages = spells(silent(throughput, latency_s))
    times = np.array([action.time_s for action in actions], dtype=np.int64)
    found = []
    for index, (begin, end) in enumerate(outages):
        until = outages[index + 1][0] if index + 1 < len(outages) else latency_s.size
        last = int(np.searchsorted(times, begin, side="right")) - 1
        known = last >= 0 and begin - times[last] <= ATTRIBUTED_S
        found.append(
            Interruption(
                begin_s=begin,
                cause=actions[last].cause if known else "unknown",
                outage_s=float(end - begin),
                peak_s=_peak(latency_s, begin, until),
                recovery_s=end - begin + recovery(latency_s, end, limit_s, until),
                normal_before=_normal_before(latency_s, begin, limit_s),
            )
        )
    return found


def find_by_action(latency_s: Floats, actions: tuple[Action, ...]) -> list[Interruption]:
    """What followed each action, where the monitoring is too slow to show the outage itself."""
    limit_s = usual_limit(latency_s)
    found = []
    for index, action in enumerate(actions):
        begin = action.time_s
        until = actions[index + 1].time_s if index + 1 < len(actions) else latency_s.size
        seen = np.nan_to_num(latency_s[begin : min(until, begin + PEAK_S)])
        worst = begin + int(seen.argmax()) if seen.size else begin  # until then the readings are of before
        found.append(
            Interruption(
                begin_s=begin,
                cause=action.cause,
                outage_s=float("nan"),
                peak_s=_peak(latency_s, begin, until),
                recovery_s=worst - begin + recovery(latency_s, worst, limit_s, until),
                normal_before=_normal_before(latency_s, begin, limit_s),
            )
        )
    return found


def _peak(latency_s: Floats, begin: int, until: int) -> float:
    after = latency_s[begin : min(until, begin + PEAK_S)]
    after = after[np.isfinite(after)]
    return float(after.max()) - usual_latency(latency_s) if after.size else float("nan")


def _normal_before(latency_s: Floats, begin: int, limit_s: float) -> bool:
    before = latency_s[max(0, begin - BEFORE_S) : begin]
    before = before[np.isfinite(before)]
    return bool(before.size) and float(np.median(before)) < limit_s <= AT_REST_S
