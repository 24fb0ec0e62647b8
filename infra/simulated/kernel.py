"""The hot loop of a job that scales as one, a step at a time, compiled.

How far the job got in its source stands in lanes (infra/simulated/queues.py). What has arrived and lies beyond a
lane's position is its backlog; how long ago the event at the position arrived is the time that events wait. A restart
sets positions back to the last checkpoint. What a policy sees of all this is another matter
(infra/simulated/gauges.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.simulated import gauges, latency, queues
from infra.simulated.compiled import compiled
from infra.simulated.layout import (
    BACKLOG,
    BOOTING,
    CAPACITY,
    DETECTING,
    MEAN,
    MOVING,
    OUTAGE,
    OUTAGE_END,
    OUTAGE_START,
    P50,
    P95,
    P99,
    PARTITIONED,
    PULLED,
    READY,
    REBALANCING,
    RECOVERED,
    RESCALE_END,
    RUNNING,
    STEADY,
    THROUGHPUT,
    WORKLOAD,
    Constants,
    Record,
)

#: Utilisation beyond which the steady-state queue formula diverges; there the fluid backlog tells the waiting.
RHO_MAX = 0.99


@compiled
def advance(
    state: Any,
    lanes: Any,
    workers: Any,
    constants: Constants,
    coupling: int,
    step_s: float,
    arrived: Floats,
    record: Record,
    held: Floats,
    window: Floats,
    scratch: Floats,
    steps: int,
    stop_at_end: bool,
    system: Floats,
    sensors: np.random.Generator,
) -> tuple[int, int]:
    """Let steps pass. Returns (steps done, events written); stops early after a change of the fleet if `stop_at_end`.

    `arrived[n]` is the number of events offered before step n; `system` has a standard normal number for each step,
    from which the capacity's drift is made.
    """
    s = state[0]
    found = 0
    remember = math.exp(-step_s / constants.capacity_noise_time_s)
    renew = constants.capacity_noise * math.sqrt(1.0 - remember * remember)
    waits = np.zeros(4)
    worker_can = scratch[3]
    for step in range(steps):
        now = s.step * step_s
        phase_before = s.phase
        available, found = _next_phase(s, lanes, workers, step_s, arrived, record.events, found)
        s.drift = remember * s.drift + renew * system[step]
        worker_capacity = s.worker_capacity * math.exp(s.drift)
        if s.phase == MOVING:
            worker_capacity *= 1.0 - constants.move_loss
        capacity = available * _capacity(s, workers, constants, coupling, worker_capacity, now)
        reads = available if s.source_open == 1 else 0.0
        can = capacity * step_s if s.source_open == 1 else 0.0

        if constants.batch_interval_s > 0.0:
            done, out = queues.process_batches(
                s, lanes, arrived, can / step_s, constants.batch_interval_s, constants.batch_overhead_s, step_s, waits
            )
        elif coupling == PARTITIONED:
            for i in range(s.workers):
                worker_can[i] = reads * worker_capacity * workers[i].able * step_s
            done = out = queues.process_partitions(s, lanes, workers, arrived, worker_can, step_s, waits, scratch)
        else:
            done = out = queues.process_one_lane(s, lanes, arrived, can, step_s, waits)
        s.processed += done
        backlog = _backlog(s, lanes, arrived)
        if (
            s.recovering == 1
            and s.phase == STEADY
            and _longest_wait(s, lanes, arrived, step_s)
            <= step_s + (constants.batch_interval_s + constants.batch_overhead_s)
        ):
            s.recovering = 0
            found = _note(record.events, found, now + step_s, RECOVERED)
        if s.phase != OUTAGE and constants.batch_interval_s == 0.0:
            _save(s, lanes, constants, now)

        row = record.rows[step]
        row[WORKLOAD] = (arrived[s.step + 1] - arrived[s.step]) / step_s
        row[THROUGHPUT] = done / step_s
        row[BACKLOG] = backlog
        row[RUNNING] = max(s.workers, s.next_workers) if s.phase in (BOOTING, MOVING) else s.next_workers
        row[READY] = min(s.workers, row[RUNNING])
        row[CAPACITY] = capacity
        queueing = _busy(s, workers, coupling, done, worker_capacity, available, step_s)
        if out <= 0.0 < backlog:
            row[MEAN] = row[P50] = row[P95] = row[P99] = np.nan
        else:
            latency.settle(now - s.restarted_s, constants, waits)
            latency.tell(s, row, constants, capacity, waits, queueing)
        extra_cpu = constants.move_cpu if s.phase == MOVING else 0.0
        gauges.look(s, workers, constants, extra_cpu, row, record.instances[step], held, window, step_s, sensors)
        s.step += 1
        if stop_at_end and s.phase == STEADY and phase_before != STEADY:
            return step + 1, found
    return steps, found


@compiled
def _note(events: Floats, found: int, time_s: float, code: int) -> int:
    events[found, 0] = time_s
    events[found, 1] = code
    return found + 1


@compiled
def _next_phase(
    s: Any, lanes: Any, workers: Any, step_s: float, arrived: Floats, events: Floats, found: int
) -> tuple[float, int]:
    """Where the change of the fleet stands; returns the part of this step in which the job runs."""
    now = s.step * step_s
    if s.phase == BOOTING and now >= s.phase_end_s:
        if s.outage_s > 0.0:
            found = _stop_job(s, lanes, arrived, now, events, found)
        elif s.moving_s > 0.0:
            s.phase = MOVING
            s.phase_end_s = now + s.moving_s
        else:
            found = _take_over(s, lanes, workers, now, events, found)
    elif s.phase == MOVING and now >= s.phase_end_s:
        found = _take_over(s, lanes, workers, now, events, found)
    elif s.phase == REBALANCING and now >= s.phase_end_s:
        s.phase = STEADY
        found = _note(events, found, s.phase_end_s, RESCALE_END)
    elif s.phase == DETECTING and now >= s.phase_end_s:
        s.phase = STEADY
    if s.phase != OUTAGE:
        return 1.0, found
    available = min(1.0, (now + step_s - s.phase_end_s) / step_s)
    if available <= 0.0:
        return 0.0, found
    ended_s = s.phase_end_s
    found = _note(events, found, ended_s, OUTAGE_END)
    s.checkpoint_s = s.restarted_s = ended_s
    s.pending_s = np.nan
    return available, _take_over(s, lanes, workers, ended_s, events, found)


@compiled
def _stop_job(s: Any, lanes: Any, arrived: Floats, now: float, events: Floats, found: int) -> int:
    """The job stops; unless it saves its state first, it forgets what it did since the last checkpoint."""
    s.phase = OUTAGE
    s.phase_end_s = now + s.outage_s
    for g in range(lanes.size):
        lane = lanes[g]
        if s.keeps_position == 1:
            lane.checkpoint = lane.position
        s.replayed += lane.weight * (lane.position - lane.checkpoint)
        lane.position = lane.checkpoint
        lane.arrival = queues.find_arrival(arrived, lane.arrival, lane.position, s.step - 1)
    s.batch_running = 0
    return _note(events, found, now, OUTAGE_START)


@compiled
def _take_over(s: Any, lanes: Any, workers: Any, ended_s: float, events: Floats, found: int) -> int:
    """The new fleet takes up the work; with partitions that change hands after a pause."""
    s.workers = s.next_workers
    for i in range(s.workers):
        if math.isinf(workers[i].fresh_s):
            workers[i].fresh_s = ended_s
    s.worker_capacity = s.next_worker_capacity
    for i in range(workers.size):
        workers[i].share = workers[i].next_share
    for g in range(lanes.size):
        if lanes[g].owner != lanes[g].next_owner:
            lanes[g].owner = lanes[g].next_owner
            lanes[g].resume_s = ended_s + s.pause_s
    s.recovering = 1
    if s.pause_s > 0.0:
        s.phase = REBALANCING
        s.phase_end_s = ended_s + s.pause_s
        return found
    s.phase = STEADY
    return _note(events, found, ended_s, RESCALE_END)


@compiled
def _capacity(s: Any, workers: Any, constants: Constants, coupling: int, worker_capacity: float, now: float) -> float:
    """Events/s that the fleet can do; notes what each worker is able to."""
    least = np.inf
    total = 0.0
    for i in range(s.workers):
        w = workers[i]
        w.cold = min(1.0, max(0.0, 1.0 - (now - w.fresh_s) / constants.warmup_s))
        w.able = w.speed * (1.0 - constants.warmup_loss * w.cold)
        total += w.able
        if w.share > 0.0:
            least = min(least, w.able / w.share)
    if coupling == PULLED:
        for i in range(s.workers):
            workers[i].share = workers[i].able / total if total > 0.0 else 0.0
        return worker_capacity * total
    return worker_capacity * least


@compiled
def _save(s: Any, lanes: Any, constants: Constants, now: float) -> None:
    """Begin a checkpoint when it is due; it counts once it is complete."""
    if math.isnan(s.pending_s) and now - s.checkpoint_s >= constants.checkpoint_interval_s:
        s.pending_s = s.checkpoint_s = now
        for g in range(lanes.size):
            lanes[g].pending = lanes[g].position
    if now - s.pending_s >= constants.checkpoint_duration_s:
        s.pending_s = np.nan
        for g in range(lanes.size):
            lanes[g].checkpoint = lanes[g].pending


@compiled
def _backlog(s: Any, lanes: Any, arrived: Floats) -> float:
    there = arrived[s.step + 1]
    backlog = 0.0
    for g in range(lanes.size):
        backlog += lanes[g].weight * (there - lanes[g].position)
    return backlog


@compiled
def _longest_wait(s: Any, lanes: Any, arrived: Floats, step_s: float) -> float:
    now = (s.step + 1) * step_s
    longest = 0.0
    for g in range(lanes.size):
        longest = max(longest, queues.waited(arrived, lanes[g].arrival, lanes[g].position, now, step_s))
    return longest


@compiled
def _busy(
    s: Any, workers: Any, coupling: int, done: float, worker_capacity: float, available: float, step_s: float
) -> float:
    """How busy each worker was; returns the mean time an event queues at a worker below saturation (M/D/1)."""
    queueing = 0.0
    for i in range(s.workers):
        w = workers[i]
        if coupling != PARTITIONED:
            w.done = done * w.share
        can = worker_capacity * w.able
        if can <= 0.0:
            w.load = 0.0
            continue
        w.load = min(w.done / step_s / can, available)
        rho = min(w.load, RHO_MAX)
        queueing += w.share * rho / (2.0 * can * (1.0 - rho))
    return queueing
