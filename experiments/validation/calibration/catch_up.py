"""What no gauge shows, found by replaying: how cold workers are after a restart, and outages between scrapes.

Each is chosen so that the median recovery in the replays of ADS runs comes closest to that of the runs themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments.validation.calibration.estimate import Estimate, constant, fitted_delay
from experiments.validation.clusters import CLUSTERS, Cluster
from experiments.validation.interruptions import Interruption
from experiments.validation.measured import Measured
from experiments.validation.replay import replay
from experiments.validation.scores import seen_in
from jobs.model import Distribution

WARM_UPS_S = (10.0, 20.0, 40.0, 80.0, 120.0, 160.0)
LOSSES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85)
OUTAGES_S = tuple(float(seconds) for seconds in range(2, 50, 2))
_SEED = 1


def warm_up(runs: Iterable[Measured]) -> list[Estimate]:
    """Of each way in which Flink restarts."""
    found = []
    all_runs = list(runs)
    for cluster, systems in (("demeter", {"reactive"}), ("demeter-operator", {"operator", "baseline"})):
        chosen = [run for run in all_runs if run.source == "Demeter" and run.system in systems]
        if chosen:
            found += _warm_up(CLUSTERS[cluster], chosen)
    return found


def _warm_up(cluster: Cluster, runs: Sequence[Measured]) -> list[Estimate]:
    measured = {run.name: seen_in(run, run) for run in runs}
    aims = _medians(measured[run.name] for run in runs)
    best = (math.inf, 0.0, 0.0)
    for warmup_s in WARM_UPS_S:
        for loss in LOSSES:
            changed = _with(cluster, {"warmup_s": warmup_s, "warmup_loss": loss}, {})
            medians = _medians(seen_in(run, replay(run, changed, _SEED)) for run in runs)
            best = min(best, (_distance(aims, medians), warmup_s, loss))
    n = sum(len(one) for one in measured.values())
    where, how = f"engine {cluster.base.engine.name}", "replays: median recovery of each cause"
    return [
        constant(where, "warmup_s", best[1], cluster.profile, n, how),
        constant(where, "warmup_loss", best[2], cluster.profile, n, how),
    ]


def savepoint_outages(runs: Iterable[Measured]) -> list[Estimate]:
    """Of rescales that were read once a minute."""
    cluster = CLUSTERS["phoebe-savepoint"]
    chosen = [run for run in runs if run.cluster == cluster.name and run.system == "phoebe"]
    if not chosen:
        return []
    found = []
    measured = [seen_in(run, run) for run in chosen]
    aims = _medians(measured)
    for name, cause in (("outage_out_s", "scale out"), ("outage_in_s", "scale in")):
        best = (math.inf, 0.0)
        for outage_s in OUTAGES_S:
            changed = _with(cluster, {}, {name: outage_s})
            medians = _medians(seen_in(run, replay(run, changed, _SEED)) for run in chosen)
            best = min(best, (_distance({cause: aims[cause]}, medians), outage_s))
        n = sum(one.cause == cause for several in measured for one in several)
        how = f"replays: median recovery after {cause}"
        found.append(fitted_delay(f"cluster {cluster.name}", name, best[1], cluster.profile, n, how))
    return found


def _medians(several: Iterable[list[Interruption]]) -> dict[str, float]:
    by_cause: dict[str, list[float]] = {}
    for interruptions in several:
        for one in interruptions:
            if one.normal_before and math.isfinite(one.recovery_s):
                by_cause.setdefault(one.cause, []).append(one.recovery_s)
    return {cause: float(np.median(values)) for cause, values in by_cause.items() if len(values) >= _ENOUGH}


#: Fewer cases than this have no median worth a fit.
_ENOUGH = 5


def _distance(aims: Mapping[str, float], medians: Mapping[str, float]) -> float:
    """Sum of squares of logarithms of ratios: twice as long is as far off as half as long."""
    return sum(math.log(medians[cause] / aim) ** 2 if cause in medians else math.inf for cause, aim in aims.items())


def _with(cluster: Cluster, constants: Mapping[str, float], outages: Mapping[str, float]) -> Cluster:
    profile = cluster.profile
    return replace(
        cluster,
        constants={
            **cluster.constants,
            **{name: replace(profile.constants[name], value=value) for name, value in constants.items()},
        },
        delays={
            **cluster.delays,
            **{name: Distribution.always(value, "s", "tried") for name, value in outages.items()},
        },
    )
