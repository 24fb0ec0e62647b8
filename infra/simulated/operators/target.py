"""A simulated job whose operators scale each on their own, as the control loop meets it."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import numpy as np

from autoscalers.model import JOB, Decision, Floats, Observation, OperatorView
from infra.model import Applied, Assignment, Recording, Target
from infra.simulated import recording
from infra.simulated.operators import columns, record
from infra.simulated.operators.plant import Plant
from infra.simulated.operators.topology import Topology
from infra.simulated.options import Options
from infra.simulated.trouble import Trouble
from jobs.model import Operator, Profile
from jobs.operators import OperatorsProfile

#: Tells this stream of random numbers from others of the same seed.
_LOST = 0x6C6F


class OperatorsTarget(Target):
    """A simulated job under load.

    Where faults hit workers, they count the serving instances of all operators, in the order of the topology.
    """

    def __init__(self, assignment: Assignment) -> None:
        self._options = Options.read(assignment.options)
        profile = of_operators(self._options.applied_to(assignment.job.profiles[assignment.engine]))
        topology = read_topology(profile, assignment.job.topology)
        self._plant = Plant(
            profile,
            topology,
            assignment.curve,
            assignment.initial_workers,
            self._options.max_workers,
            assignment.seed,
        )
        self._names = topology.names
        self._trouble = Trouble(assignment.faults, self, partial(self._tell, JOB))
        self._troubled = bool(assignment.faults)
        self._chance = np.random.default_rng([assignment.seed, _LOST])
        self._late: list[tuple[float, int, Callable[[], object]]] = []
        self._serial = count()
        self._observed = self._drained = 0
        self._left_s = 0.0

    @property
    def time_s(self) -> float:
        return self._plant.now_s

    def advance(self, seconds: float) -> None:
        """Whole steps pass; what is asked for beyond them is kept for the next call, but at least one passes."""
        plant = self._plant
        asked_s = seconds + self._left_s
        steps = max(1, int(asked_s / plant.step_s + 1e-9))
        self._left_s = max(0.0, asked_s - steps * plant.step_s)
        end = min(plant.step + steps, plant.steps)
        while plant.step < end:
            until = end
            if self._troubled:
                self._act()
                due_s = min(self._trouble.next_s(), self._late[0][0] if self._late else math.inf)
                until = end if due_s == math.inf else min(end, math.ceil(due_s / plant.step_s))
            plant.advance(max(1, until - plant.step))

    def observe(self) -> Observation:
        plant = self._plant
        rows, samples = plant.last(plant.step - self._observed)
        self._observed = plant.step
        deployment, slots = plant.deployment, plant.deployment.slots
        backlogs = rows[-1, :, record.SEEN_BACKLOG].tolist() if len(rows) else [math.nan] * rows.shape[1]
        views = {}
        for index, (name, crew) in enumerate(zip(self._names, deployment.crews, strict=True)):
            ready, started_s, ready_since_s = crew.arrays()
            instances = ready.size
            if instances > samples.shape[2]:
                samples = _as_wide(samples, instances)
            views[name] = OperatorView(
                crew.wanted,
                ready,
                started_s,
                ready_since_s,
                samples[:, index, :instances, record.I_CPU],
                samples[:, index, :instances, record.I_MEMORY],
                samples[:, index, :instances, record.I_THROUGHPUT],
                rows[:, index, record.SEEN_WORKLOAD],
                backlogs[index],
                rows[:, index, record.SEEN_LATENCY],
                slots.where(index),
            )
        return Observation(
            time_s=plant.now_s,
            workload=rows[:, -1, record.SEEN_WORKLOAD],
            operators=views,
            regions={name: pool.observe() for name, pool in zip(plant.regions, slots.pools, strict=True)},
            last_rescale=deployment.last_rescale,
        )

    def apply(self, decision: Decision) -> list[Applied]:
        """New nodes, then instances, then nodes that go: who wants a slot gets it before its node is given up.

        A decision that changes nothing is recorded as one about the job.
        """
        plant, deployment = self._plant, self._plant.deployment
        nodes = [(f"region:{name}", plant.region(name), wanted) for name, wanted in decision.nodes.items()]
        instances = [(name, plant.topology.index(name), wanted) for name, wanted in decision.parallelism.items()]
        pools = deployment.slots.pools
        if not nodes and not instances:
            now = sum(crew.wanted for crew in deployment.crews)
            return [Applied(JOB, now, now, now)]
        of_nodes = [(*it, plant.ask_nodes, len(pools[it[1]])) for it in nodes]
        of_instances = [(*it, plant.ask, deployment.crews[it[1]].wanted) for it in instances]
        more = [it for it in of_nodes if it[2] > it[4]]
        less = [it for it in of_nodes if it[2] <= it[4]]
        return [
            self._ask(target, index, wanted, ask, before)
            for target, index, wanted, ask, before in (*more, *of_instances, *less)
        ]

    def drain(self) -> Recording:
        plant = self._plant
        first, self._drained = self._drained, plant.step
        rows, samples = plant.last(self._drained - first)
        steps = np.arange(first, self._drained)
        events, plant.events = plant.events, []
        drained = Recording(
            metrics=columns.metrics(plant.topology.names, steps, plant.step_s, rows, plant.demand),
            instances=columns.instances(
                plant.topology.names, steps, plant.step_s, samples, self._options.instance_period_s
            ),
            events=recording.events(events),
        )
        plant.forget(keep=plant.step - self._observed)
        return drained

    # --- requests ----------------------------------------------------------------------------

    def _ask(self, target: str, index: int, wanted: int, ask: Callable[[int, int], int], before: int) -> Applied:
        """Faults may lose a request, or hold it up until later."""
        if not self._troubled:
            return Applied(target, before, wanted, ask(index, wanted))
        lost, late_s = self._trouble.together("request-lost"), self._trouble.together("request-late")
        if wanted != before and lost > 0 and self._chance.random() < lost:
            self._tell(target, self.time_s, "request_lost", f"{wanted}")
            return Applied(target, before, wanted, before)
        if wanted != before and late_s > 0:
            later: Callable[[], object] = partial(ask, index, wanted)
            heapq.heappush(self._late, (self.time_s + late_s, next(self._serial), later))
            return Applied(target, before, wanted, wanted)
        return Applied(target, before, wanted, ask(index, wanted))

    def _act(self) -> None:
        self._trouble.act(self.time_s)
        while self._late and self._late[0][0] <= self.time_s:
            heapq.heappop(self._late)[2]()

    def _tell(self, target: str, time_s: float, kind: str, detail: str) -> None:
        self._plant.events.append((time_s, kind, target, detail))

    # --- what incidents do to it -------------------------------------------------------------

    @property
    def loads(self) -> Floats:
        """How busy each serving instance is."""
        return self._plant.loads

    def crash(self, victims: Sequence[int]) -> None:
        for operator, instance in [self._plant.serving[worker] for worker in victims]:
            self._plant.crash(operator, instance)

    def lose_node(self, worker: int) -> None:
        operator, instance = self._plant.serving[worker]
        self._plant.lose_node_of(operator, instance)

    def slow(self, worker: int, speed: float) -> None:
        if worker < len(self._plant.serving):  # it may have left before it would have recovered
            operator, instance = self._plant.serving[worker]
            self._plant.slow(operator, instance, speed)

    def stall(self, stalled: bool) -> None:
        self._plant.stall_source(stalled)

    def delay(self, seconds: float) -> None:
        self._plant.delay_network(seconds)

    def blind(self, sight: int) -> None:
        self._plant.blind(sight)


def of_operators(profile: Profile) -> OperatorsProfile:
    """A profile that says nothing of regions means one region."""
    if isinstance(profile, OperatorsProfile):
        return profile
    return OperatorsProfile(profile.engine, profile.own, profile.own_delays)


def read_topology(profile: OperatorsProfile, of_job: Sequence[Operator]) -> Topology:
    """The operators as the engine runs them, or else the job's."""
    operators = profile.topology or of_job
    return Topology.read(operators, {it.name: profile.part(it.name)["source_share"] for it in operators})


def _as_wide(samples: Floats, instances: int) -> Floats:
    """Room for the samples of so many instances; of those that the record had none for, nothing was measured."""
    missing = instances - samples.shape[2]
    return np.pad(samples, ((0, 0), (0, 0), (0, missing), (0, 0)), constant_values=math.nan)
