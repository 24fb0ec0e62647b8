"""Where a new instance goes, and which one leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from autoscalers.model import Floats
from infra.simulated.operators.pools import Node
from infra.simulated.operators.topology import Topology

Counts = Sequence[Sequence[int]]
"""Instances by operator and region. Lists: they are short, and asked for one at a time."""


class Placement(ABC):
    """A policy that knows the graph and the network, and is asked about one operator at a time.

    Within a region an instance always goes to the fullest node that has a slot.
    """

    def __init__(
        self,
        topology: Topology,
        latency_s: Floats,
        homes: Sequence[int],
        rng: np.random.Generator,
        random_leave: float,
    ) -> None:
        self.homes = homes
        """[operator] The region that is its home."""
        self.upstream = [topology.upstream(operator) for operator in range(len(topology.operators))]
        self.latency_s = latency_s
        """[from region, to region]"""
        self.rng = rng
        self.random_leave = random_leave
        """The chance that any instance leaves, and not one on the least used node."""

    @abstractmethod
    def regions(self, operator: int, instances: Counts) -> Sequence[int]:
        """Regions that an instance of this operator may go to, the best first.

        If no region has a slot, the instance waits for one in the first.
        """

    def leaver(self, nodes: Sequence[Node]) -> int:
        """Which of an operator's instances leaves, given the node of each: one on the least used, so that it may
        become idle, of several the last; or any of them, by chance."""
        if self.random_leave and self.rng.random() < self.random_leave:
            return int(self.rng.integers(len(nodes)))
        return min(range(len(nodes)), key=lambda index: (nodes[index].used, -index))


class Near(Placement):
    """As near as possible to the instances that it reads from, counted in latency; in any region if need be."""

    def regions(self, operator: int, instances: Counts) -> Sequence[int]:
        upstream = [instances[it] for it in self.upstream[operator]]
        # events are offered in the first region
        from_there = np.sum(upstream, axis=0) if upstream else np.eye(1, self.latency_s.shape[0])[0]
        added: list[int] = np.argsort(from_there @ self.latency_s, kind="stable").tolist()
        return added


class Home(Placement):
    """In the region where most of the operator's other instances are, the first one at its home, and nowhere else.

    Reference: G. Russo Russo et al., "Multi-Level Elasticity for Wide-Area Data Streaming Systems: A Reinforcement
    Learning Approach", Algorithms 11(9), 2018, section 7. Where an operator's first instance goes is not said there.
    """

    def regions(self, operator: int, instances: Counts) -> Sequence[int]:
        mine = instances[operator]
        most = max(mine)
        return [mine.index(most) if most else self.homes[operator]]


PLACEMENTS: dict[str, type[Placement]] = {"near": Near, "home": Home}


def create(
    name: str,
    topology: Topology,
    latency_s: Floats,
    homes: Sequence[int],
    rng: np.random.Generator,
    random_leave: float,
) -> Placement:
    if name not in PLACEMENTS:
        raise ValueError(f'unknown placement "{name}"; there are: {", ".join(PLACEMENTS)}')
    return PLACEMENTS[name](topology, latency_s, homes, rng, random_leave)
