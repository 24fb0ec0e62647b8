"""Plan: the smallest scale-out that takes the load, now and soon, and recovers in time.

Reference
---------
Pfister et al. (Daedalus, ICPE 2024), section 3.2, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autoscalers.model import Floats


@dataclass(frozen=True, slots=True)
class Situation:
    """What Algorithm 1 is given."""

    current: int
    """Workers there are."""
    since_rescale_s: float
    workload: float
    """W_avg: mean events/s since the last loop."""
    forecast: Floats
    """TSF: events/s of each second from now on."""
    lag: float
    """Events that wait."""
    capacity: Callable[[int], float]
    """C: events/s that a scale-out can take."""
    recovery_s: Callable[[int], float]
    """RT: seconds after which a change to this scale-out, or a failure at it, is made up for."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The constants of Algorithm 1."""

    minimum: int
    maximum: int
    target_recovery_s: float
    long_lived_s: float
    """How long a scale-out should last before another is looked for."""
    period_s: float
    """Seconds until the next loop."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The scale-out to have, and why."""

    workers: int
    why: str


def determine(situation: Situation, rules: Rules) -> Plan:
    """Algorithm 1.

    >>> import numpy as np
    >>> load = Situation(4, 3600.0, 1000.0, np.full(900, 1100.0), 0.0, lambda n: 300.0 * n, lambda n: 60.0)
    >>> determine(load, Rules(1, 12, 600.0, 600.0, 60.0))
    Plan(workers=4, why='4 take the load and its forecast, and recover in 60 s')
    """
    now, load = situation.current, situation.workload
    if situation.since_rescale_s < rules.long_lived_s:
        enough = situation.capacity(now)
        if enough > load and enough > _peak(situation.forecast, rules.period_s):
            return Plan(now, f"rescaled {situation.since_rescale_s:.0f} s ago, and {now} still suffice")
    for workers in range(rules.minimum, rules.maximum + 1):
        capacity = situation.capacity(workers)
        if not capacity > load:
            continue
        recovery_s = situation.recovery_s(workers)
        if recovery_s > rules.target_recovery_s or capacity < _peak(situation.forecast, recovery_s):
            continue
        if workers == now:
            return Plan(now, f"{now} take the load and its forecast, and recover in {recovery_s:.0f} s")
        if workers < now and capacity < situation.lag:
            continue
        if capacity > _peak(situation.forecast, len(situation.forecast)):
            return Plan(workers, f"{workers} take all of the forecast, and recover in {recovery_s:.0f} s")
    return Plan(rules.maximum, f"no smaller scale-out takes the forecast and recovers in {rules.target_recovery_s:g} s")


def _peak(forecast: Floats, seconds: float) -> float:
    """The most that is forecast until then."""
    ahead = forecast[: max(1, int(min(seconds, len(forecast))))]
    return float(ahead.max()) if ahead.size else 0.0
