"""The hot loop of a job that scales as one, a step at a time, compiled.

How far the job got in its source stands in lanes (infra/simulated/queues.py). What has arrived and lies beyond a
lane's position is its backlog; how long ago the event at the position arrived is the time that events wait. A restart
sets positions back to the last checkpoint. What a policy sees of all this is another matter
(infra/simulated/gauges.py).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autoscalers.model import Floats
from infra.simulated import gauges, queues
from infra.simulated.compiled import compiled

STEADY, BOOTING, OUTAGE, MOVING, REBALANCING, DETECTING = range(6)
"""What a change of the fleet is doing: nothing; waiting for new workers; restarting the job; moving state while the
old workers go on; handing partitions over; noticing that a worker is gone."""

SHARED, PULLED, PARTITIONED = range(3)
"""How workers hold each other back: jobs.model.Coupling."""

OUTAGE_START, OUTAGE_END, RESCALE_END, RECOVERED = range(4)
"""Codes of events."""

STATE = np.dtype(
    [
        ("step", "i8"),
        ("phase", "i8"),
        ("phase_end_s", "f8"),
        ("outage_s", "f8"),  # of the change under way, as the following two
        ("moving_s", "f8"),
        ("pause_s", "f8"),
        ("keeps_position", "i8"),  # whether the restart under way begins with a checkpoint
        ("workers", "i8"),
        ("next_workers", "i8"),
        ("worker_capacity", "f8"),
        ("next_worker_capacity", "f8"),
        ("drift", "f8"),
        ("recovering", "i8"),
        ("checkpoint_s", "f8"),
        ("pending_s", "f8"),  # when the checkpoint under way was begun; NaN if none is
        ("restarted_s", "f8"),
        ("replayed", "f8"),
        ("processed", "f8"),
        ("trigger_s", "f8"),  # micro-batches: when the next one is due, and the one that runs
        ("batch_running", "i8"),
        ("batch_begin_s", "f8"),
        ("batch_first_s", "f8"),
        ("batch_end", "f8"),
        ("overhead_left_s", "f8"),
        ("source_open", "i8"),  # faults
        ("network_delay_s", "f8"),
        ("sight", "i8"),
    ]
)

LANE = np.dtype(
    [
        ("position", "f8"),
        ("arrival", "i8"),  # the step in which the event at the position arrived
        ("checkpoint", "f8"),
        ("pending", "f8"),
        ("weight", "f8"),
        ("owner", "i8"),
        ("next_owner", "i8"),
        ("resume_s", "f8"),  # until then nobody reads it
    ]
)

WORKER = np.dtype(
    [
        ("share", "f8"),
        ("next_share", "f8"),
        ("speed", "f8"),
        ("fresh_s", "f8"),  # when its process began to serve; infinite for one that is still to
        ("able", "f8"),  # in this step: its share of a warm, sound worker's speed,
        ("cold", "f8"),  # how far it is from having warmed up,
        ("done", "f8"),  # the events it processed,
        ("load", "f8"),  # and how busy it was
    ]
)

# columns of the recorded rows: first the truth, then what the monitoring showed
(WORKLOAD, THROUGHPUT, BACKLOG, MEAN, P50, P95, P99, RUNNING, READY, CAPACITY, CPU, MEMORY) = range(12)
SEEN_WORKLOAD, SEEN_THROUGHPUT, SEEN_BACKLOG, SEEN_LATENCY, SEEN_CPU = range(12, 17)
ROW_COLUMNS = 17

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
    memory_per_event: float
    latency_base_s: float
    latency_spread: float
    latency_idle_s: float
    latency_idle_load: float
    checkpoint_interval_s: float
    checkpoint_duration_s: float
    warmup_s: float
    warmup_loss: float
    warmup_cpu: float
    settle_latency_s: float
    settle_flat_s: float
    settle_s: float
    capacity_noise: float
    capacity_noise_time_s: float
    move_loss: float
    move_cpu: float
    batch_interval_s: float
    batch_overhead_s: float
    cpu_noise: float
    throughput_noise: float
    sample_period_s: float


class Record(NamedTuple):
    """Where the loop writes, from its first step on."""

    rows: Floats
    instances: Floats
    events: Floats


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
            _settle(now - s.restarted_s, constants, waits)
            _latency(s, row, constants, capacity, waits, queueing)
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


@compiled
def _settle(age_s: float, constants: Constants, waits: Floats) -> None:
    """For a while after a restart events are late by this much at least, even if next to none waited."""
    left_s = constants.settle_s - age_s
    if left_s <= 0.0:
        return
    falls_s = constants.settle_s - constants.settle_flat_s
    late = constants.settle_latency_s * (1.0 if left_s >= falls_s else left_s / falls_s)
    for i in range(waits.size):
        waits[i] = max(waits[i], late)


@compiled
def _latency(s: Any, row: Floats, constants: Constants, capacity: float, waits: Floats, queueing: float) -> None:
    """End-to-end latency of the events that came out: base, plus waiting in the source, plus queueing at a worker."""
    spread = constants.latency_spread
    load = row[THROUGHPUT] / capacity if capacity > 0.0 else 1.0
    base = constants.latency_base_s + constants.latency_idle_s * math.exp(-load / constants.latency_idle_load)
    late = s.network_delay_s
    row[MEAN] = base * math.exp(0.5 * spread * spread) + late + waits[queues.MEAN_WAIT] + queueing
    row[P50] = base + late + waits[queues.WAIT50] + TAIL50 * queueing
    row[P95] = base * math.exp(spread * Z95) + late + waits[queues.WAIT95] + TAIL95 * queueing
    row[P99] = base * math.exp(spread * Z99) + late + waits[queues.WAIT99] + TAIL99 * queueing
