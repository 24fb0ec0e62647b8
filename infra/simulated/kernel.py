"""The hot loop: a fluid queue in front of a fleet of workers, a second at a time, compiled.

The job reads its source in order, so one number says how far it got: `position`, in events since the
start. All workers share it, because a hot worker holds the source back for all (back-pressure). What
has arrived and lies beyond the position is the backlog; how long ago the event at the position
arrived is the time that events wait. A restart sets the position back to the last checkpoint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

STEADY, BOOTING, OUTAGE = 0, 1, 2
"""What a rescale is doing: nothing, waiting for new workers, restarting the job."""

OUTAGE_START, OUTAGE_END, RESCALE_END, RECOVERED = 0, 1, 2, 3
"""Codes of events."""

STATE = np.dtype(
    [
        ("second", "i8"),
        ("position", "f8"),
        ("arrival", "i8"),  # the second in which the event at the position arrived
        ("checkpoint_position", "f8"),
        ("checkpoint_s", "f8"),
        ("phase", "i8"),
        ("phase_end_s", "f8"),
        ("outage_s", "f8"),  # of the rescale under way
        ("workers", "i8"),
        ("next_workers", "i8"),
        ("worker_capacity", "f8"),
        ("next_worker_capacity", "f8"),
        ("restarted_s", "f8"),
        ("drift", "f8"),
        ("recovering", "i8"),
        ("replayed", "f8"),
        ("processed", "f8"),
    ]
)

# columns of the recorded rows
(WORKLOAD, THROUGHPUT, BACKLOG, MEAN, P50, P95, P99, RUNNING, READY, CAPACITY, CPU, MEMORY) = range(12)
ROW_COLUMNS = 12
# planes of the recorded instances
(I_CPU, I_MEMORY, I_THROUGHPUT, I_BACKLOG) = range(4)
INSTANCE_PLANES = 4

#: Standard normal quantiles, and what an exponential tail multiplies its mean with.
Z95, Z99 = 1.6448536269514722, 2.3263478740408408
TAIL50, TAIL95, TAIL99 = math.log(2.0), math.log(20.0), math.log(100.0)
#: Utilisation beyond which the steady-state queue formula diverges; there the fluid backlog tells the waiting.
RHO_MAX = 0.99


class Constants(NamedTuple):
    """The profile's figures that the loop needs; units and sources stand in the job's profile."""

    cpu_idle: float
    cpu_full: float
    memory_base: float
    memory_state: float
    latency_base_s: float
    latency_spread: float
    checkpoint_interval_s: float
    warmup_s: float
    warmup_loss: float
    warmup_cpu: float
    capacity_noise: float
    capacity_noise_time_s: float
    cpu_noise: float
    throughput_noise: float


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def advance(state, constants, arrived, shares, rows, instances, events, stop_at_end, row, seconds, rng):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0915
    """Let seconds pass. Returns (seconds done, events written); stops early after a rescale if `stop_at_end`.

    `shares` has two rows: each worker's share of the keys now, and after the rescale under way.
    `arrived[t]` is the number of events offered before second t.
    """
    s = state[0]
    c = constants
    found = 0
    remember = math.exp(-1.0 / c.capacity_noise_time_s)
    fresh = math.sqrt(1.0 - remember * remember)
    mean_factor = math.exp(0.5 * c.latency_spread * c.latency_spread)
    for step in range(seconds):
        second = s.second
        now = float(second)
        ended = False
        # --- what the rescale under way does in this second
        if s.phase == BOOTING and now >= s.phase_end_s:
            s.phase = OUTAGE
            s.phase_end_s = now + s.outage_s
            if s.outage_s > 0.0:
                events[found, 0], events[found, 1], found = now, OUTAGE_START, found + 1
                s.replayed += s.position - s.checkpoint_position
                s.position = s.checkpoint_position
                while s.arrival > 0 and arrived[s.arrival] > s.position:
                    s.arrival -= 1
        available = 1.0
        if s.phase == OUTAGE:
            if s.phase_end_s >= now + 1.0:
                available = 0.0
            else:
                available = now + 1.0 - max(now, s.phase_end_s)
                stopped = s.outage_s > 0.0
                s.phase = STEADY
                s.workers = s.next_workers
                s.worker_capacity = s.next_worker_capacity
                shares[0, : s.workers] = shares[1, : s.workers]
                s.recovering = 1
                if stopped:
                    s.restarted_s = now
                    s.checkpoint_s = now
                    events[found, 0], events[found, 1], found = s.phase_end_s, OUTAGE_END, found + 1
                events[found, 0], events[found, 1], found = max(now, s.phase_end_s), RESCALE_END, found + 1
                ended = True
        # --- how much the fleet can do
        workers = s.workers
        s.drift = remember * s.drift + fresh * c.capacity_noise * rng.standard_normal()
        cold = max(0.0, 1.0 - (now - s.restarted_s) / c.warmup_s)
        worker_capacity = s.worker_capacity * math.exp(s.drift) * (1.0 - c.warmup_loss * cold)
        hottest = 0.0
        for i in range(workers):
            hottest = max(hottest, shares[0, i])
        capacity = worker_capacity / hottest * available
        # --- how much it does
        offered = arrived[second + 1] - arrived[second]
        waited_before = _waited(arrived, s.arrival, s.position, now)
        done = min(arrived[second + 1] - s.position, capacity)
        s.position = min(s.position + done, arrived[second + 1])
        s.processed += done
        while s.arrival < second + 1 and arrived[s.arrival + 1] <= s.position:
            s.arrival += 1
        backlog = arrived[second + 1] - s.position
        waited = _waited(arrived, s.arrival, s.position, now + 1.0)
        if s.recovering == 1 and s.phase == STEADY and waited <= 1.0:
            s.recovering = 0
            events[found, 0], events[found, 1], found = now + 1.0, RECOVERED, found + 1
        if s.phase != OUTAGE and now - s.checkpoint_s >= c.checkpoint_interval_s:
            s.checkpoint_s = now
            s.checkpoint_position = s.position
        # --- how each worker looks
        running = max(workers, s.next_workers) if s.phase == BOOTING else (s.next_workers if s.phase == OUTAGE else workers)
        seen = min(workers, running)
        cpu_sum = 0.0
        queueing = 0.0
        memory = min(1.0, c.memory_base + c.memory_state / workers)
        for i in range(seen):
            mine = done * shares[0, i]
            load = mine / worker_capacity if available > 0.0 else 0.0
            busy = c.cpu_idle + (c.cpu_full - c.cpu_idle) * min(1.0, load / available if available > 0.0 else 0.0) * available
            cpu = min(1.0, max(0.0, busy + c.warmup_cpu * cold + c.cpu_noise * rng.standard_normal()))
            cpu_sum += cpu
            rho = min(load, RHO_MAX)
            queueing += shares[0, i] * rho / (2.0 * worker_capacity * (1.0 - rho))
            instances[row + step, i, I_CPU] = cpu
            instances[row + step, i, I_MEMORY] = memory
            instances[row + step, i, I_THROUGHPUT] = max(0.0, mine * (1.0 + c.throughput_noise * rng.standard_normal()))
            instances[row + step, i, I_BACKLOG] = backlog * shares[0, i]
        instances[row + step, seen:, :] = np.nan
        # --- how the job looks
        r = rows[row + step]
        r[WORKLOAD] = offered
        r[THROUGHPUT] = done
        r[BACKLOG] = backlog
        if done <= 0.0 and backlog > 0.0:
            r[MEAN] = r[P50] = r[P95] = r[P99] = np.nan
        else:
            longest = max(waited_before, waited)
            r[MEAN] = c.latency_base_s * mean_factor + 0.5 * (waited_before + waited) + queueing
            r[P50] = c.latency_base_s + 0.5 * (waited_before + waited) + TAIL50 * queueing
            r[P95] = c.latency_base_s * math.exp(c.latency_spread * Z95) + longest + TAIL95 * queueing
            r[P99] = c.latency_base_s * math.exp(c.latency_spread * Z99) + longest + TAIL99 * queueing
        r[RUNNING] = running
        r[READY] = seen
        r[CAPACITY] = capacity
        r[CPU] = cpu_sum / seen
        r[MEMORY] = memory
        s.second = second + 1
        if ended and stop_at_end:
            return step + 1, found
    return seconds, found


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _waited(arrived, arrival, position, now):  # type: ignore[no-untyped-def]
    """Seconds since the event at the position arrived, which it did during second `arrival`."""
    if arrival >= now:
        return 0.0
    within = arrived[arrival + 1] - arrived[arrival]
    part = (position - arrived[arrival]) / within if within > 0.0 else 0.0
    return max(0.0, now - (arrival + part))
