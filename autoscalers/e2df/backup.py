"""The full backup of a learned scaling model, compiled.

A state is (k, x, f): how many there are, a level of load, and a flag (always 0 where there is none). An action changes
k by -1, 0 or +1. The level moves on its own, the flag with the action (equation 3 of the paper):

    p(s'|s,a) = 1{k' = k+a} P[x'|x] P[f'|f,a]

So a state has but levels x flags successors, and what is expected of them depends on (k+a, x, f, a) alone: it is summed
once a (k, x, f) and shared by the three states that lead there. A backup costs O(K L^2) for K counts and L levels.

In all arrays k is the last index: what is done to one count is done to all, and the processor takes several at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])

#: Actions by their index.
CHANGES = (-1, 0, 1)
LESS, KEEP, MORE = range(3)


def _compiled(function: F) -> F:
    return cast("F", numba.njit(cache=True)(function))


def no_costs(counts: int, levels: int, flags: int) -> Floats:
    """Q before anything was learned: zero, and without bound for what cannot be done.

    Nothing can be taken from none, nor added to the most; where there is a flag, only what it marks can be given up.
    """
    q = np.zeros((levels, flags, len(CHANGES), counts))
    q[:, :, LESS, 0] = q[:, :, MORE, -1] = np.inf
    if flags == 2:
        q[:, 0, LESS] = np.inf
    return q


@_compiled
def greedy(q: Floats, k: int, x: int, f: int) -> int:
    """The action with the least cost to come; of several, doing nothing."""
    best = KEEP
    for action in (LESS, MORE):
        if q[x, f, action, k] < q[x, f, best, k]:
            best = action
    return best


@_compiled
def backup(
    q: Floats, known: Floats, unknown: Floats, level: Floats, flag: Floats, discount: float, room: Floats
) -> None:
    """One sweep of Algorithm 2, line 4, over all states and actions, each from the values before the sweep.

    `q[x, f, a, k]` is as `no_costs` makes it; `known[a, k]` is what arriving at k by action a costs for certain,
    `unknown[x, f, k]` the estimate for being there; `level[x, x']` and `flag[f, a, f']` are estimated probabilities.
    `room[2, x, f, k]` is overwritten: taking it from the system anew each time would take longer than the sweep.
    """
    levels, flags, counts = unknown.shape
    ahead, expected = room[0], room[1]
    _look_ahead(q, unknown, discount, ahead)
    _expect(ahead, level, expected)
    for x in range(levels):
        for f in range(flags):
            for action in range(3):
                if action == LESS and flags == 2 and f == 0:
                    continue
                # from k in [first, end) an action leads to k + change
                change = action - 1
                first, end = (1 if action == LESS else 0), (counts - 1 if action == MORE else counts)
                plain, flagged = flag[f, action, 0], flag[f, action, flags - 1]
                if flags == 1:
                    for k in range(first, end):
                        q[x, f, action, k] = known[action, k + change] + plain * expected[x, 0, k + change]
                else:
                    for k in range(first, end):
                        after = k + change
                        either = known[action, after] + plain * expected[x, 0, after]
                        q[x, f, action, k] = either + flagged * expected[x, 1, after]


@_compiled
def _look_ahead(q: Floats, unknown: Floats, discount: float, ahead: Floats) -> None:
    """What being in each state costs: the estimate for it, and what is to come at best."""
    levels, flags, counts = unknown.shape
    for x in range(levels):
        for f in range(flags):
            for k in range(counts):
                less, keep, more = q[x, f, LESS, k], q[x, f, KEEP, k], q[x, f, MORE, k]
                least = less if less < keep else keep
                ahead[x, f, k] = unknown[x, f, k] + discount * (more if more < least else least)


@_compiled
def _expect(ahead: Floats, level: Floats, expected: Floats) -> None:
    """The same over the levels that may follow each level."""
    levels = level.shape[0]
    states, totals = ahead.reshape((levels, -1)), expected.reshape((levels, -1))
    for x in range(levels):
        totals[x] = 0.0
        for then in range(levels):
            share = level[x, then]
            if share > 0.0:
                for state in range(totals.shape[1]):
                    totals[x, state] += share * states[then, state]


@_compiled
def observe_cost(unknown: Floats, k: int, x: int, f: int, cost: float, rate: float) -> None:
    """Equation (5), and after it the constraints: the cost falls with k and grows with x.

    They name neither flag: whatever it is, a state with no more and no lower load costs at least as much, one with no
    fewer and no higher load at most as much.
    """
    levels, flags, _ = unknown.shape
    unknown[x, f, k] += rate * (cost - unknown[x, f, k])
    now = unknown[x, f, k]
    for other in range(flags):
        for higher in range(x, levels):
            fewer = unknown[higher, other, : k + 1]
            for place in range(fewer.size):
                fewer[place] = now if fewer[place] < now else fewer[place]
        for lower in range(x + 1):
            more = unknown[lower, other, k:]
            for place in range(more.size):
                more[place] = now if more[place] > now else more[place]


@_compiled
def count(seen: Floats, shares: Floats) -> None:
    """What the transitions that were seen from a state make of its estimated probabilities."""
    total = seen.sum()
    for index in range(seen.size):
        shares[index] = seen[index] / total


@_compiled
def learn(
    rate: float,
    discount: float,
    q: Floats,
    known: Floats,
    unknown: Floats,
    level_seen: Floats,
    level: Floats,
    flag_seen: Floats,
    flag: Floats,
    room: Floats,
    last: tuple[int, int, int],
    action: int,
    state: tuple[int, int, int],
    cost: float,
) -> int:
    """Algorithm 2: what a step tells of probabilities and costs, then a full backup. Returns the greedy action.

    An action led from the `last` state to this one; `room` is what a backup needs.
    """
    _, was, flagged = last
    k, x, f = state
    level_seen[was, x] += 1.0
    count(level_seen[was], level[was])
    flag_seen[flagged, action, f] += 1.0
    count(flag_seen[flagged, action], flag[flagged, action])
    observe_cost(unknown, k, x, f, cost, rate)
    backup(q, known, unknown, level, flag, discount, room)
    return greedy(q, k, x, f)


@_compiled
def learn_one(
    rate: float,
    discount: float,
    q: Floats,
    last: tuple[int, int, int],
    action: int,
    state: tuple[int, int, int],
    cost: float,
) -> int:
    """Q-learning: what a step tells of the state that was left alone. Returns the greedy action."""
    before, was, flagged = last
    k, x, f = state
    target = cost + discount * q[x, f, greedy(q, k, x, f), k]
    q[was, flagged, action, before] += rate * (target - q[was, flagged, action, before])
    return greedy(q, k, x, f)
