"""Observations made by hand, for doctests and tests of policies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autoscalers.model import JOB, Floats, Observation, OperatorView, Rescale


def observation(
    *,
    time_s: float = 600.0,
    parallelism: int = 1,
    cpu: float | Sequence[float] | Floats = 0.5,
    ready: Sequence[bool] | None = None,
    started_s: Sequence[float] | None = None,
    ready_since_s: Sequence[float] | None = None,
    samples: int = 15,
    workload: float | Floats = 1000.0,
    throughput: float | Floats | None = None,
    memory: float = 0.5,
    backlog: float = 0.0,
    response_time: float = 1.0,
    last_rescale: Rescale | None = None,
    operator: str = JOB,
) -> Observation:
    """One observation of one operator; scalars are repeated over samples and instances.

    `cpu` may be a number, one number an instance, or samples by instances.

    >>> observation(parallelism=2, cpu=[0.25, 0.75]).operators["job"].mean_cpu
    0.5
    """
    cpus = np.asarray(cpu, dtype=np.float64)
    instances = cpus.shape[-1] if cpus.ndim else parallelism
    rows = cpus.shape[0] if cpus.ndim == 2 else samples
    shape = (rows, instances)
    rate = np.broadcast_to(np.asarray(workload, dtype=np.float64), (rows,)).copy()
    per_instance = rate[:, None] / max(instances, 1) if throughput is None else np.asarray(throughput, dtype=np.float64)
    view = OperatorView(
        parallelism=parallelism,
        ready=np.ones(instances, dtype=np.bool_) if ready is None else np.asarray(ready, dtype=np.bool_),
        started_s=np.zeros(instances) if started_s is None else np.asarray(started_s, dtype=np.float64),
        ready_since_s=np.zeros(instances) if ready_since_s is None else np.asarray(ready_since_s, dtype=np.float64),
        cpu=np.broadcast_to(cpus, shape).copy(),
        memory=np.full(shape, memory),
        throughput=np.broadcast_to(per_instance, shape).copy(),
        input_rate=rate,
        backlog=backlog,
        response_time=np.full(rows, response_time),
    )
    return Observation(time_s=time_s, workload=rate, operators={operator: view}, last_rescale=last_rescale)
