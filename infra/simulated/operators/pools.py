"""Nodes with slots: a pool a region, grown by booting nodes and shrunk by releasing idle ones."""

from __future__ import annotations

from dataclasses import dataclass

from autoscalers.model import RegionView


@dataclass(slots=True, eq=False)
class Node:
    """A machine, paid for from the moment it is asked for, with slots for instances once it runs."""

    region: int
    running: bool
    used: int = 0
    """Slots that hold an instance."""


class Pool:
    """The nodes of one region."""

    def __init__(self, region: int, *, slots: int, most: int, initial: int) -> None:
        self.region = region
        self.slots = slots
        self.most = most
        """Nodes that the region has at most."""
        self.nodes = [Node(region, running=True) for _ in range(min(initial, most))]
        self.unmet = 0
        """Instances that wait for a slot here."""
        self._unmet_peak = 0
        self._view: RegionView | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def idle(self) -> int:
        """Nodes that run and hold no instance."""
        return sum(node.running and node.used == 0 for node in self.nodes)

    @property
    def busy(self) -> int:
        """Nodes that hold an instance."""
        return len(self.nodes) - [node.used for node in self.nodes].count(0)

    def take(self) -> Node | None:
        """A slot on the fullest node that has one, so that others can become idle; None if there is none."""
        free = [node for node in self.nodes if node.running and node.used < self.slots]
        if not free:
            return None
        chosen = max(free, key=lambda node: node.used)
        chosen.used += 1
        self._view = None
        return chosen

    def give_back(self, node: Node) -> None:
        """An instance leaves its slot."""
        node.used -= 1
        self._view = None

    def order(self) -> Node:
        """One more node, which has yet to boot."""
        node = Node(self.region, running=False)
        self.nodes.append(node)
        self._view = None
        return node

    def boot(self, node: Node) -> bool:
        """A node that was ordered runs; False if it was released before."""
        if node not in self.nodes:
            return False
        node.running = True
        self._view = None
        return True

    def release(self, count: int) -> int:
        """Give up to this many nodes back: those that still boot, the latest first, then idle ones.

        Nodes that hold an instance stay. Returns how many went.
        """
        spare = sorted((node for node in reversed(self.nodes) if node.used == 0), key=lambda node: node.running)
        for node in spare[:count]:
            self.nodes.remove(node)
        self._view = None
        return min(count, len(spare))

    def fullest(self) -> Node | None:
        """The running node with the most instances."""
        return max((node for node in self.nodes if node.running), key=lambda node: node.used, default=None)

    def lose(self, node: Node) -> None:
        """A node fails and is gone."""
        self.nodes.remove(node)
        self._view = None

    def wait(self, instances: int) -> None:
        """So many instances wait for a slot here now."""
        if instances != self.unmet:
            self.unmet = instances
            self._unmet_peak = max(self._unmet_peak, instances)
            self._view = None

    def observe(self) -> RegionView:
        """Nodes and slots as they are, and the most instances that waited at once since the last call.

        An instance that waited and was met in between would be missed by a look at this moment alone.
        """
        view = self._view
        if view is None:
            running = [node.used for node in self.nodes if node.running]
            view = RegionView(
                nodes=len(self.nodes),
                idle=running.count(0),
                unmet=self._unmet_peak,
                booting=len(self.nodes) - len(running),
                free=self.slots * len(running) - sum(running),
                slots=self.slots,
            )
            # the next view is the same only if no wait was over before this one
            self._view = view if self._unmet_peak == self.unmet else None
            self._unmet_peak = self.unmet
        return view
