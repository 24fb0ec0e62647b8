"""What is recorded of each step, compiled: the truth about operators and job, and what the monitoring shows of it.

The monitoring reads once a step, with white noise on the CPU and the rate of instances, and on the rate of what comes
in for an operator. A fault may make it blind, or show the last values again and again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.simulated.compiled import compiled
from infra.simulated.gauges import CLEAR, MISSING
from infra.simulated.operators.response import quantile

# columns of the recorded rows; the row after the last operator is the job's
(WORKLOAD, THROUGHPUT, BACKLOG, MEAN, P50, P95, P99) = range(7)
(WANTED, RUNNING, READY, CAPACITY, CPU, MEMORY, NODES) = range(7, 14)
(SEEN_WORKLOAD, SEEN_THROUGHPUT, SEEN_BACKLOG, SEEN_LATENCY, SEEN_CPU) = range(14, 19)
ROW_COLUMNS = 19
# planes of the recorded instances
(I_CPU, I_MEMORY, I_THROUGHPUT, I_BACKLOG) = range(4)
INSTANCE_PLANES = 4

#: Normal numbers a step and operator: for its drift, for its input rate, and two for each instance.
DRIFT, INPUT, INSTANCES = 0, 1, 2

#: Standard normal quantiles.
_Z50, _Z95, _Z99 = 0.0, 1.6448536269514722, 2.3263478740408408


@compiled
def write_truth(
    workload: float, nodes: int, latency: tuple[float, float, float], operators: Any, instances: Any, rows: Floats
) -> None:
    """What each operator is and does, and the sums over all for the job."""
    job = rows[operators.size]
    job[:] = 0.0
    job[WORKLOAD] = workload
    job[NODES] = nodes
    job[CAPACITY] = np.inf
    _write_latency(job, latency[0], latency[1], latency[2])
    for o in range(operators.size):
        op = operators[o]
        row = rows[o]
        row[WORKLOAD] = op.offered_rate
        row[THROUGHPUT] = op.done_rate
        row[BACKLOG] = op.backlog
        _write_latency(row, op.mean_s, op.fixed_s, op.var)
        row[WANTED] = op.wanted
        row[RUNNING] = op.running
        row[CAPACITY] = op.capacity
        row[NODES] = op.nodes
        row[MEMORY] = op.memory
        row[READY] = row[CPU] = 0.0
        for i in range(op.instances):
            if instances[o, i].up == 1:
                row[READY] += 1.0
                row[CPU] += instances[o, i].cpu
        if op.source > 0.0:
            job[THROUGHPUT] += op.done_rate
        if op.factor > 0.0:
            job[CAPACITY] = min(job[CAPACITY], op.capacity / op.factor)
        job[MEMORY] += op.memory * row[READY]
        for column in (BACKLOG, WANTED, RUNNING, READY, CPU):
            job[column] += row[column]
        row[CPU] = row[CPU] / row[READY] if row[READY] > 0.0 else np.nan
    job[CPU] = job[CPU] / job[READY] if job[READY] > 0.0 else np.nan
    job[MEMORY] = job[MEMORY] / job[READY] if job[READY] > 0.0 else np.nan


@compiled
def write_seen(
    sight: int, constants: Any, operators: Any, instances: Any, noise: Floats, held: Floats, rows: Floats, samples: Any
) -> None:
    """What the monitoring shows. `held` has a row an operator and one for the job: what it read last.

    What it read last of an instance stands with the instance.
    """
    job = held[operators.size]
    if sight == CLEAR:
        job[:] = 0.0
    cpu_sum = 0.0
    measured = 0
    for o in range(operators.size):
        op = operators[o]
        seen = held[o]
        if sight == CLEAR:
            rate_sum, own_cpu, count = _read_instances(constants, op, instances[o], noise[o])
            seen[0] = max(0.0, op.offered_rate * (1.0 + constants.throughput_noise * noise[o, INPUT]))
            seen[1] = rate_sum
            seen[2] = op.backlog
            seen[3] = op.mean_s
            seen[4] = own_cpu / count if count > 0 else np.nan
            cpu_sum += own_cpu
            measured += count
            if op.source > 0.0:
                job[1] += rate_sum
        for i in range(samples.shape[1]):
            if i < op.instances and sight != MISSING and instances[o, i].up == 1:
                it = instances[o, i]
                samples[o, i, I_CPU] = it.seen_cpu
                samples[o, i, I_MEMORY] = it.seen_memory
                samples[o, i, I_THROUGHPUT] = it.seen_rate
                samples[o, i, I_BACKLOG] = it.seen_backlog
            else:
                samples[o, i, :] = np.nan
    if sight == CLEAR:
        truth = rows[operators.size]
        job[0] = truth[WORKLOAD]
        job[2] = truth[BACKLOG]
        job[3] = truth[MEAN]
        job[4] = cpu_sum / measured if measured > 0 else np.nan
    for o in range(operators.size + 1):
        if sight == MISSING:
            rows[o, SEEN_WORKLOAD:] = np.nan
        else:
            rows[o, SEEN_WORKLOAD:] = held[o]


@compiled
def _read_instances(constants: Any, op: Any, instances: Any, noise: Floats) -> tuple[float, float, int]:
    """Returns the sum of the rates, that of the CPU, and how many are up."""
    rate_sum = cpu_sum = 0.0
    count = 0
    for i in range(op.instances):
        it = instances[i]
        if it.up == 0:
            continue
        rate = it.done / constants.step_s
        it.seen_cpu = min(1.0, max(0.0, it.cpu + constants.cpu_noise * noise[INSTANCES + 2 * i]))
        it.seen_memory = op.memory
        it.seen_rate = max(0.0, rate * (1.0 + constants.throughput_noise * noise[INSTANCES + 2 * i + 1]))
        it.seen_backlog = it.backlog
        rate_sum += it.seen_rate
        cpu_sum += it.seen_cpu
        count += 1
    return rate_sum, cpu_sum, count


@compiled
def _write_latency(row: Floats, mean_s: float, fixed_s: float, var: float) -> None:
    row[MEAN] = mean_s
    row[P50] = quantile(fixed_s, mean_s, var, _Z50)
    row[P95] = quantile(fixed_s, mean_s, var, _Z95)
    row[P99] = quantile(fixed_s, mean_s, var, _Z99)
