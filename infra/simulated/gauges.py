"""What the monitoring shows of a fleet, compiled: sampled, averaged, noisy, at times stale or missing.

Each worker is scraped once a period at a moment of its own; until the next time the last value stands. Rates and CPU
are means over a window before they are scraped. A job that is down reports no rate, while its containers still
report CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.simulated.compiled import compiled
from infra.simulated.layout import (
    BACKLOG,
    CPU,
    MEAN,
    MEMORY,
    READY,
    SEEN_BACKLOG,
    SEEN_CPU,
    SEEN_LATENCY,
    SEEN_THROUGHPUT,
    SEEN_WORKLOAD,
    THROUGHPUT,
    WORKLOAD,
)

#: What a fault does to the monitoring: nothing, all values missing, the last values again and again.
CLEAR, MISSING, STALE = range(3)

# planes of the recorded instances
(I_CPU, I_MEMORY, I_THROUGHPUT, I_BACKLOG) = range(4)
INSTANCE_PLANES = 4
# planes of the moving averages; the row after the last worker is the job's
(A_CPU, A_RATE) = range(2)
AVERAGED = 2
# the job's held values
(J_WORKLOAD, J_BACKLOG, J_LATENCY) = range(3)


@compiled
def look(
    s: Any,
    workers: Any,
    constants: Any,
    extra_cpu: float,
    row: Floats,
    instances: Floats,
    held: Floats,
    window: Floats,
    step_s: float,
    sensors: np.random.Generator,
) -> None:
    """Write the true means of CPU and memory, and what each worker and the job show.

    `held` has a row a worker and one for the job: the last scraped values, and last the moment in the period at which
    it is scraped. `window` holds the last steps of each worker's CPU and rate, and in its last row their sums; it is
    empty where nothing is averaged.
    """
    ready = int(row[READY])
    now = s.step * step_s
    spell = window.shape[0] - 1
    slot = s.step % spell if spell > 0 else 0
    down = row[THROUGHPUT] <= 0.0 and np.isnan(row[MEAN])
    cpu_sum = seen_cpu = seen_rate = 0.0
    memory = 1.0
    if ready > 0:
        memory = constants.memory_base + (constants.memory_state + constants.memory_per_event * row[BACKLOG]) / ready
    memory = min(1.0, memory)
    for i in range(ready):
        w = workers[i]
        busy = constants.cpu_idle + (constants.cpu_full - constants.cpu_idle) * w.load
        cpu = min(1.0, busy + constants.warmup_cpu * w.cold + extra_cpu)
        cpu_sum += cpu
        rate = w.done / step_s
        if spell > 0:
            cpu, rate = _averaged(window, slot, spell, i, cpu, rate)
        if s.sight != STALE and _due(now, held[i, INSTANCE_PLANES], constants.sample_period_s, step_s):
            noisy = cpu + constants.cpu_noise * sensors.standard_normal()
            held[i, I_CPU] = min(1.0, max(0.0, noisy))
            held[i, I_MEMORY] = memory
            noisy = rate * (1.0 + constants.throughput_noise * sensors.standard_normal())
            held[i, I_THROUGHPUT] = np.nan if down else max(0.0, noisy)
            held[i, I_BACKLOG] = row[BACKLOG] * w.share
        if s.sight == MISSING:
            instances[i, :] = np.nan
        else:
            instances[i, :] = held[i, :INSTANCE_PLANES]
        seen_cpu += instances[i, I_CPU]
        seen_rate += instances[i, I_THROUGHPUT]
    instances[ready:, :] = np.nan
    row[CPU] = cpu_sum / ready if ready > 0 else np.nan
    row[MEMORY] = memory
    row[SEEN_CPU] = seen_cpu / ready if ready > 0 else np.nan
    row[SEEN_THROUGHPUT] = seen_rate if ready > 0 else np.nan
    _look_at_job(s, constants, row, held[held.shape[0] - 1], window, slot, spell, now, step_s)


@compiled
def _due(now: float, moment: float, period_s: float, step_s: float) -> bool:
    """Whether a scrape falls into this step."""
    return bool((now - moment) % period_s < step_s)


@compiled
def _averaged(window: Floats, slot: int, spell: int, i: int, cpu: float, rate: float) -> tuple[float, float]:
    """Means over the last steps, as a sum that is carried on."""
    sums = window[spell, i]
    sums[A_CPU] += cpu - window[slot, i, A_CPU]
    sums[A_RATE] += rate - window[slot, i, A_RATE]
    window[slot, i, A_CPU] = cpu
    window[slot, i, A_RATE] = rate
    return max(0.0, sums[A_CPU] / spell), max(0.0, sums[A_RATE] / spell)


@compiled
def _look_at_job(
    s: Any, constants: Any, row: Floats, held: Floats, window: Floats, slot: int, spell: int, now: float, step_s: float
) -> None:
    """Figures of the whole job come from the broker and the sink; an event's latency is known once it is out."""
    workload = row[WORKLOAD]
    if spell > 0:
        _, workload = _averaged(window, slot, spell, window.shape[1] - 1, 0.0, workload)
    if s.sight != STALE and _due(now, held[INSTANCE_PLANES], constants.sample_period_s, step_s):
        held[J_WORKLOAD] = workload
        held[J_BACKLOG] = row[BACKLOG]
        held[J_LATENCY] = row[MEAN]
    if s.sight == MISSING:
        row[SEEN_WORKLOAD] = row[SEEN_BACKLOG] = row[SEEN_LATENCY] = np.nan
    else:
        row[SEEN_WORKLOAD] = held[J_WORKLOAD]
        row[SEEN_BACKLOG] = held[J_BACKLOG]
        row[SEEN_LATENCY] = held[J_LATENCY]
