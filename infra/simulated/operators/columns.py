"""The archive's columns of a run whose operators scale each on their own, from the kernel's records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import JOB, Floats
from infra.model import Columns
from infra.simulated.operators import record

Steps = NDArray[np.int64]

_PRECISE = {
    "workload": record.WORKLOAD,
    "throughput": record.THROUGHPUT,
    "backlog": record.BACKLOG,
    "capacity": record.CAPACITY,
}
_COUNTS = {
    "workers_wanted": record.WANTED,
    "workers_running": record.RUNNING,
    "workers_ready": record.READY,
    "nodes": record.NODES,
}
_SHORT = {
    "latency_mean_s": record.MEAN,
    "latency_p50_s": record.P50,
    "latency_p95_s": record.P95,
    "latency_p99_s": record.P99,
    "cpu": record.CPU,
    "memory": record.MEMORY,
    "seen_workload": record.SEEN_WORKLOAD,
    "seen_throughput": record.SEEN_THROUGHPUT,
    "seen_backlog": record.SEEN_BACKLOG,
    "seen_latency_s": record.SEEN_LATENCY,
    "seen_cpu": record.SEEN_CPU,
}


def metrics(names: Sequence[str], steps: Steps, step_s: int, rows: Floats, demand: NDArray[np.int32]) -> Columns:
    """A row a step and operator, and one for the job, whose demand is the sum of its operators'."""
    needed = demand[:, steps]
    flat = rows.reshape(-1, rows.shape[-1])
    return {
        "time_s": np.repeat(steps * step_s, len(names) + 1).astype(np.int32),
        "operator": np.tile(np.array([*names, JOB], dtype=object), steps.size),
        "demand_workers": np.vstack([needed, needed.sum(axis=0)]).T.reshape(-1).astype(np.int32),
        **{name: flat[:, column] for name, column in _PRECISE.items()},
        **{name: flat[:, column].astype(np.int32) for name, column in _COUNTS.items()},
        **{name: flat[:, column].astype(np.float32) for name, column in _SHORT.items()},
    }


def instances(names: Sequence[str], steps: Steps, step_s: int, samples: Floats, period_s: int) -> Columns:
    """A row a sample and instance, as measured; where a step is longer than the period, a sample a step."""
    sampled = steps * step_s % max(period_s, step_s) < step_s
    block = samples[sampled]
    moment, operator, instance = np.nonzero(~np.isnan(block[:, :, :, record.I_CPU]))
    seen = block[moment, operator, instance].astype(np.float32)
    return {
        "time_s": (steps[sampled] * step_s).astype(np.int32)[moment],
        "operator": np.array(names, dtype=object)[operator],
        "instance": instance.astype(np.int16),
        "cpu": seen[:, record.I_CPU],
        "memory": seen[:, record.I_MEMORY],
        "throughput": seen[:, record.I_THROUGHPUT],
        "backlog": seen[:, record.I_BACKLOG],
        "ready": np.ones(moment.size, dtype=np.bool_),
    }
