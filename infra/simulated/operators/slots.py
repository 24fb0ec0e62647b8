"""Slots for the instances of all operators: taken, given back, waited for."""

from __future__ import annotations

from collections.abc import Mapping

from infra.simulated.operators.placement import Placement
from infra.simulated.operators.pools import Node, Pool


class Slots:
    """The pools of all regions, and how many instances of which operator are where."""

    def __init__(self, operators: int, pools: Mapping[str, Pool], placement: Placement) -> None:
        self.pools = list(pools.values())
        self._regions = list(pools)
        self.placement = placement
        self.waiting: dict[int, tuple[int, int]] = {}
        """By operator, the longest waiting first: in which region it waits, and for how many slots."""
        self._counts = [[0] * len(pools) for _ in range(operators)]
        self._where: dict[int, dict[str, int]] = {}

    @property
    def nodes(self) -> int:
        return sum(len(pool.nodes) for pool in self.pools)

    def take(self, operator: int) -> Node | None:
        """A slot in the best region that has one."""
        for region in self.placement.regions(operator, self._counts):
            node = self.pools[region].take()
            if node is not None:
                self._counts[operator][region] += 1
                self._where.clear()
                return node
        return None

    def take_on_new_node(self, operator: int) -> Node | None:
        """A slot on a node that is added and runs at once, in the best region that may have more."""
        for region in self.placement.regions(operator, self._counts):
            pool = self.pools[region]
            if len(pool) < pool.most:
                pool.boot(pool.order())
                return self.take(operator)
        return None

    def give_back(self, operator: int, node: Node) -> None:
        self._counts[operator][node.region] -= 1
        self._where.clear()
        self.pools[node.region].give_back(node)

    def where(self, operator: int) -> dict[str, int]:
        """Instances of an operator by region: first the one where a new instance would go, then others that have some.

        What one operator does may change where another would go; so all are looked up anew after each change.
        """
        found = self._where.get(operator)
        if found is None:
            best = self.placement.regions(operator, self._counts)[0]
            mine = self._counts[operator]
            others = {self._regions[region]: count for region, count in enumerate(mine) if count and region != best}
            found = self._where[operator] = {self._regions[best]: mine[best], **others}
        return found

    def wait(self, operator: int, instances: int) -> int | None:
        """So many instances of an operator wait for a slot now; returns the region in which they do, the best one."""
        where, before = self.waiting.get(operator, (0, 0))
        self.pools[where].wait(self.pools[where].unmet - before)
        if not instances:
            self.waiting.pop(operator, None)
            return None
        where = self.placement.regions(operator, self._counts)[0]
        self.pools[where].wait(self.pools[where].unmet + instances)
        self.waiting[operator] = (where, instances)
        return where
