"""Agents that learn how many of something to have: model-based with full backups, and model-free for comparison.

Both are told, step by step, in which state they are and what the last step cost beyond what is known beforehand, and
answer with an action. Section 6.2 of the paper uses the first for regions, section 7.2 for operators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial

import numpy as np

from autoscalers.e2df import backup
from autoscalers.e2df.backup import CHANGES, Floats

State = tuple[int, int, int]
"""How many there are (from 0 on), the level of load, and the flag."""


@dataclass(frozen=True, slots=True)
class Space:
    """The states, and what is known of costs."""

    counts: int
    levels: int
    flags: int
    """2 where only what a flag marks can be given up; otherwise 1."""
    known: Floats
    """[action, k] cost of arriving at k by an action."""


@dataclass(frozen=True, slots=True)
class Learning:
    """How an agent learns."""

    discount: float = 0.99
    rate: float = 0.1
    exploration: float = 0.0


class Agent(ABC):
    """Keeps Q(s, a), the cost to come. All start at zero."""

    def __init__(self, space: Space, learning: Learning, rng: np.random.Generator) -> None:
        self.space = space
        self.learning = learning
        self.rng = rng
        self.q = backup.no_costs(space.counts, space.levels, space.flags)
        self.cost = float("nan")
        """What the last step cost; NaN before the first."""
        self.unknown_cost = 0.0
        """The part of it that could not be known before."""
        self._before: tuple[State, int] | None = None
        last = space.counts - 1
        self._paid = [
            [float(costs[min(max(k + change, 0), last)]) for k in range(space.counts)]
            for change, costs in zip(CHANGES, space.known, strict=True)
        ]
        """[action][k] What is known of the cost of an action with k of them."""
        self._explores = learning.exploration

    def step(self, state: State, unknown: float) -> int:
        """Learn from the step that led here and answer with the next change: -1, 0 or +1."""
        if self._before is None:
            action = int(backup.greedy(self.q, *state))
        else:
            last, before = self._before
            self.unknown_cost = unknown
            self.cost = self._paid[before][last[0]] + unknown
            action = self.learn(last, before, state)
        if self._explores and self.rng.random() < self._explores:
            action = self.any_action(state)
        self._before = state, action
        return CHANGES[action]

    def any_action(self, state: State) -> int:
        """One that can be taken, at random."""
        k, level, flag = state
        return int(self.rng.choice(np.flatnonzero(np.isfinite(self.q[level, flag, :, k]))))

    @abstractmethod
    def learn(self, last: State, action: int, state: State) -> int:
        """What the step from `last` by an action to `state` tells; it cost `self.cost`. Returns the best action now."""


class ModelBased(Agent):
    """Estimates how load moves and what states cost, and backs every state up, every step (Algorithm 2).

    Before anything is seen, load is thought to stay where it is, and the flag to follow the action. That is one
    observation: the paper does not say what an estimate is before the first.
    """

    def __init__(self, space: Space, learning: Learning, rng: np.random.Generator) -> None:
        super().__init__(space, learning, rng)
        self.unknown: Floats = np.zeros((space.levels, space.flags, space.counts))
        self._level_seen: Floats = np.eye(space.levels)
        self._flag_seen: Floats = np.zeros((space.flags, len(CHANGES), space.flags))
        for flag in range(space.flags):
            for action, change in enumerate(CHANGES):
                follows = flag if change == 0 else int(change > 0)
                self._flag_seen[flag, action, min(follows, space.flags - 1)] = 1.0
        self.level: Floats = self._level_seen.copy()
        self.flag: Floats = self._flag_seen.copy()
        room = np.empty((2, *self.unknown.shape))
        seen = self._level_seen, self.level, self._flag_seen, self.flag
        model = self.q, space.known, self.unknown, *seen, room
        self._learn = partial(backup.learn, learning.rate, learning.discount, *model)

    def learn(self, last: State, action: int, state: State) -> int:
        return self._learn(last, action, state, self.unknown_cost)


class QLearning(Agent):
    """Model-free: only the value of the state that was left and the action that was taken is updated."""

    def learn(self, last: State, action: int, state: State) -> int:
        return backup.learn_one(self.learning.rate, self.learning.discount, self.q, last, action, state, self.cost)
