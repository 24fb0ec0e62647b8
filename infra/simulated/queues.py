"""How far a job got in its source, compiled: positions, what waits beyond them, and for how long.

A lane is a part of the source that is read in order: all of it where one queue feeds the workers or back-pressure
ties them together, a partition where each goes its own way. A lane's position counts events of the whole source, so
that positions of lanes compare: a lane of weight w that moves on by d has processed w * d events.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.simulated.compiled import compiled

#: What the events that came out had waited: mean, median, 95th and 99th percentile, in seconds.
MEAN_WAIT, WAIT50, WAIT95, WAIT99 = range(4)


@compiled
def waited(arrived: Floats, arrival: int, position: float, now: float, step_s: float) -> float:
    """Seconds since the event at the position arrived, which it did during step `arrival`."""
    if arrival * step_s >= now:
        return 0.0
    within = arrived[arrival + 1] - arrived[arrival]
    part = (position - arrived[arrival]) / within if within > 0.0 else 0.0
    return max(0.0, now - (arrival + part) * step_s)


@compiled
def find_arrival(arrived: Floats, arrival: int, position: float, latest: int) -> int:
    """The step in which the event at the position arrived, sought from where it was before."""
    while arrival > 0 and arrived[arrival] > position:
        arrival -= 1
    while arrival <= latest and arrived[arrival + 1] <= position:
        arrival += 1
    return arrival


@compiled
def process_one_lane(s: Any, lanes: Any, arrived: Floats, can: float, step_s: float, waits: Floats) -> float:
    """All workers read one lane, up to what has arrived or what they can do in this step."""
    lane = lanes[0]
    there = arrived[s.step + 1]
    now = s.step * step_s
    before = waited(arrived, lane.arrival, lane.position, now, step_s)
    done: float = min(there - lane.position, can)
    lane.position = min(lane.position + done, there)
    lane.arrival = find_arrival(arrived, lane.arrival, lane.position, s.step)
    after = waited(arrived, lane.arrival, lane.position, now + step_s, step_s)
    waits[MEAN_WAIT] = waits[WAIT50] = 0.5 * (before + after)
    waits[WAIT95] = waits[WAIT99] = max(before, after)
    return done


@compiled
def process_partitions(
    s: Any, lanes: Any, workers: Any, arrived: Floats, worker_can: Floats, step_s: float, waits: Floats, scratch: Floats
) -> float:
    """Each worker reads its own lanes, the one that is furthest behind first."""
    there = arrived[s.step + 1]
    now = s.step * step_s
    todo, before, moved = scratch[0], scratch[1], scratch[2]
    late = _survey(lanes, arrived, there, now, step_s, todo, before)
    done = 0.0
    for worker in range(s.workers):
        workers[worker].done = min(todo[worker], worker_can[worker])
        done += workers[worker].done
        late = late or todo[worker] > worker_can[worker]
    for g in range(lanes.size):
        lane = lanes[g]
        moved[g] = 0.0
        if lane.resume_s <= now and todo[lane.owner] <= worker_can[lane.owner]:
            moved[g] = there - lane.position
            lane.position = there
    for worker in range(s.workers):
        if todo[worker] > worker_can[worker]:
            _level(lanes, worker, worker_can[worker], there, now, moved)
    for g in range(lanes.size):
        lanes[g].arrival = find_arrival(arrived, lanes[g].arrival, lanes[g].position, s.step)
    if late:
        _waits_of_lanes(lanes, arrived, before, moved, now + step_s, step_s, waits)
    else:
        waits[:] = 0.0
    return done


@compiled
def _survey(lanes: Any, arrived: Floats, there: float, now: float, step_s: float, todo: Floats, before: Floats) -> bool:
    """What each worker has to do, and how long each lane's next event has waited; tells whether any is late."""
    todo[:] = 0.0
    late = False
    for g in range(lanes.size):
        lane = lanes[g]
        before[g] = waited(arrived, lane.arrival, lane.position, now, step_s)
        late = late or before[g] > 0.0 or lane.resume_s > now
        if lane.resume_s <= now:
            todo[lane.owner] += lane.weight * (there - lane.position)
    return late


@compiled
def _level(lanes: Any, worker: int, can: float, there: float, now: float, moved: Floats) -> None:
    """Raise a worker's lowest lanes together until its work for this step is spent."""
    mine = np.array([g for g in range(lanes.size) if lanes[g].owner == worker and lanes[g].resume_s <= now])
    positions = np.array([lanes[g].position for g in mine])
    order = np.argsort(positions)
    left, weight = can, 0.0
    level = positions[order[0]]
    for rank in range(mine.size):
        # all lanes up to this one stand at `level`; the next one is where they meet it
        weight += lanes[mine[order[rank]]].weight
        upto = positions[order[rank + 1]] if rank + 1 < mine.size else there
        rise = min(upto - level, left / weight)
        level += rise
        left -= rise * weight
        if left <= 0.0:
            break
    for index in range(mine.size):
        lane = lanes[mine[index]]
        if lane.position < level:
            moved[mine[index]] = level - lane.position
            lane.position = level


@compiled
def _waits_of_lanes(
    lanes: Any, arrived: Floats, before: Floats, moved: Floats, now: float, step_s: float, waits: Floats
) -> None:
    """Mean and percentiles over the lanes, each with the events that it let out."""
    usual = np.empty(lanes.size)
    longest = np.empty(lanes.size)
    out = np.empty(lanes.size)
    for g in range(lanes.size):
        lane = lanes[g]
        after = waited(arrived, lane.arrival, lane.position, now, step_s)
        usual[g] = 0.5 * (before[g] + after)
        longest[g] = max(before[g], after)
        out[g] = lane.weight * moved[g]
    total = out.sum()
    if total <= 0.0:
        waits[:] = 0.0
        return
    waits[MEAN_WAIT] = (usual * out).sum() / total
    waits[WAIT50] = _weighted_quantile(usual, out, 0.5 * total)
    waits[WAIT95] = _weighted_quantile(longest, out, 0.95 * total)
    waits[WAIT99] = _weighted_quantile(longest, out, 0.99 * total)


@compiled
def _weighted_quantile(values: Floats, weights: Floats, at: float) -> float:
    """The smallest value below which weights of at least `at` lie."""
    below = 0.0
    order = np.argsort(values)
    for index in order:
        below += weights[index]
        if below >= at:
            return float(values[index])
    return float(values[order[-1]])


@compiled
def process_batches(
    s: Any, lanes: Any, arrived: Floats, rate: float, interval_s: float, overhead_s: float, step_s: float, waits: Floats
) -> tuple[float, float]:
    """Micro-batches: a batch takes what has arrived when it starts, and its events come out when it ends.

    A batch starts when its trigger is due and the one before it has ended. Returns the events processed in this step,
    and those that came out.
    """
    lane = lanes[0]
    clock = s.step * step_s
    end = clock + step_s
    per_second = (arrived[s.step + 1] - arrived[s.step]) / step_s
    done, out = 0.0, 0.0
    waits[:] = 0.0
    while clock < end:
        if s.batch_running == 0:
            clock = max(clock, s.trigger_s)
            if clock >= end:
                break
            there = min(arrived[s.step + 1], arrived[s.step] + per_second * (clock - s.step * step_s))
            s.trigger_s = clock + interval_s
            if there <= lane.position:
                continue
            s.batch_running = 1
            s.batch_end = there
            s.batch_begin_s = clock
            s.batch_first_s = clock - waited(arrived, lane.arrival, lane.position, clock, step_s)
            s.overhead_left_s = overhead_s
        spent = min(s.overhead_left_s, end - clock)
        s.overhead_left_s -= spent
        clock += spent
        if clock >= end or rate <= 0.0:
            break
        need = s.batch_end - lane.position
        if need > rate * (end - clock):
            done += rate * (end - clock)
            lane.position += rate * (end - clock)
            break
        clock += need / rate
        done += need
        lane.position = s.batch_end
        lane.arrival = find_arrival(arrived, lane.arrival, lane.position, s.step)
        s.batch_running = 0
        size = s.batch_end - lane.checkpoint
        lane.checkpoint = lane.position
        out += size
        span = s.batch_begin_s - s.batch_first_s
        waits[MEAN_WAIT] += size * (clock - s.batch_begin_s + 0.5 * span)
        waits[WAIT50] = max(waits[WAIT50], clock - s.batch_begin_s + 0.5 * span)
        waits[WAIT95] = max(waits[WAIT95], clock - s.batch_begin_s + 0.95 * span)
        waits[WAIT99] = max(waits[WAIT99], clock - s.batch_begin_s + 0.99 * span)
    if out > 0.0:
        waits[MEAN_WAIT] /= out
    return done, out
