"""The plant of a job whose operators scale each on their own: a profile set in motion by the compiled kernel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import JOB, Floats
from infra.simulated.fleet import Fleet
from infra.simulated.operators import kernel, placement
from infra.simulated.operators.deployment import Deployment
from infra.simulated.operators.machinery import Machinery
from infra.simulated.operators.network import latency_matrix
from infra.simulated.operators.noise import Noise
from infra.simulated.operators.pools import Node, Pool
from infra.simulated.operators.records import Records
from infra.simulated.operators.slots import Slots
from infra.simulated.operators.topology import Topology
from jobs.operators import OperatorsProfile

Event = tuple[float, str, str, str]
"""When, its kind, its target, and a detail."""

#: What a profile must know.
CONSTANTS = frozenset(
    {
        *kernel.FIGURES,
        *("worker_capacity", "scaling_exponent", "speed_spread", "instances_max", "buffer_events", "source_share"),
        "random_leave",
        *("key_count", "key_skew", "key_groups"),
        *("slots_per_node", "nodes_max", "nodes_initial", "latency_within_s", "latency_between_s"),
    }
)
#: What it may know: the region of an operator's first instance.
OPTIONAL = frozenset({"home"})
DELAYS = frozenset({"boot_s", "reconfigure_s", "pause_s", "restart_s"})

#: Seconds of load that the first instances must carry if nobody says how many to start with.
_FIRST_S = 60
#: Tell the streams of random numbers apart.
_KEYS, _LEAVING = range(0x706C, 0x706E)


class Plant:
    """State and history of one simulated run."""

    def __init__(
        self, profile: OperatorsProfile, topology: Topology, curve: Floats, first: int | None, limit: int, seed: int
    ) -> None:
        """`first` is what every operator starts with; None starts each with what it needs at first."""
        self.topology = topology
        self.regions = profile.regions
        self.step_s = _whole_steps(profile, curve.size)
        self._offered: Floats = curve.reshape(-1, self.step_s).sum(axis=1)
        parts = [profile.part(name) for name in topology.names]
        self.fleets = [
            Fleet(
                part if operator.keyed else part.changed("this operator's events have no key", {"key_count": 0}),
                min(limit, int(part["instances_max"])),
                np.random.default_rng([seed, _KEYS, index]),
            )
            for index, (operator, part) in enumerate(zip(topology.operators, parts, strict=True))
        ]
        rates = np.outer(topology.factors, self._offered / self.step_s)
        self.demand: NDArray[np.int32] = np.stack(
            [it.demand(rate) for it, rate in zip(self.fleets, rates, strict=True)]
        )
        """[operator, step] the fewest instances that carry the load."""
        self.events: list[Event] = []
        self.step = 0
        """How many have passed."""
        latency_s = latency_matrix(profile)
        self._machinery = Machinery(topology, parts, self.fleets, latency_s)
        self._state = self._machinery.state[0]
        self._constants = np.array([tuple(profile[name] for name in kernel.FIGURES)], dtype=kernel.CONSTANTS)
        noisy = profile["cpu_noise"] + profile["throughput_noise"] + profile["capacity_noise"]
        self._noise = Noise(len(parts), max(fleet.limit for fleet in self.fleets), seed, silent=noisy == 0)
        self._records = Records(len(parts), self._machinery.width, self.steps)
        chance = np.random.default_rng([seed, _LEAVING])
        homes = [_home(part, index) for index, part in enumerate(parts)]
        policy = placement.create(profile.placement, topology, latency_s, homes, chance, profile["random_leave"])
        pools = {name: _pool(profile, index) for index, name in enumerate(profile.regions)}
        slots = Slots(len(parts), pools, policy)
        self.deployment = Deployment(topology.names, profile, slots, self._machinery, self._tell, seed)
        needed = self.demand[:, : max(1, _FIRST_S // self.step_s)].max(axis=1)
        for index, fleet in enumerate(self.fleets):
            self.deployment.start(index, min(fleet.limit, int(needed[index]) if first is None else first))
        self._state["nodes"] = slots.nodes

    # --- time --------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """How many the run has."""
        return self._offered.size

    @property
    def now_s(self) -> float:
        return float(self.step * self.step_s)

    def advance(self, steps: int) -> None:
        """Let steps pass. What becomes due within a step happens at its end."""
        machinery, records, state, deployment = self._machinery, self._records, self._state, self.deployment
        end = self.step + steps
        records.reserve(steps)
        while self.step < end:
            count = min(end - self.step, self._noise.left(self.step), self._steps_to_next())
            if records.width < machinery.width:
                records.widen(machinery.width)
            machinery.refresh()
            state["changing"] = deployment.under_way
            kernel.advance(
                machinery.state,
                self._constants,
                machinery.operators,
                machinery.instances,
                machinery.edges,
                self._offered,
                self._noise.since(self.step),
                machinery.held,
                records.rows[records.filled :],
                records.samples[records.filled :],
                count,
            )
            records.filled += count
            self.step += count
            if state["recovered_step"]:
                self._tell(float(state["recovered_step"] * self.step_s), "recovered", JOB, "")
                state["recovered_step"] = 0
            deployment.act(self.now_s)

    def last(self, steps: int) -> tuple[Floats, Floats]:
        """Rows and samples of the last steps, to be read only."""
        return self._records.last(steps)

    def forget(self, keep: int) -> None:
        """Drop all recorded steps but the last `keep`."""
        self._records.forget(keep)

    def _steps_to_next(self) -> int:
        due_s = self.deployment.next_s
        return self.steps if due_s == math.inf else max(1, math.ceil(due_s / self.step_s) - self.step)

    def _tell(self, time_s: float, kind: str, target: str, detail: str) -> None:
        self.events.append((time_s, kind, target, detail))
        if kind == "rescale_start":
            self._state["recovering"] = 1

    def region(self, name: str) -> int:
        if name not in self.regions:
            raise ValueError(f'unknown region "{name}"; there are: {", ".join(self.regions)}')
        return self.regions.index(name)

    @property
    def serving(self) -> list[tuple[str, int]]:
        """All instances that serve: their operator and their number in it."""
        crews = zip(self.topology.names, self.deployment.crews, strict=True)
        return [(name, instance) for name, crew in crews for instance in range(crew.serving)]

    @property
    def loads(self) -> Floats:
        """The CPU that each of them used in the last step."""
        crews = enumerate(self.deployment.crews)
        return np.concatenate([self._machinery.loads(index)[: crew.serving] for index, crew in crews])

    def _serving(self, operator: str, instance: int) -> int:
        index = self.topology.index(operator)
        serving = self.deployment.crews[index].serving
        if not 0 <= instance < serving:
            raise ValueError(f'"{operator}" has no instance {instance}; there are {serving}, from 0 on')
        return index

    # --- what is asked of it -----------------------------------------------------------------

    def ask(self, operator: int, instances: int) -> int:
        """Want so many instances of an operator; returns how many it is to be."""
        wanted = max(1, min(instances, self.fleets[operator].limit))
        self.deployment.ask(operator, wanted, self.now_s)
        return wanted

    def ask_nodes(self, region: int, nodes: int) -> int:
        """Want so many nodes of a region; returns how many it is to be."""
        applied = self.deployment.ask_nodes(region, nodes, self.now_s)
        self._state["nodes"] = self.deployment.slots.nodes
        return applied

    # --- what goes wrong ---------------------------------------------------------------------

    def crash(self, operator: str, instance: int) -> None:
        """An instance dies; what waits for it waits until it is started again."""
        index = self._serving(operator, instance)
        self._state["recovering"] = 1
        self.deployment.crash(index, instance, self.now_s)

    def lose_node(self, region: str) -> None:
        """The node of a region that has the most instances is gone; nobody but a policy replaces it."""
        node = self.deployment.slots.pools[self.region(region)].fullest()
        if node is not None:
            self._lose(node)

    def lose_node_of(self, operator: str, instance: int) -> None:
        """The node of this instance is gone, with all that it holds."""
        node = self.deployment.crews[self._serving(operator, instance)].members[instance].node
        if node is not None:
            self._lose(node)

    def _lose(self, node: Node) -> None:
        self._state["recovering"] = 1
        self.deployment.lose(node, self.now_s)
        self._state["nodes"] = self.deployment.slots.nodes

    def slow(self, operator: str, instance: int, speed: float) -> None:
        """An instance goes on at a share of its speed; 1 is its full speed."""
        index = self._serving(operator, instance)
        if not 0 < speed < math.inf:
            raise ValueError(f"an instance cannot have a speed of {speed}; 1 is its usual one")
        crew = self.deployment.crews[index]
        crew.members[instance].slowed_to = speed
        self._machinery.update(index, crew)

    def stall_source(self, stalled: bool) -> None:
        """Nothing can be read from outside, and events pile up there."""
        self._state["stalled"] = int(stalled)
        self._state["recovering"] = 1

    def delay_network(self, seconds: float) -> None:
        """Every event takes so much longer to reach the job; 0 as usual."""
        self._machinery.delay(seconds)

    def blind(self, sight: int) -> None:
        """The monitoring sees nothing or shows old values (`infra.simulated.gauges`)."""
        self._state["sight"] = sight


def _whole_steps(profile: OperatorsProfile, duration_s: int) -> int:
    step_s = int(profile["step_s"])
    if step_s < 1 or step_s != profile["step_s"]:
        raise ValueError(f"{profile.engine.name}: step_s must be whole seconds, and is {profile['step_s']:g}")
    if duration_s % step_s:
        raise ValueError(f"{profile.engine.name} advances {step_s} s at a time: {duration_s} s are no multiple of it")
    return step_s


def _home(part: OperatorsProfile, operator: int) -> int:
    """The region of an operator's first instance; operators whose profile has no `home` take turns."""
    if "home" not in part.constants:
        return operator % len(part.regions)
    home = part["home"]
    if home not in range(len(part.regions)):
        raise ValueError(f"{part.engine.name}: home is {home:g}, not a region from 0 to {len(part.regions) - 1}")
    return int(home)


def _pool(profile: OperatorsProfile, region: int) -> Pool:
    part = profile.part(profile.regions[region])
    slots, most, initial = (int(part[name]) for name in ("slots_per_node", "nodes_max", "nodes_initial"))
    return Pool(region, slots=slots, most=most, initial=initial)
