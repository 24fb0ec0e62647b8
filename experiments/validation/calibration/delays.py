"""Outages, detection and the age of checkpoints, from seconds that show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from experiments.validation.calibration.estimate import Estimate, constant, delay
from experiments.validation.clusters import CLUSTERS
from experiments.validation.interruptions import Interruption, find
from experiments.validation.measured import Measured


def interruptions(runs: Iterable[Measured], system: str) -> list[Interruption]:
    """Those of the runs with a reading a second that began while latency was usual."""
    return [
        one
        for run in runs
        if run.scrape_period_s == 1 and run.system == system
        for one in find(run.throughput, run.latency_s, run.actions)
        if one.normal_before
    ]


def noticed_s(run: Measured) -> list[float]:
    """From each failure until the outage it caused began."""
    begins = np.array([one.begin_s for one in find(run.throughput, run.latency_s, run.actions)])
    found = []
    for time_s in run.failures:
        later = begins[(begins >= time_s) & (begins <= time_s + _NOTICED_WITHIN_S)]
        if later.size:
            found.append(float(later[0] - time_s))
    return found


#: Flink's own heartbeat timeout is 50 s; these clusters' is shorter.
_NOTICED_WITHIN_S = 50


def delays(runs: Sequence[Measured]) -> list[Estimate]:
    read_by_second = [run for run in runs if run.scrape_period_s == 1]
    if not read_by_second:
        return []
    found: list[Estimate] = []
    for system, cluster in (("reactive", "demeter"), ("operator", "demeter-operator")):
        profile = CLUSTERS[cluster].profile
        where = f"engine {profile.engine.name}"
        all_of_it = interruptions(read_by_second, system)
        for name, cause in _CAUSES.items():
            outages = [one.outage_s for one in all_of_it if one.cause == cause]
            if outages:
                found.append(delay(where, name, outages, profile, f"outages of {cause} in {system} runs"))
        noticed = [one for run in read_by_second if run.system == system for one in noticed_s(run)]
        if noticed:
            found.append(delay(where, "detection_s", noticed, profile, "from a failure until its outage"))
    return [*found, *_checkpoints(read_by_second)]


_CAUSES = {"outage_out_s": "scale out", "outage_in_s": "scale in", "failure_outage_s": "failure"}


def _checkpoints(runs: Sequence[Measured]) -> list[Estimate]:
    """A restart on warm workers falls behind by its outage and by the age of the checkpoint: half an interval."""
    ages = [one.peak_s - one.outage_s for one in interruptions(runs, "reactive") if one.cause == "scale in"]
    if not ages:
        return []
    profile = CLUSTERS["demeter"].profile
    how = "twice the mean of latency peak over usual latency, less the outage, at scale in"
    return [
        constant("engine flink-reactive", "checkpoint_interval_s", 2.0 * float(np.mean(ages)), profile, len(ages), how)
    ]
