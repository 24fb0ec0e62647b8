"""The arrays that the kernel works on, kept in line with who is deployed where."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from autoscalers.model import Floats
from infra.simulated.fleet import Fleet
from infra.simulated.operators import handover, kernel, record
from infra.simulated.operators.crew import Crew
from infra.simulated.operators.network import Spot, travel
from infra.simulated.operators.topology import Topology
from jobs.operators import OperatorsProfile

#: Instances an operator that there is room for at first.
_WIDTH = 8
#: Events are offered in the first region.
_ENTRANCE = Spot(1.0, 0)
#: Ways between operators that are remembered: crews come and go, mostly to where they were before.
_WAYS = 1024


class Machinery:
    """State of operators, instances and the network between them."""

    def __init__(
        self, topology: Topology, parts: Sequence[OperatorsProfile], fleets: Sequence[Fleet], latency_s: Floats
    ) -> None:
        count = len(parts)
        self.state = np.zeros(1, dtype=kernel.STATE)
        self.operators = np.zeros(count, dtype=kernel.OPERATOR)
        self.instances = np.zeros((count, _WIDTH), dtype=kernel.INSTANCE)
        self.edges = np.zeros(len(topology.edges), dtype=kernel.EDGE)
        self.held: Floats = np.full((count + 1, record.ROW_COLUMNS - record.SEEN_WORKLOAD), np.nan)
        self._topology = topology
        self._fleets = fleets
        self._delay_s = 0.0
        self._spots: list[tuple[Spot, ...]] = [() for _ in parts]
        self._travel = lru_cache(maxsize=_WAYS)(partial(travel, latency_s=latency_s))
        self._changed: dict[int, Crew] = {}
        goals = [goal for _, goal in topology.edges]
        self.edges["origin"] = [origin for origin, _ in topology.edges]
        self.operators["first_edge"] = np.searchsorted(goals, np.arange(count), side="left")
        self.operators["end_edge"] = np.searchsorted(goals, np.arange(count), side="right")
        self.operators["selectivity"] = [operator.selectivity for operator in topology.operators]
        self.operators["buffer"] = [part["buffer_events"] for part in parts]
        self.operators["source"] = topology.sources
        self.operators["factor"] = topology.factors
        self.operators["ends"] = [topology.ends(index) for index in range(count)]

    @property
    def width(self) -> int:
        return self.instances.shape[1]

    def loads(self, operator: int) -> Floats:
        """The CPU that each instance used in the last step."""
        return np.array(self.instances["cpu"][operator])

    def reorder(self, operator: int, order: Sequence[int]) -> None:
        """Instances change places, and take what waits for them along."""
        handover.reorder(self.instances[operator], np.array(order))

    def take_over(self, operator: int, crew: Crew, pause_s: float) -> None:
        """A new crew shares the work anew, and what waits with it; it serves after a pause."""
        mine, fleet, now = self.operators[operator], self._fleets[operator], crew.serving
        if now > self.width:
            wider = np.zeros((self.operators.size, max(now, 2 * self.width)), dtype=kernel.INSTANCE)
            wider[:, : self.width] = self.instances
            self.instances = wider
        handover.take_over(self.instances[operator], int(mine["instances"]), fleet.shares(now), pause_s)
        mine["instances"] = now
        mine["rate"] = fleet.worker_capacity(now)
        self.update(operator, crew)

    def stop(self, operator: int, instance: int, seconds: float) -> None:
        self.instances[operator, instance]["hold_s"] = seconds

    def update(self, operator: int, crew: Crew) -> None:
        """Instances have come, gone, moved, or are up or down: the arrays show it when time goes on."""
        self._changed[operator] = crew

    def refresh(self) -> None:
        """Bring the arrays in line with the crews that have changed."""
        for operator, crew in self._changed.items():
            self._show(operator, crew)
        self._changed.clear()

    def _show(self, operator: int, crew: Crew) -> None:
        serving = crew.members[: crew.serving]
        handover.show(
            self.operators[operator : operator + 1],
            self.instances[operator],
            crew.wanted,
            len(crew.members),
            crew.nodes,
            np.array([member.ready for member in serving]),
            np.array([member.speed * member.slowed_to for member in serving]),
        )
        spots = _spots(crew, self._fleets[operator].shares(crew.serving).tolist())
        if spots and spots != self._spots[operator]:
            self._spots[operator] = spots
            self._measure_entrance(operator)
            self._measure_edges(operator)

    def delay(self, seconds: float) -> None:
        """Every event takes longer on its way, once."""
        self._delay_s = seconds
        for operator in range(self.operators.size):
            self._measure_entrance(operator)

    def _measure_entrance(self, operator: int) -> None:
        if self._topology.sources[operator] > 0:
            mean_s, var = self._travel((_ENTRANCE,), self._spots[operator])
            self.operators[operator]["entrance_s"] = mean_s + self._delay_s
            self.operators[operator]["entrance_var"] = var

    def _measure_edges(self, operator: int) -> None:
        """The ways to this operator and from it."""
        for index, (origin, goal) in enumerate(self._topology.edges):
            if operator in (origin, goal):
                way = self._travel(self._spots[origin], self._spots[goal])
                self.edges[index]["latency_s"], self.edges[index]["latency_var"] = way


def _spots(crew: Crew, shares: Sequence[float]) -> tuple[Spot, ...]:
    """How much of an operator's work is done in which region; those that lost their node have no way to them."""
    by_region: dict[int, float] = {}
    for share, member in zip(shares, crew.members, strict=False):
        if member.node is not None:
            by_region[member.node.region] = by_region.get(member.node.region, 0.0) + share
    if len(by_region) == 1:
        return (Spot(1.0, *by_region),)
    return tuple(Spot(by_region[region], region) for region in sorted(by_region))
