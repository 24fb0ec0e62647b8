"""How late events are just after a restart, even if next to nothing was replayed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autoscalers.model import Floats
from experiments.validation.calibration.estimate import Estimate, constant
from experiments.validation.clusters import CLUSTERS
from experiments.validation.interruptions import find, usual_latency
from experiments.validation.measured import Measured

#: Of all scale-ins, those whose latency peaked least had least to replay.
LEAST = 0.25
#: Seconds after a restart that are looked at.
AFTER_S = 30
#: By then the little that was replayed is worked off, and latency has not begun to fall.
PLATEAU_S = slice(3, 6)
#: The plateau ends where latency is below this part of it; all is over where less than the other is left.
ENDS, OVER = 0.9, 0.1


def settling(runs: Sequence[Measured]) -> list[Estimate]:
    """Height, length and end of the plateau that follows a restart on warm workers."""
    cases = [case for run in runs if run.scrape_period_s == 1 and run.system == "reactive" for case in _after(run)]
    if not cases:
        return []
    peaks = np.array([np.nanmax(case) for case in cases])
    least = np.array(cases)[peaks <= np.quantile(peaks, LEAST)]
    height, flat_s, end_s = plateau(np.nanmedian(least, axis=0))
    profile = CLUSTERS["demeter"].profile
    how = "latency over the usual one after scale-ins, the quarter that peaked least"
    return [
        constant("engine flink-reactive", name, value, profile, len(least), how)
        for name, value in (("settle_latency_s", height), ("settle_flat_s", flat_s), ("settle_s", end_s))
    ]


def plateau(course: Floats) -> tuple[float, float, float]:
    """Its height, how long it lasts, and when it is over.

    >>> plateau(np.array([0.2, 3.5, 3.1, 3.0, 3.0, 3.0, 2.8, 2.0, 1.0, 0.2, 0.1]))
    (3.0, 7.0, 9.0)
    """
    height = float(np.median(course[PLATEAU_S]))
    from_s = PLATEAU_S.stop
    last, over = (from_s + int(np.argmax(course[from_s:] < part * height)) for part in (ENDS, OVER))
    return height, float(last), float(over)


def _after(run: Measured) -> list[Floats]:
    usual = usual_latency(run.latency_s)
    found = []
    for one in find(run.throughput, run.latency_s, run.actions):
        begin = one.begin_s + int(one.outage_s)
        if one.cause == "scale in" and one.normal_before and begin + AFTER_S <= run.seconds:
            found.append(run.latency_s[begin : begin + AFTER_S] - usual)
    return found
