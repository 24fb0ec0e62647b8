"""How long events take, compiled.

A response time has three parts. Service takes 1/mu. Below saturation events come unevenly and queue although there is
capacity for all: Pollaczek and Khinchine give mean and variance of the waiting time of an M/D/1 queue. Above it, or
while an instance does not serve, a backlog grows, and an event waits for all before it: the fluid queue. The fluid
waiting time is that of an event which comes now, if rates stay as they are.

Along a path means and variances add up, as if waiting at one operator said nothing about waiting at the next. Of
several paths through the graph the one with the longest mean counts: it bounds the time until all results of an event
are out. Percentiles are those of a gamma distribution with the mean and variance of what varies (Wilson and Hilferty's
approximation of its quantiles): one queue's waiting time is nearly of that kind, and so is a sum of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infra.simulated.compiled import compiled


@compiled
def fluid(backlog: float, hold_s: float, coming: float, drain: float, step_s: float) -> tuple[float, float, float]:
    """Waiting time of the events that come during a step: its mean, its second moment, and what it is at the end.

    It is as long as it takes to work off all before, and falls by a second a second while more work comes in.
    """
    if drain <= 0.0:
        left_s = np.inf if backlog + coming > 0.0 else max(0.0, hold_s - step_s)
        return left_s, left_s, left_s
    start_s = backlog / drain + hold_s
    slope = coming / (drain * step_s) - 1.0
    end_s = start_s + slope * step_s
    if end_s <= 0.0:
        # gone before the end of the step
        part = start_s / -slope / step_s if start_s > 0.0 else 0.0
        return 0.5 * start_s * part, start_s * start_s * part / 3.0, 0.0
    return 0.5 * (start_s + end_s), (start_s * start_s + start_s * end_s + end_s * end_s) / 3.0, end_s


@compiled
def queueing(busy: float, rate: float) -> tuple[float, float]:
    """Mean and variance of the waiting time of an M/D/1 queue."""
    mean_s = busy / (2.0 * rate * (1.0 - busy))
    return mean_s, mean_s * mean_s + busy / (3.0 * rate * rate * (1.0 - busy))


@compiled
def quantile(fixed_s: float, mean_s: float, var: float, z: float) -> float:
    """Of a time with a part that never varies and one that does."""
    varies_s = mean_s - fixed_s
    if varies_s <= 0.0 or var <= 0.0:
        return mean_s
    ninth = var / (9.0 * varies_s * varies_s)
    root = max(0.0, 1.0 - ninth + z * math.sqrt(ninth))
    return fixed_s + varies_s * root * root * root


@compiled
def end_to_end(operators: Any, edges: Any) -> tuple[float, float, float]:
    """The latency of the whole job, that of its longest path: mean, what of it never varies, variance.

    NaN where nothing comes out, because at one of the operators events wait and none is served.
    """
    nothing = (np.nan, np.nan, np.nan)
    job = nothing
    for o in range(operators.size):
        op = operators[o]
        longest = _over(op.entry_s, 0.0, op.entry_var, op.entrance_s, op.entrance_var) if op.source > 0.0 else nothing
        for e in range(op.first_edge, op.end_edge):
            edge = edges[e]
            before = operators[edge.origin]
            way = _over(before.path_mean_s, before.path_fixed_s, before.path_var, edge.latency_s, edge.latency_var)
            longest = _longer(longest, way)
        op.path_mean_s = longest[0] + op.mean_s
        op.path_fixed_s = longest[1] + op.fixed_s
        op.path_var = longest[2] + op.var
        if op.ends == 1:
            job = _longer(job, (op.path_mean_s, op.path_fixed_s, op.path_var))
    return job


@compiled
def _over(
    mean_s: float, fixed_s: float, var: float, latency_s: float, latency_var: float
) -> tuple[float, float, float]:
    """A path goes on over the network; latency that differs between instances is part of what varies."""
    return mean_s + latency_s, fixed_s + (latency_s if latency_var <= 0.0 else 0.0), max(0.0, var) + latency_var


@compiled
def _longer(one: tuple[float, float, float], other: tuple[float, float, float]) -> tuple[float, float, float]:
    return other if other[0] > one[0] or math.isnan(one[0]) else one
