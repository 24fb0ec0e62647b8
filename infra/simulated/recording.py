"""The archive's columns of a simulated run, from the kernel's records."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.model import Columns
from infra.simulated import gauges, layout

_LATENCIES = {
    "latency_mean_s": layout.MEAN,
    "latency_p50_s": layout.P50,
    "latency_p95_s": layout.P95,
    "latency_p99_s": layout.P99,
}
_SEEN = {
    "seen_workload": layout.SEEN_WORKLOAD,
    "seen_throughput": layout.SEEN_THROUGHPUT,
    "seen_backlog": layout.SEEN_BACKLOG,
    "seen_latency_s": layout.SEEN_LATENCY,
    "seen_cpu": layout.SEEN_CPU,
}


def metrics(time_s: Any, rows: Floats, wanted: Any, demand: Any, slots: int) -> Columns:
    """A row a second: the truth, and what was seen of it."""
    running = rows[:, layout.RUNNING].astype(np.int32)
    return {
        "time_s": time_s,
        "workload": rows[:, layout.WORKLOAD],
        "throughput": rows[:, layout.THROUGHPUT],
        "backlog": rows[:, layout.BACKLOG],
        **{name: rows[:, column].astype(np.float32) for name, column in _LATENCIES.items()},
        "workers_wanted": wanted,
        "workers_running": running,
        "workers_ready": rows[:, layout.READY].astype(np.int32),
        "capacity": rows[:, layout.CAPACITY],
        "demand_workers": demand,
        "cpu": rows[:, layout.CPU].astype(np.float32),
        "memory": rows[:, layout.MEMORY].astype(np.float32),
        "nodes": (-(-running // slots)).astype(np.int32),
        **{name: rows[:, column].astype(np.float32) for name, column in _SEEN.items()},
    }


def instances(time_s: Any, samples: Floats, period_s: int) -> Columns:
    """A row a sample and worker, as measured."""
    sampled = time_s % period_s == 0
    block = samples[sampled]
    present = ~np.isnan(block[:, :, gauges.I_CPU])
    moment, instance = np.nonzero(present)
    columns = block[moment, instance].astype(np.float32)
    return {
        "time_s": time_s[sampled][moment],
        "instance": instance.astype(np.int16),
        "cpu": columns[:, gauges.I_CPU],
        "memory": columns[:, gauges.I_MEMORY],
        "throughput": columns[:, gauges.I_THROUGHPUT],
        "backlog": columns[:, gauges.I_BACKLOG],
        "ready": np.ones(moment.size, dtype=np.bool_),
    }


def events(happened: list[tuple[float, str, str, str]]) -> Columns:
    """A row an event, in the order of time."""
    in_order = sorted(happened, key=lambda event: event[0])
    return {
        name: [event[index] for event in in_order] for index, name in enumerate(("time_s", "kind", "target", "detail"))
    }
