"""The full backup of a learned scaling model, compiled.

A state is (k, x, f): how many there are, a level of load, and a flag (always 0 where there is none). An action changes
k by -1, 0 or +1. The level moves on its own, the flag with the action (equation 3 of the paper):

    p(s'|s,a) = 1{k' = k+a} P[x'|x] P[f'|f,a]

So a state has but levels x flags successors, and what is expected of them depends on (k+a, x, f, a) alone: it is summed
once a (k, x, f) and shared by the three states that lead there. A backup costs O(K L^2) for K counts and L levels.
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


@_compiled
def _allowed(k: int, f: int, action: int, counts: int, flags: int) -> bool:
    """Where there is a flag, only what it marks can be given up."""
    if action == 0:
        return k > 0 and (flags == 1 or f == 1)
    return action == 1 or k < counts - 1


@_compiled
def greedy(q: Floats, k: int, x: int, f: int) -> int:
    """The action with the least cost to come; of several, doing nothing."""
    best = 1
    for action in (0, 2):
        if _allowed(k, f, action, q.shape[0], q.shape[2]) and q[k, x, f, action] < q[k, x, f, best]:
            best = action
    return best


@_compiled
def backup(q: Floats, known: Floats, unknown: Floats, level: Floats, flag: Floats, discount: float) -> None:
    """One sweep of Algorithm 2, line 4, over all states and actions, each from the values before the sweep.

    `known[k, a]` is what arriving at k by action a costs for certain, `unknown[k, x, f]` the estimate for being there;
    `level[x, x']` and `flag[f, a, f']` are the estimated probabilities.
    """
    counts, levels, flags = unknown.shape
    expected = _expected(_ahead(q, unknown, discount), level)
    for k in range(counts):
        for action in range(3):
            after = k + action - 1
            for f in range(flags):
                if not _allowed(k, f, action, counts, flags):
                    continue
                for x in range(levels):
                    total = known[after, action]
                    for then in range(flags):
                        total += flag[f, action, then] * expected[after, x, then]
                    q[k, x, f, action] = total


@_compiled
def _ahead(q: Floats, unknown: Floats, discount: float) -> Floats:
    """What being in each state costs: the estimate for it, and what is to come at best."""
    counts, levels, flags = unknown.shape
    ahead = np.empty((counts, levels, flags))
    for k in range(counts):
        for x in range(levels):
            for f in range(flags):
                ahead[k, x, f] = unknown[k, x, f] + discount * q[k, x, f, greedy(q, k, x, f)]
    return ahead


@_compiled
def _expected(ahead: Floats, level: Floats) -> Floats:
    """The same over the levels that may follow each level."""
    counts, levels, flags = ahead.shape
    expected = np.zeros((counts, levels, flags))
    for x in range(levels):
        for then in range(levels):
            share = level[x, then]
            if share > 0.0:
                for k in range(counts):
                    for f in range(flags):
                        expected[k, x, f] += share * ahead[k, then, f]
    return expected


@_compiled
def observe_cost(unknown: Floats, k: int, x: int, f: int, cost: float, rate: float) -> None:
    """Equation (5), and after it the constraints: the cost falls with k and grows with x.

    They name neither flag: whatever it is, a state with no more and no lower load costs at least as much, one with no
    fewer and no higher load at most as much.
    """
    counts, levels, flags = unknown.shape
    unknown[k, x, f] += rate * (cost - unknown[k, x, f])
    now = unknown[k, x, f]
    for other in range(flags):
        for fewer in range(k + 1):
            for higher in range(x, levels):
                unknown[fewer, higher, other] = max(unknown[fewer, higher, other], now)
        for more in range(k, counts):
            for lower in range(x + 1):
                unknown[more, lower, other] = min(unknown[more, lower, other], now)


@_compiled
def count(seen: Floats, shares: Floats) -> None:
    """What the transitions that were seen from a state make of its estimated probabilities."""
    total = seen.sum()
    for index in range(seen.size):
        shares[index] = seen[index] / total


@_compiled
def learn(
    q: Floats,
    known: Floats,
    unknown: Floats,
    level_seen: Floats,
    level: Floats,
    flag_seen: Floats,
    flag: Floats,
    before: tuple[int, int, int],
    state: tuple[int, int, int],
    cost: float,
    rate: float,
    discount: float,
) -> int:
    """Algorithm 2: what a step tells of probabilities and costs, then a full backup. Returns the greedy action.

    `before` is the level, the flag and the action of the last step.
    """
    k, x, f = state
    was, flagged, action = before
    level_seen[was, x] += 1.0
    count(level_seen[was], level[was])
    flag_seen[flagged, action, f] += 1.0
    count(flag_seen[flagged, action], flag[flagged, action])
    observe_cost(unknown, k, x, f, cost, rate)
    backup(q, known, unknown, level, flag, discount)
    return greedy(q, k, x, f)
