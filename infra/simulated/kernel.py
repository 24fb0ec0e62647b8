"""The hot loop: a fluid queue in front of a fleet of workers, a second at a time, compiled.

The job reads its source in order, so one number says how far it got: `position`, in events since the
start. All workers share it, because a hot worker holds the source back for all (back-pressure). What
has arrived and lies beyond the position is the backlog; how long ago the event at the position
arrived is the time that events wait. A restart sets the position back to the last checkpoint.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from autoscalers.model import Floats

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


@numba.njit(cache=True)
def advance(
    state: Any,
    constants: Constants,
    arrived: Floats,
    shares: Floats,
    rows: Floats,
    instances: Floats,
    events: Floats,
    seconds: int,
    stop_at_end: bool,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Let seconds pass. Returns (seconds done, events written); stops early after a rescale if `stop_at_end`.

    `shares` has two rows: each worker's share of the events now, and after the rescale under way.
    `arrived[t]` is the number of events offered before second t.
    """
    s = state[0]
    found = 0
    remember = math.exp(-1.0 / constants.capacity_noise_time_s)
    renew = constants.capacity_noise * math.sqrt(1.0 - remember * remember)
    for step in range(seconds):
        now = float(s.second)
        ended = False
        if s.phase == BOOTING and now >= s.phase_end_s:
            found = _stop_job(s, arrived, events, found)
        available = 1.0
        if s.phase == OUTAGE:
            available = min(1.0, now + 1.0 - s.phase_end_s)
            if available > 0.0:
                found = _start_job(s, shares, events, found)
                ended = True
            else:
                available = 0.0
        s.drift = remember * s.drift + renew * rng.standard_normal()
        cold = max(0.0, 1.0 - (now - s.restarted_s) / constants.warmup_s)
        worker_capacity = s.worker_capacity * math.exp(s.drift) * (1.0 - constants.warmup_loss * cold)
        capacity = worker_capacity / shares[0, : s.workers].max() * available

        waited_before = _waited(arrived, s.arrival, s.position, now)
        done = _process(s, arrived, capacity)
        waited = _waited(arrived, s.arrival, s.position, now + 1.0)
        if s.recovering == 1 and s.phase == STEADY and waited <= 1.0:
            s.recovering = 0
            found = _record_event(events, found, now + 1.0, RECOVERED)
        if s.phase != OUTAGE and now - s.checkpoint_s >= constants.checkpoint_interval_s:
            s.checkpoint_s = now
            s.checkpoint_position = s.position

        row = rows[step]
        row[WORKLOAD] = arrived[s.second + 1] - arrived[s.second]
        row[THROUGHPUT] = done
        row[BACKLOG] = arrived[s.second + 1] - s.position
        row[RUNNING] = max(s.workers, s.next_workers) if s.phase == BOOTING else s.next_workers
        row[READY] = min(s.workers, row[RUNNING])
        row[CAPACITY] = capacity
        queueing = _look_at_workers(
            row, instances[step], constants, shares[0], worker_capacity, available, constants.warmup_cpu * cold, rng
        )
        _look_at_latency(row, constants, waited_before, waited, queueing)
        s.second += 1
        if ended and stop_at_end:
            return step + 1, found
    return seconds, found


@numba.njit(cache=True)
def _record_event(events: Floats, found: int, time_s: float, code: int) -> int:
    events[found, 0] = time_s
    events[found, 1] = code
    return found + 1


@numba.njit(cache=True)
def _stop_job(s: Any, arrived: Floats, events: Floats, found: int) -> int:
    """The new workers are there: the job stops, and forgets what it did since the last checkpoint."""
    s.phase = OUTAGE
    s.phase_end_s = s.second + s.outage_s
    if s.outage_s == 0.0:
        return found
    s.replayed += s.position - s.checkpoint_position
    s.position = s.checkpoint_position
    while s.arrival > 0 and arrived[s.arrival] > s.position:
        s.arrival -= 1
    return _record_event(events, found, s.second, OUTAGE_START)


@numba.njit(cache=True)
def _start_job(s: Any, shares: Floats, events: Floats, found: int) -> int:
    """The rescale is over: the new fleet takes up the work."""
    s.phase = STEADY
    s.workers = s.next_workers
    s.worker_capacity = s.next_worker_capacity
    shares[0] = shares[1]
    s.recovering = 1
    if s.outage_s > 0.0:
        s.restarted_s = s.second
        s.checkpoint_s = s.second
        found = _record_event(events, found, s.phase_end_s, OUTAGE_END)
    return _record_event(events, found, s.phase_end_s, RESCALE_END)


@numba.njit(cache=True)
def _process(s: Any, arrived: Floats, capacity: float) -> float:
    """Move the position on, by what has arrived or by what the fleet can do."""
    there = arrived[s.second + 1]
    done: float = min(there - s.position, capacity)
    s.position = min(s.position + done, there)
    s.processed += done
    while s.arrival <= s.second and arrived[s.arrival + 1] <= s.position:
        s.arrival += 1
    return done


@numba.njit(cache=True)
def _waited(arrived: Floats, arrival: int, position: float, now: float) -> float:
    """Seconds since the event at the position arrived, which it did during second `arrival`."""
    if arrival >= now:
        return 0.0
    within = arrived[arrival + 1] - arrived[arrival]
    part = (position - arrived[arrival]) / within if within > 0.0 else 0.0
    return max(0.0, now - (arrival + part))


@numba.njit(cache=True)
def _look_at_workers(
    row: Floats,
    instances: Floats,
    constants: Constants,
    shares: Floats,
    worker_capacity: float,
    available: float,
    extra_cpu: float,
    rng: np.random.Generator,
) -> float:
    """Write what each worker shows; returns the mean time an event queues at a worker below saturation (M/D/1)."""
    seen = int(row[READY])
    cpu_sum = 0.0
    queueing = 0.0
    memory = min(1.0, constants.memory_base + constants.memory_state / seen)
    for i in range(seen):
        mine = row[THROUGHPUT] * shares[i]
        load = min(mine / worker_capacity, available)
        busy = constants.cpu_idle + (constants.cpu_full - constants.cpu_idle) * load
        cpu = min(1.0, max(0.0, busy + extra_cpu + constants.cpu_noise * rng.standard_normal()))
        rho = min(load, RHO_MAX)
        queueing += shares[i] * rho / (2.0 * worker_capacity * (1.0 - rho))
        cpu_sum += cpu
        instances[i, I_CPU] = cpu
        instances[i, I_MEMORY] = memory
        instances[i, I_THROUGHPUT] = max(0.0, mine * (1.0 + constants.throughput_noise * rng.standard_normal()))
        instances[i, I_BACKLOG] = row[BACKLOG] * shares[i]
    instances[seen:, :] = np.nan
    row[CPU] = cpu_sum / seen
    row[MEMORY] = memory
    return queueing


@numba.njit(cache=True)
def _look_at_latency(row: Floats, constants: Constants, waited_before: float, waited: float, queueing: float) -> None:
    """End-to-end latency of the events that came out: base, plus waiting in the source, plus queueing at a worker."""
    if row[THROUGHPUT] <= 0.0 and row[BACKLOG] > 0.0:
        row[MEAN] = row[P50] = row[P95] = row[P99] = np.nan
        return
    base, spread = constants.latency_base_s, constants.latency_spread
    usual = 0.5 * (waited_before + waited)
    longest = max(waited_before, waited)
    row[MEAN] = base * math.exp(0.5 * spread * spread) + usual + queueing
    row[P50] = base + usual + TAIL50 * queueing
    row[P95] = base * math.exp(spread * Z95) + longest + TAIL95 * queueing
    row[P99] = base * math.exp(spread * Z99) + longest + TAIL99 * queueing
