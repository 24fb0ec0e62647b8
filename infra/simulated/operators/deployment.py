"""Who runs where: instances on nodes, asked for, started, moved and lost. Time comes from outside, in whole steps.

An operator changes its instances in one go: those that start take their slots at once, those that leave serve to the
end; after `reconfigure_s` the new crew takes over, and the operator stops for `pause_s` while its state moves. What is
asked for meanwhile waits for the end of this change; the last request counts. Instances that find no slot are unmet:
they get one as soon as there is one, those that have waited longest first.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Protocol

import numpy as np

from autoscalers.model import Rescale
from infra.simulated.operators.crew import Crew, Instance
from infra.simulated.operators.pools import Node
from infra.simulated.operators.slots import Slots
from jobs.operators import OperatorsProfile

Tell = Callable[[float, str, str, str], None]
"""Takes down an event: when, its kind, its target, and a detail."""

#: Tell the streams of random numbers apart.
_CHANGES, _SPEEDS, _FAILURES, _BOOTS = range(0x6F70, 0x6F74)


class Works(Protocol):
    """The machinery that a deployment sets up."""

    def reorder(self, operator: int, order: Sequence[int]) -> None:
        """Instances change places."""

    def take_over(self, operator: int, crew: Crew, pause_s: float) -> None:
        """A new crew serves, after a pause."""

    def stop(self, operator: int, instance: int, seconds: float) -> None:
        """An instance does not serve for so long from now on."""

    def update(self, operator: int, crew: Crew) -> None:
        """Instances of an operator have come, gone, moved, or are up or down."""


class Deployment:
    """Crews on slots."""

    def __init__(
        self, names: Sequence[str], profile: OperatorsProfile, slots: Slots, works: Works, tell: Tell, seed: int
    ) -> None:
        self.crews = [Crew() for _ in names]
        self.slots = slots
        self.last_rescale: Rescale | None = None
        self.under_way = 0
        """Changes and restarts that have yet to end."""
        self._names, self._regions = names, profile.regions
        self._delays = [profile.part(name).delays for name in names]
        self._boots = [profile.part(name).delays["boot_s"] for name in profile.regions]
        self._spreads = [profile.part(name)["speed_spread"] for name in names]
        self._works = works
        self._tell = tell
        self._streams = {
            # of their own: what is asked of one operator or region changes nothing for another
            (kind, index): np.random.default_rng([seed, kind, index])
            for kind in (_CHANGES, _SPEEDS, _FAILURES, _BOOTS)
            for index in range(max(len(names), len(profile.regions)))
        }
        self._due: list[tuple[float, int, Callable[[float, float], None]]] = []
        self._serial = count()

    @property
    def next_s(self) -> float:
        """When something is due next."""
        return self._due[0][0] if self._due else math.inf

    def act(self, now: float) -> None:
        """Let happen what is due. What does comes to know when it was due, and that it is `now`."""
        while self._due and self._due[0][0] <= now:
            due_s, _, action = heapq.heappop(self._due)
            action(due_s, now)

    def _later(self, due_s: float, action: Callable[[float, float], None]) -> None:
        heapq.heappush(self._due, (due_s, next(self._serial), action))

    # --- asking ------------------------------------------------------------------------------

    def start(self, operator: int, instances: int) -> None:
        """Deploy an operator before time begins; nodes that are missing are there at once, if regions have them."""
        crew = self.crews[operator]
        crew.wanted = instances
        for _ in range(instances):
            node = self.slots.take(operator) or self.slots.take_on_new_node(operator)
            if node is not None:
                crew.members.append(self._instance(operator, node, 0.0))
                crew.members[-1].ready = True
        if not crew.members:
            raise ValueError(f'no region has a slot for the operator "{self._names[operator]}"')
        crew.serving = len(crew.members)
        self._works.take_over(operator, crew, 0.0)
        self._reconcile(operator, 0.0)

    def ask(self, operator: int, instances: int, now: float) -> None:
        """Want this many instances of an operator."""
        if instances != self.crews[operator].wanted:
            self.crews[operator].wanted = instances
            self._reconcile(operator, now)
            self.act(now)

    def ask_nodes(self, region: int, nodes: int, now: float) -> int:
        """Want this many nodes of a region: at least those in use, at most those it has. Returns how many it gets."""
        pool = self.slots.pools[region]
        wanted = max(pool.busy, min(nodes, pool.most))
        for _ in range(wanted - len(pool)):
            boot_s = self._boots[region].at(self._streams[_BOOTS, region].random())
            self._later(now + boot_s, partial(self._booted, region, pool.order()))
        if wanted < len(pool):
            released = pool.release(len(pool) - wanted)
            self._tell(now, "released", f"region:{self._regions[region]}", f"{released} nodes")
        self.act(now)
        return len(pool)

    def _booted(self, region: int, node: Node, _due_s: float, now: float) -> None:
        if self.slots.pools[region].boot(node):
            self._tell(now, "boot", f"region:{self._regions[region]}", "")
            self._serve_waiting(now)

    # --- changing a crew ---------------------------------------------------------------------

    def _reconcile(self, operator: int, now: float) -> None:
        """Find slots for those without, and begin to bring the crew to what is wanted, unless it is changing."""
        crew = self.crews[operator]
        for member in crew.homeless:
            member.node = self.slots.take(operator)
            if member.node is not None:
                self._restart(operator, member, now)
        if not crew.changing:
            gap = crew.wanted - len(crew.members)
            crew.refused = 0
            if gap > 0:
                self._grow(operator, gap, now)
            elif gap < 0:
                self._shrink(operator, -gap, now)
        self._works.update(operator, crew)
        _, waited_for = self.slots.waiting.get(operator, (0, 0))
        if crew.unmet != waited_for:
            where = self.slots.wait(operator, crew.unmet)
            if where is not None and crew.unmet > waited_for:
                what = f"{crew.unmet} instances of {self._names[operator]}"
                self._tell(now, "unmet", f"region:{self._regions[where]}", what)

    def _serve_waiting(self, now: float) -> None:
        for operator in list(self.slots.waiting):
            self._reconcile(operator, now)

    def _grow(self, operator: int, more: int, now: float) -> None:
        crew = self.crews[operator]
        for placed in range(more):
            node = self.slots.take(operator)
            if node is None:
                crew.refused = more - placed
                break
            crew.members.append(self._instance(operator, node, now))
        if len(crew.members) > crew.serving:
            self._begin(operator, len(crew.members), now)

    def _shrink(self, operator: int, less: int, now: float) -> None:
        crew = self.crews[operator]
        staying, leaving = list(range(len(crew.members))), []
        for _ in range(less):
            nodes = [crew.members[index].node for index in staying]
            placed = [node for node in nodes if node is not None]
            # those without a node do nothing anyway
            who = nodes.index(None) if len(placed) < len(nodes) else self.slots.placement.leaver(placed)
            leaving.append(staying.pop(who))
        order = [*staying, *leaving]
        crew.members = [crew.members[index] for index in order]
        crew.leaving = less
        self._works.reorder(operator, order)
        self._begin(operator, len(staying), now)

    def _begin(self, operator: int, after: int, now: float) -> None:
        crew = self.crews[operator]
        crew.changing = True
        crew.changed()
        self.under_way += 1
        self._tell(now, "rescale_start", self._names[operator], f"{crew.serving} to {after} instances")
        self.last_rescale = began = Rescale(now, crew.serving, after, math.nan)
        delays, chance = self._delays[operator], self._streams[_CHANGES, operator]
        takes_s, pause_s = (delays[name].at(chance.random()) for name in ("reconfigure_s", "pause_s"))
        self._later(now + takes_s, partial(self._take_over, operator, began, pause_s))

    def _take_over(self, operator: int, began: Rescale, pause_s: float, _due_s: float, now: float) -> None:
        crew = self.crews[operator]
        for member in crew.members[len(crew.staying) :]:
            self._set_down(member, 0.0, now)
            if member.node is not None:
                self.slots.give_back(operator, member.node)
        crew.members = crew.staying
        crew.leaving = 0
        for member in crew.members[crew.serving :]:
            member.turn(True, now)
        crew.serving = len(crew.members)
        crew.changed()
        self._works.take_over(operator, crew, pause_s)
        if pause_s > 0:
            self._tell(now, "outage_start", self._names[operator], "")
        self._later(now + pause_s, partial(self._end, operator, began, pause_s))
        self._serve_waiting(now)

    def _end(self, operator: int, began: Rescale, pause_s: float, due_s: float, now: float) -> None:
        if pause_s > 0:
            self._tell(due_s, "outage_end", self._names[operator], "")
        self._tell(due_s, "rescale_end", self._names[operator], "")
        self.crews[operator].changing = False
        self.under_way -= 1
        if self.last_rescale is began:
            self.last_rescale = Rescale(began.started_s, began.before, began.after, pause_s)
        self._reconcile(operator, now)

    def _instance(self, operator: int, node: Node, now: float) -> Instance:
        speed = math.exp(self._spreads[operator] * self._streams[_SPEEDS, operator].standard_normal())
        return Instance(node, started_s=now, ready_since_s=now, speed=speed)

    # --- failing -----------------------------------------------------------------------------

    def crash(self, operator: int, instance: int, now: float) -> None:
        """A serving instance dies, and is started again where it was."""
        crew = self.crews[operator]
        member = crew.members[instance]
        if member.node is not None:
            self._restart(operator, member, now)
            self._works.update(operator, crew)
            self.act(now)

    def lose(self, node: Node, now: float) -> None:
        """A node fails: who served on it looks for another slot, who was starting starts anew."""
        self.slots.pools[node.region].lose(node)
        hit = [
            (operator, member)
            for operator, crew in enumerate(self.crews)
            for member in crew.members
            if member.node is node
        ]
        for operator, member in hit:
            crew = self.crews[operator]
            self.slots.give_back(operator, node)
            member.node = None
            if crew.members.index(member) < crew.serving:
                self._set_down(member, math.inf, now)
                self._works.stop(operator, crew.members.index(member), math.inf)
            else:
                crew.members.remove(member)
            crew.changed()
        for operator in dict.fromkeys(operator for operator, _ in hit):
            self._reconcile(operator, now)
        self.act(now)

    def _restart(self, operator: int, member: Instance, now: float) -> None:
        crew = self.crews[operator]
        takes_s = self._delays[operator]["restart_s"].at(self._streams[_FAILURES, operator].random())
        self._set_down(member, now + takes_s, now)
        crew.changed()
        self._works.stop(operator, crew.members.index(member), takes_s)
        self._later(now + takes_s, partial(self._restarted, operator, member))

    def _restarted(self, operator: int, member: Instance, due_s: float, now: float) -> None:
        if member.down_until_s != due_s:
            return  # it was hit again meanwhile, or has left
        crew = self.crews[operator]
        self._set_down(member, 0.0, now)
        crew.changed()
        self._works.update(operator, crew)
        self._tell(due_s, "restored", self._names[operator], "")

    def _set_down(self, member: Instance, until_s: float, now: float) -> None:
        self.under_way += (until_s > 0) - (member.down_until_s > 0)
        member.down_until_s = until_s
        member.turn(until_s <= 0, now)
