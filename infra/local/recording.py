"""The archive's columns of a local run, from what Prometheus saw and what the generator sent."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.local.sight import Sight
from infra.model import Columns

#: Workers are sampled as often as in the simulated place, so that archives are alike in size.
INSTANCE_PERIOD_S = 5


def metrics(time_s: Any, sight: Sight, sent: Floats, wanted: Any) -> Columns:
    """A row a second. The load is what was sent; all else is as measured, so policies saw the same."""
    unknown = [None] * len(time_s)
    workload = np.where(np.isfinite(sent), sent, sight.offered)
    cpu = _mean(sight.cpu)
    return {
        "time_s": time_s,
        "workload": workload,
        "throughput": sight.processed,
        "backlog": sight.backlog,
        "latency_mean_s": sight.latency_mean,
        "latency_p50_s": sight.latency["0.5"],
        "latency_p95_s": sight.latency["0.95"],
        "latency_p99_s": sight.latency["0.99"],
        "workers_wanted": wanted,
        "workers_running": np.isfinite(sight.ready).sum(axis=1).astype(np.int32),
        "workers_ready": (sight.ready == 1).sum(axis=1).astype(np.int32),
        "capacity": unknown,
        "demand_workers": unknown,
        "cpu": cpu,
        "memory": _mean(sight.memory),
        "nodes": np.ones(len(time_s), dtype=np.int32),
        "seen_workload": sight.offered,
        "seen_throughput": sight.processed,
        "seen_backlog": sight.backlog,
        "seen_latency_s": sight.latency_mean,
        "seen_cpu": cpu,
    }


def instances(time_s: Any, sight: Sight) -> Columns:
    """A row a sample and worker that was there."""
    sampled = time_s % INSTANCE_PERIOD_S == 0
    moment, worker = np.nonzero(np.isfinite(sight.ready) & sampled[:, None])
    return {
        "time_s": time_s[moment],
        "instance": np.asarray(sight.indices, dtype=np.int16)[worker],
        "cpu": sight.cpu[moment, worker],
        "memory": sight.memory[moment, worker],
        "throughput": sight.throughput[moment, worker],
        "backlog": np.full(moment.size, np.nan),
        "ready": sight.ready[moment, worker] == 1,
    }


def events(happened: list[tuple[float, str, str, str]]) -> Columns:
    """A row an event, in the order of time."""
    in_order = sorted(happened, key=lambda event: event[0])
    return {
        name: [event[index] for event in in_order] for index, name in enumerate(("time_s", "kind", "target", "detail"))
    }


def recoveries(time_s: Any, sight: Sight, disturbed: list[float]) -> list[tuple[float, float]]:
    """When the backlog was down again after each disturbance: (disturbance, recovery) for those that ended.

    Down means no more than before, or than what arrives within two seconds, and until the next disturbance for good.
    One that is not over when the next comes ends with that one.
    """
    found: list[tuple[float, float]] = []
    pending: list[float] = []
    usual = 0.0
    for begin, end in itertools.pairwise([*sorted(disturbed), math.inf]):
        if not pending:
            before = sight.backlog[(time_s < begin) & (time_s >= begin - 5)]
            usual = float(np.nanmedian(before)) if np.isfinite(before).any() else 0.0
        pending.append(begin)
        low = sight.backlog <= np.maximum(usual, 2.0 * np.nan_to_num(sight.offered))
        after = (time_s >= begin) & (time_s + 1 <= end)  # the second in which the next comes is no longer its own
        high = time_s[after & ~low]
        down = time_s[after & low & (time_s > (high.max() if high.size else begin))]
        if down.size:
            found += [(one, float(down[0])) for one in pending]
            pending = []
    return found


def _mean(values: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a second in which nothing was measured is not known
        mean: Floats = np.nanmean(values, axis=1) if values.shape[1] else np.full(values.shape[0], np.nan)
    return mean
