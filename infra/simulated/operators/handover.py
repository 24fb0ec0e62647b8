"""What a change of an operator's crew does to its instances, compiled: each has a dozen figures to be set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Floats
from infra.simulated.compiled import compiled


@compiled
def reorder(mine: Any, order: NDArray[np.int64]) -> None:
    """Instances change places, and take what waits for them along."""
    before = mine.copy()
    for place in range(order.size):
        mine[place] = before[order[place]]


@compiled
def take_over(mine: Any, before: int, shares: Floats, pause_s: float) -> None:
    """So many share the work anew, and what waits with it; they serve after a pause."""
    now = shares.size
    waiting = 0.0
    for i in range(before):
        waiting += mine[i].backlog
    for i in range(now, before):
        gone = mine[i]
        gone.speed = gone.share = gone.backlog = gone.hold_s = gone.limit = gone.done = gone.cpu = 0.0
        gone.seen_cpu = gone.seen_memory = gone.seen_rate = gone.seen_backlog = 0.0
        gone.up = 0
    for i in range(now):
        it = mine[i]
        if i >= before:
            it.seen_cpu = it.seen_memory = it.seen_rate = it.seen_backlog = np.nan
        it.share = shares[i]
        it.backlog = waiting * shares[i]
        it.hold_s = max(it.hold_s, pause_s)


@compiled
def show(op: Any, mine: Any, wanted: int, running: int, nodes: int, up: Any, speed: Floats) -> None:
    """Who is up, and how fast."""
    op[0].wanted = wanted
    op[0].running = running
    op[0].nodes = nodes
    for i in range(up.size):
        mine[i].up = up[i]
        mine[i].speed = speed[i]
