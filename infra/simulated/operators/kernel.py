"""The hot loop, compiled: events flow through a graph of operators, a step at a time.

An instance is a fluid queue with a server. Within a step rates are constant, so what an operator emits reaches those
that read from it in the same step. A step has three passes over the operators:

1. forward: what could everybody process if nobody held anybody back;
2. backward: how much room is downstream. An instance whose buffer is full holds back all operators that send to it, in
   proportion to what each could send; operators that are held back fill up and hold back in turn, up to the source,
   whose events then wait outside, where there is room for all;
3. forward: what is processed, and how long it takes (response.py).

With `steady` each step stands for itself, as queueing formulas do: an operator passes on all that comes, nothing is
carried into the next step, and where more comes than can be served the response time has no bound.

No buffer is overrun: what is processed in pass 3 is at most what pass 2 had reckoned with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoscalers.model import Floats
from infra.simulated.compiled import compiled
from infra.simulated.operators.record import DRIFT, write_seen, write_truth
from infra.simulated.operators.response import end_to_end, fluid, queueing

STATE = np.dtype(
    [
        ("step", "i8"),
        ("stalled", "i8"),  # whether nothing can be read from outside
        ("changing", "i8"),  # rescales and restarts under way
        ("recovering", "i8"),  # whether something happened since the job was last up to date
        ("recovered_step", "i8"),  # when it was up to date again
        ("sight", "i8"),  # what the monitoring does: see gauges
        ("nodes", "i8"),
        ("visits", "i8"),  # instances looked at in all passes: what a run costs
    ]
)

OPERATOR = np.dtype(
    [
        ("instances", "i8"),  # that take part
        ("rate", "f8"),  # events/s of an instance of speed 1
        ("selectivity", "f8"),
        ("buffer", "f8"),  # events that an instance has room for
        ("source", "f8"),  # share of the offered events that it reads
        ("factor", "f8"),  # events that reach it per event offered
        ("entrance_s", "f8"),  # network latency from where events are offered, and its variance
        ("entrance_var", "f8"),
        ("first_edge", "i8"),
        ("end_edge", "i8"),
        ("ends", "i8"),  # whether nobody reads from it
        ("wanted", "i8"),
        ("running", "i8"),
        ("nodes", "i8"),
        ("outside", "f8"),  # events that wait outside to be read by it
        ("drift", "f8"),  # logarithm of what its rate has drifted to
        ("entered", "f8"),
        ("processed", "f8"),
        # of the step under way
        ("inflow", "f8"),
        ("done", "f8"),
        ("throttle", "f8"),  # share of what it could do that downstream has room for
        ("room", "f8"),  # events that it can take in
        ("waiting_s", "f8"),  # of the instance that is furthest behind, at the end of the step
        ("offered_rate", "f8"),  # events/s
        ("done_rate", "f8"),
        ("backlog", "f8"),
        ("memory", "f8"),
        ("capacity", "f8"),
        ("mean_s", "f8"),  # response time: mean, its part that never varies, variance
        ("fixed_s", "f8"),
        ("var", "f8"),
        ("entry_s", "f8"),  # waiting time outside, and its variance; NaN while nothing can be read
        ("entry_var", "f8"),
        ("path_mean_s", "f8"),  # response time from where events are offered up to here, as above
        ("path_fixed_s", "f8"),
        ("path_var", "f8"),
    ]
)

INSTANCE = np.dtype(
    [
        ("share", "f8"),
        ("speed", "f8"),
        ("backlog", "f8"),
        ("hold_s", "f8"),  # for this long it does not serve
        ("up", "i8"),
        # of the step under way
        ("limit", "f8"),  # events it can process
        ("done", "f8"),
        ("cpu", "f8"),
        # what the monitoring read last
        ("seen_cpu", "f8"),
        ("seen_memory", "f8"),
        ("seen_rate", "f8"),
        ("seen_backlog", "f8"),
    ]
)

EDGE = np.dtype([("origin", "i8"), ("latency_s", "f8"), ("latency_var", "f8")])


#: The profile's figures that the loop needs; units and sources stand in the job's profile.
FIGURES = (
    *("step_s", "saturation", "steady", "recovered_wait_s"),
    *("cpu_idle", "cpu_full", "memory_base", "memory_state"),
    *("cpu_noise", "throughput_noise", "capacity_noise", "capacity_noise_time_s"),
)
CONSTANTS = np.dtype([(name, "f8") for name in FIGURES])


@compiled
def advance(
    state: Any,
    figures: Any,
    operators: Any,
    instances: Any,
    edges: Any,
    offered: Floats,
    noise: Floats,
    held: Floats,
    rows: Floats,
    samples: Floats,
    steps: int,
) -> None:
    """Let steps pass. `offered[t]` is the number of events offered in step t; rows, samples and noise start now.

    `figures` are the constants, `held` is what the monitoring read last.
    """
    s, constants = state[0], figures[0]
    remember = math.exp(-constants.step_s / constants.capacity_noise_time_s)
    renew = constants.capacity_noise * math.sqrt(1.0 - remember * remember)
    for step in range(steps):
        for o in range(operators.size):
            operators[o].drift = remember * operators[o].drift + renew * noise[step, o, DRIFT]
        _could(s, operators, instances, edges, offered[s.step], constants.step_s, constants.steady)
        _hold_back(s, operators, instances, edges)
        _flow(s, operators, instances, edges, offered[s.step], constants)
        workload = offered[s.step] / constants.step_s
        write_truth(workload, s.nodes, end_to_end(operators, edges), operators, instances, rows[step])
        write_seen(s.sight, constants, operators, instances, noise[step], held, rows[step], samples[step])
        s.step += 1
        if s.recovering == 1 and s.changing == 0 and _behind(operators) <= constants.recovered_wait_s:
            s.recovering = 0
            s.recovered_step = s.step


@compiled
def _could(s: Any, operators: Any, instances: Any, edges: Any, offered: float, step_s: float, steady: float) -> None:
    """What everybody could process if nobody held anybody back; in a steady state that is whatever comes."""
    for o in range(operators.size):
        op = operators[o]
        op.inflow = 0.0 if s.stalled == 1 else op.outside + offered * op.source
        for e in range(op.first_edge, op.end_edge):
            origin = operators[edges[e].origin]
            op.inflow += origin.done * origin.selectivity
        rate = op.rate * math.exp(op.drift)
        op.done = 0.0
        op.throttle = 1.0
        for i in range(op.instances):
            it = instances[o, i]
            it.limit = rate * it.speed * max(0.0, step_s - it.hold_s)
            if steady > 0.0 and it.limit > 0.0:
                it.limit = np.inf
            it.done = min(it.limit, it.backlog + it.share * op.inflow)
            op.done += it.done
        s.visits += op.instances


@compiled
def _hold_back(s: Any, operators: Any, instances: Any, edges: Any) -> None:
    """From the ends to the sources: how much each has room for, and what that leaves of what others could do."""
    for o in range(operators.size - 1, -1, -1):
        op = operators[o]
        op.room = np.inf
        for i in range(op.instances):
            it = instances[o, i]
            if op.throttle < 1.0:
                it.limit = op.throttle * it.done
            if it.share > 0.0:
                op.room = min(op.room, max(0.0, op.buffer - it.backlog + it.limit) / it.share)
        s.visits += op.instances
        if op.inflow > op.room:
            for e in range(op.first_edge, op.end_edge):
                origin = operators[edges[e].origin]
                origin.throttle = min(origin.throttle, op.room / op.inflow)


@compiled
def _flow(s: Any, operators: Any, instances: Any, edges: Any, offered: float, constants: Any) -> None:
    """What is processed, and how long it takes."""
    for o in range(operators.size):
        op = operators[o]
        fits = op.room / op.inflow if op.inflow > op.room else 1.0
        op.inflow = 0.0
        for e in range(op.first_edge, op.end_edge):
            origin = operators[edges[e].origin]
            op.inflow += origin.done * origin.selectivity
        op.offered_rate = op.inflow / constants.step_s
        op.waiting_s = 0.0
        if op.source > 0.0:
            _read(s.stalled, op, offered * op.source, fits, constants.step_s)
        op.entered += op.inflow
        _serve(op, instances[o], constants)
        op.processed += op.done
        s.visits += op.instances


@compiled
def _read(stalled: int, op: Any, arriving: float, fits: float, step_s: float) -> None:
    """Take events from outside, as many as there is room for; the others wait there."""
    rate = 0.0 if stalled == 1 else op.room / step_s
    mean_s, second, op.waiting_s = fluid(op.outside, 0.0, arriving, rate, step_s)
    op.entry_s = mean_s if mean_s < np.inf else np.nan
    op.entry_var = second - mean_s * mean_s if mean_s < np.inf else np.nan
    there = op.outside + arriving
    taken = 0.0 if stalled == 1 else there * fits
    op.outside = there - taken
    op.inflow += taken
    op.offered_rate += arriving / step_s


@compiled
def _serve(op: Any, instances: Any, constants: Any) -> None:
    """All instances of an operator work off what they can; sums over them make its response time."""
    step_s = constants.step_s
    rate = op.rate * math.exp(op.drift)
    bounded = True
    op.done = fixed = total = squares = service = 0.0
    op.backlog = op.outside
    op.capacity = np.inf
    for i in range(op.instances):
        it = instances[i]
        serves_s = max(0.0, step_s - it.hold_s)
        own = rate * it.speed
        service += it.share / own
        if it.share > 0.0:
            op.capacity = min(op.capacity, own * serves_s / step_s / it.share)
        coming = it.share * op.inflow
        there = it.backlog + coming
        it.done = min(it.limit, there)
        # an instance that is held back is as slow as those who hold it back
        drain = it.limit / serves_s if serves_s > 0.0 else 0.0
        mean_s, second, left_s = fluid(it.backlog, it.hold_s, coming, drain, step_s)
        op.waiting_s = max(op.waiting_s, left_s)
        if it.done > 0.0:
            busy = coming / step_s / own
            bounded = bounded and (constants.steady == 0.0 or busy < 1.0)
            busy = min(busy, constants.saturation)
            queued_s, queued_var = queueing(busy, own)
            whole_s = 1.0 / own + mean_s + queued_s
            fixed += it.done / own
            total += it.done * whole_s
            squares += it.done * (whole_s * whole_s + second - mean_s * mean_s + queued_var)
        it.cpu = constants.cpu_idle + (constants.cpu_full - constants.cpu_idle) * min(1.0, it.done / (own * step_s))
        it.backlog = there - it.done
        it.hold_s = max(0.0, it.hold_s - step_s)
        op.done += it.done
        op.backlog += it.backlog
    op.done_rate = op.done / step_s
    op.memory = min(1.0, constants.memory_base + constants.memory_state / op.instances)
    if op.done > 0.0 and not bounded:
        # a queue that gets more than it can serve has no steady state: its waiting time has no bound
        op.mean_s = op.fixed_s = op.var = np.nan
    elif op.done > 0.0:
        op.mean_s = total / op.done
        op.fixed_s = fixed / op.done
        op.var = max(0.0, squares / op.done - op.mean_s * op.mean_s)
    else:
        # with nothing to do, an event would only be served; if events wait all the same, none comes out
        op.mean_s = service if op.backlog <= 0.0 else np.nan
        op.fixed_s = op.mean_s
        op.var = 0.0


@compiled
def _behind(operators: Any) -> float:
    """Seconds that events wait where they wait longest."""
    longest_s = 0.0
    for o in range(operators.size):
        longest_s = max(longest_s, operators[o].waiting_s)
    return longest_s
