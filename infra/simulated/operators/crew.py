"""The instances of one operator, as those who place and count them know them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoscalers.model import Flags, Floats
from infra.simulated.operators.pools import Node


@dataclass(slots=True, eq=False)
class Instance:
    """One process with a slot on a node; without one after its node was lost, until it finds another."""

    node: Node | None
    started_s: float
    ready_since_s: float
    speed: float
    ready: bool = False
    slowed_to: float = 1.0
    """The share of its speed that a fault leaves it."""
    down_until_s: float = 0.0

    def turn(self, ready: bool, now: float) -> None:
        if ready != self.ready:
            self.ready = ready
            self.ready_since_s = now


class Crew:
    """Those that serve, and after them those that start. Of those that serve, the last ones may be leaving.

    Their order changes only when a decision makes some leave, which puts these last. So the samples between two
    decisions show the same instance in the same column.
    """

    def __init__(self) -> None:
        self.wanted = 0
        self.members: list[Instance] = []
        self.serving = 0
        self.leaving = 0
        self.changing = False
        """Whether instances start or leave, or the operator pauses for it."""
        self.refused = 0
        """Instances that were asked for and found no slot."""
        self._arrays: tuple[Flags, Floats, Floats] | None = None

    @property
    def staying(self) -> list[Instance]:
        return self.members[: len(self.members) - self.leaving]

    @property
    def homeless(self) -> list[Instance]:
        """Those that lost their node and need another."""
        return [member for member in self.staying if member.node is None]

    @property
    def unmet(self) -> int:
        """Instances that wait for a slot."""
        return min(self.refused, max(0, self.wanted - len(self.members))) + len(self.homeless)

    @property
    def nodes(self) -> int:
        """Nodes that hold some of them."""
        return len({id(member.node) for member in self.members if member.node is not None})

    def arrays(self) -> tuple[Flags, Floats, Floats]:
        """Of each instance whether it is ready, when it was created, and when it last became ready or ceased to be."""
        if self._arrays is None:
            self._arrays = (
                np.array([member.ready for member in self.members], dtype=np.bool_),
                np.array([member.started_s for member in self.members]),
                np.array([member.ready_since_s for member in self.members]),
            )
            for array in self._arrays:
                array.flags.writeable = False  # handed out as they are until something changes
        return self._arrays

    def changed(self) -> None:
        """Make the next arrays new ones."""
        self._arrays = None
