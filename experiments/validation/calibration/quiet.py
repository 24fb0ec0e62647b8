"""What quiet seconds tell: latency and CPU over the load, and the lag that is always there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from autoscalers.model import Flags, Floats
from experiments.validation.calibration.estimate import Estimate, constant
from experiments.validation.clusters import CLUSTERS, Cluster
from experiments.validation.demeter import Minutes
from experiments.validation.interruptions import spells, usual_limit
from experiments.validation.measured import Measured
from jobs.model import Profile

#: What was unusual stays in rates and lags for a while: Kafka looks back for a minute, a scrape for another.
UNREST_S = 120
#: Loads are put into bins of this width, so that the many quiet hours do not outweigh the few busy ones.
BIN = 0.05
#: Loads over which the extra latency of an idle job may fade.
FADES = np.linspace(0.02, 0.2, 37)
_SEEN = 60


def quiet(run: Measured) -> Flags:
    """Seconds around which nothing happened."""
    restless = ~(run.latency_s < usual_limit(run.latency_s))
    calm = np.ones(run.seconds, dtype=np.bool_)
    for begin, end in spells(restless, merged_s=1):
        calm[max(0, begin - UNREST_S // 4) : end + UNREST_S] = False
    for action in run.actions:
        calm[action.time_s : action.time_s + UNREST_S] = False
    return calm


def load(throughput: Floats, workers: Floats, profile: Profile) -> Floats:
    """Share of what the workers can take."""
    return throughput / (profile["worker_capacity"] * workers ** profile["scaling_exponent"])


def latency_curve(loads: Floats, latency_s: Floats) -> tuple[float, float, float]:
    """Base, what is added at no load, and the load over which that fades: least squares over bins of the load."""
    bins = np.floor(loads / BIN)
    known = [one for one in np.unique(bins) if np.count_nonzero(bins == one) >= _SEEN]
    x = np.array([float(np.median(loads[bins == one])) for one in known])
    y = np.array([float(np.median(latency_s[bins == one])) for one in known])
    best = (np.inf, 0.0, 0.0, 0.0)
    for fades in FADES:
        terms = np.column_stack([np.ones(x.size), np.exp(-x / fades)])
        (base, idle), *_ = np.linalg.lstsq(terms, y, rcond=None)
        best = min(best, (float(((terms @ (base, idle) - y) ** 2).sum()), float(base), float(idle), float(fades)))
    return best[1:]


def latency(runs: Iterable[Measured]) -> list[Estimate]:
    """From the fixed fleets, whose load goes up and down with nothing else changing."""
    found = []
    for cluster, source in (("phoebe", "Phoebe"), ("demeter", "Demeter")):
        fixed = [run for run in runs if run.source == source and run.system == "baseline" and run.first_workers == 24]
        if not fixed:
            continue
        profile = CLUSTERS[cluster].profile
        calm = [quiet(run) & (run.throughput > 0.0) & (run.latency_s > 0.0) for run in fixed]
        loads = np.concatenate(
            [load(run.throughput[seen], run.workers[seen], profile) for run, seen in zip(fixed, calm, strict=True)]
        )
        late = np.concatenate([run.latency_s[seen] for run, seen in zip(fixed, calm, strict=True)])
        base, idle, fades = latency_curve(loads, late)
        where, how = f"cluster {cluster}", "latency over load in quiet seconds of 24 fixed workers"
        found += [
            constant(where, "latency_base_s", base, profile, late.size, how),
            constant(where, "latency_idle_s", idle, profile, late.size, how),
            constant(where, "latency_idle_load", fades, profile, late.size, how),
        ]
        if source == "Demeter":
            smooth = np.median(np.lib.stride_tricks.sliding_window_view(late, _SEEN), axis=1)
            spread = float(np.std(np.log(late[_SEEN // 2 : _SEEN // 2 + smooth.size] / smooth)))
            found.append(
                constant("job yahoo", "latency_spread", spread, profile, late.size, "seconds around their median")
            )
    return found


def cpu(runs: Iterable[Measured], minutes: Sequence[Minutes]) -> list[Estimate]:
    """The line of CPU over load; where it reaches the CPU of workers that work off a backlog is the capacity."""
    quiet_minutes = [one for one in minutes if one.calibrated]
    draining = [run for run in runs if run.source == "Demeter" and run.system == "reactive"]
    if not quiet_minutes or not draining:
        return []
    profile = CLUSTERS["demeter"].profile
    full = float(np.quantile(np.concatenate([_draining_cpu(run) for run in draining]), _WHOLE))
    exponent = profile["scaling_exponent"]
    rates = np.concatenate([one.throughput / one.workers**exponent for one in quiet_minutes])
    busy = np.concatenate([one.cpu for one in quiet_minutes])
    slope, idle = np.polyfit(rates, busy, 1)
    capacity = (full - idle) / slope
    how = "CPU over load in quiet minutes"
    return [
        constant("cluster demeter", "cpu_idle", idle, profile, busy.size, f"{how}: at no load"),
        constant("cluster demeter", "cpu_full", full, profile, len(draining), "CPU while a backlog goes down"),
        constant("cluster demeter", "worker_capacity", capacity, profile, busy.size, f"{how}: where it reaches that"),
    ]


def _draining_cpu(run: Measured) -> Floats:
    """CPU in seconds in which latency is high and falls fast."""
    fall = np.diff(run.latency_s, prepend=np.nan)
    return run.cpu[(run.latency_s > _DRAINS_FROM_S) & (fall < -_DRAINS_BY_S) & np.isfinite(run.cpu)]


_DRAINS_FROM_S, _DRAINS_BY_S = 5.0, 1.5
#: Of these seconds the busiest count: in the others the backlog was gone, or not yet there, on some workers.
_WHOLE = 0.9


def lag(runs: Iterable[Measured]) -> list[Estimate]:
    """Partitions from the lag right after a restart; the usual lag from quiet seconds."""
    cluster = CLUSTERS["demeter"]
    fixed = [run for run in runs if run.source == "Demeter" and run.system == "baseline"]
    if not fixed or cluster.partitions is None or cluster.lag_base_s is None:
        return []
    parts, waits = [], []
    for run in fixed:
        calm = quiet(run) & (run.throughput > 0.0) & (run.lag > 0.0)
        waits.append(run.lag[calm] / run.throughput[calm])
        for time_s in run.failures:
            after = slice(time_s, time_s + UNREST_S)
            behind_s = np.nanmax(run.latency_s[after]) - np.nanmedian(run.latency_s[calm])
            parts.append(float(behind_s * run.workload[time_s] / np.nanmax(run.lag[after])))
    partitions = float(np.median(parts))
    base = float(np.median(np.concatenate(waits))) * cluster.partitions.value
    return [
        _of_lag("partitions", partitions, cluster, len(parts), "backlog at a restart over the reported lag"),
        _of_lag("lag_base_s", base, cluster, sum(one.size for one in waits), "reported lag in quiet seconds"),
    ]


def _of_lag(name: str, found: float, cluster: Cluster, n: int, how: str) -> Estimate:
    used = cluster.partitions if name == "partitions" else cluster.lag_base_s
    assert used is not None, "asked for only where lag was measured"
    return Estimate(f"cluster {cluster.name}", name, used.unit, (found,), (used.value,), n, how)
