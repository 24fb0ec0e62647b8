"""What can be seen of a run through Prometheus, second by second, as policies and the archive want it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoscalers.model import Floats
from infra.local.prometheus import STALE_S, Prometheus, Samples

_LATE_S = 1.6
"""Figures of one second stand in the first sample after its end; scrapes are a second apart."""
_MARGIN_S = 5.0


@dataclass(frozen=True, slots=True)
class Sight:
    """All figures of a stretch of seconds; [t] or [t, worker]; NaN where nothing is known."""

    offered: Floats
    processed: Floats
    backlog: Floats
    committed_backlog: Floats
    latency_mean: Floats
    latency: dict[str, Floats]
    """By quantile."""
    indices: list[int]
    """The workers, by index."""
    cpu: Floats
    """Share of the quota."""
    memory: Floats
    throughput: Floats
    ready: Floats
    """1, 0, or NaN while the worker was not there."""


def look(prometheus: Prometheus, start: float, first: int, last: int, indices: Sequence[int] | None = None) -> Sight:
    """The seconds from `first` to before `last` of a run that began at `start`; all workers, or those asked for."""
    begin, end = start + first, start + last
    samples = prometheus.samples(begin - _MARGIN_S, end + _MARGIN_S)
    grid = start + np.arange(first, last, dtype=np.float64)
    ends = grid + 1.0
    chosen = _workers(samples) if indices is None else list(indices)
    names = [str(index) for index in chosen]

    def each(name: str, *, rate: bool = False) -> Floats:
        columns = [
            found.rate(grid) if rate else found.gauge(ends)
            for found in (samples.find(name, worker=worker) for worker in names)
        ]
        return np.stack(columns, axis=1) if columns else np.empty((grid.size, 0))

    def latency(name: str, **labels: str) -> Floats:
        return samples.find(name, **labels).gauge(ends, _LATE_S)

    ready = each("tidebed_worker_ready")
    serving = np.where(ready == 1, 1.0, np.nan)
    committed = samples.find("tidebed_job_lag_events", source="broker").gauge(ends)
    engine = samples.find("tidebed_job_lag_events", source="engine").gauge(ends)
    return Sight(
        offered=samples.find("tidebed_job_offered_events_total").rate(grid),
        processed=samples.find("tidebed_job_processed_events_total").rate(grid),
        backlog=np.where(np.isfinite(engine), engine, committed),
        committed_backlog=committed,
        latency_mean=latency("tidebed_job_latency_seconds_mean"),
        latency={q: latency("tidebed_job_latency_seconds", quantile=q) for q in ("0.5", "0.95", "0.99")},
        indices=chosen,
        cpu=each("tidebed_worker_cpu_seconds_total", rate=True) / each("tidebed_worker_cpu_quota_cores") * serving,
        memory=each("tidebed_worker_memory_share") * serving,
        throughput=each("tidebed_worker_events_total", rate=True) * serving,
        ready=ready,
    )


def recent_lag(prometheus: Prometheus) -> float:
    """Events that wait now, by the engine, else by the broker; infinitely many if nobody knows."""
    now = time.time()
    samples = prometheus.samples(now - STALE_S, now)
    for source in ("engine", "broker"):
        found = samples.find("tidebed_job_lag_events", source=source)
        if found.value.size:
            return float(found.value[-1])
    return float("inf")


def recent_loads(prometheus: Prometheus, indices: Sequence[int]) -> list[float]:
    """How busy each worker is, over the last seconds; NaN where that is not known."""
    now = time.time()
    cpu = look(prometheus, now - _MARGIN_S, 0, 4, indices).cpu
    measured = [column[np.isfinite(column)] for column in cpu.T]
    return [float(column.mean()) if column.size else math.nan for column in measured]


def _workers(samples: Samples) -> list[int]:
    return sorted({int(series.labels["worker"]) for series in samples.all("tidebed_worker_ready")})
