"""E2DF: elasticity of operators and of nodes, each by a hierarchy of managers.

The Application Control System scales operators: an Operator Manager each proposes, the Application Manager grants. The
Infrastructure Control System scales nodes: a Region Manager each proposes, the Infrastructure Manager grants. Every
part is a policy of its own, by rule or learned, and a suite composes them: `e2df: {acs: rl, ics: simple}`.

In a period the application comes first: a region learns at once which requests it had to turn down.

Reference
---------
G. Russo Russo, M. Nardelli, V. Cardellini, F. Lo Presti, "Multi-Level Elasticity for Wide-Area Data Streaming Systems:
A Reinforcement Learning Approach", Algorithms 11(9), 134, 2018: sections 4 to 7, equations (1) to (6), Algorithms 1, 2.
https://doi.org/10.3390/a11090134
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isnan

from autoscalers import _checks
from autoscalers.e2df import coordination
from autoscalers.e2df.agents import Learning
from autoscalers.e2df.coordination import GLOBAL_POLICIES, Request, Verdict
from autoscalers.e2df.monitor import OperatorState, RegionState
from autoscalers.e2df.operator_managers import OPERATOR_MANAGERS, OperatorManager, OperatorSettings
from autoscalers.e2df.region_managers import REGION_MANAGERS, RegionManager, RegionSettings
from autoscalers.model import Autoscaler, Decision, Observation
from autoscalers.registry import register


@dataclass(frozen=True)
class Weights:
    """How much each cost counts: the first two of a region (equation 1), the others of an operator (equation 6)."""

    demand: float = 0.7
    nodes: float = 0.3
    reconfiguration: float = 1 / 3
    performance: float = 1 / 3
    resources: float = 1 / 3

    def __post_init__(self) -> None:
        for key in ("demand", "nodes", "reconfiguration", "performance", "resources"):
            _checks.number(f"weights.{key}", getattr(self, key), "a share from 0 to 1", lambda share: 0 <= share <= 1)
        _sums_to_one("demand and nodes", self.demand + self.nodes)
        operator = self.reconfiguration + self.performance + self.resources
        _sums_to_one("reconfiguration, performance and resources", operator)


def _sums_to_one(names: str, total: float) -> None:
    if abs(total - 1) > 1e-6:
        raise ValueError(f"weights: {names} add up to {total:g}, not to 1")


@dataclass(frozen=True)
class E2DFParams:
    """The paper's values (section 8); what it leaves open is said to be so."""

    acs: str = "rl"
    """Operator Managers: threshold, rl or q-learning."""
    ics: str = "rl"
    """Region Managers: static, simple, rl or q-learning."""
    am: str = "conflict-prevention"
    """The Application Manager: grant-all, conflict-prevention or token-bucket."""
    im: str = "grant-all"
    """The Infrastructure Manager: grant-all or token-bucket."""
    weights: Weights = field(default_factory=Weights)
    minimum: int = 1
    maximum: int = 20
    """Replicas an operator."""
    scale_out: float = 0.75
    scale_in: float = 0.75
    """The share of `scale_out` that the remaining replicas must stay below."""
    response_max_s: float = 0.0105
    """An operator's part of the application's bound. Not in the paper: calibrated on Table 1, static and RL."""
    rate_levels: int = 10
    """Levels of an operator's arrival rate. Not in the paper: calibrated on Table 1, static and RL."""
    rate_max: Mapping[str, float] = field(default_factory=dict)
    """Highest rate by operator, in tuples/s; where it is not said, the highest that was met."""
    nodes: int = 12
    """Nodes a region for `static`."""
    nodes_max: int = 50
    idle: int = 2
    """Idle nodes a region for `simple`. Not in the paper: calibrated on Table 1, simple and threshold."""
    utilisation_step: float = 0.1
    discount: float = 0.99
    learning_rate: float = 0.1
    exploration: float = 0.05
    """Share of random actions of q-learning. Not in the paper."""
    tokens: float = 1.0
    """Tokens a period for token-bucket; a full bucket has as many, at least one. Not in the paper."""
    period_s: float = 60.0

    def __post_init__(self) -> None:
        if isinstance(self.weights, Mapping):  # as a suite or a run's record has them
            object.__setattr__(self, "weights", Weights(**self.weights))
        _choice("acs", self.acs, OPERATOR_MANAGERS)
        _choice("ics", self.ics, REGION_MANAGERS)
        _choice("am", self.am, GLOBAL_POLICIES)
        _choice("im", self.im, ("grant-all", "token-bucket"))
        _checks.bounds(self.minimum, self.maximum)
        for key in ("scale_out", "scale_in", "utilisation_step", "learning_rate"):
            _checks.share(key, getattr(self, key))
        _checks.number("discount", self.discount, "a share from 0 up to 1, 1 excluded", lambda share: 0 <= share < 1)
        _checks.number("exploration", self.exploration, "a share from 0 to 1", lambda share: 0 <= share <= 1)
        _checks.number("tokens", self.tokens, "a number above 0", lambda tokens: tokens > 0)
        _checks.period("response_max_s", self.response_max_s)
        _checks.whole("rate_levels", self.rate_levels, "a whole number of levels, at least 1", least=1)
        for operator, rate in self.rate_max.items():
            _checks.number(f"rate_max.{operator}", rate, "a rate above 0", lambda tuples: tuples > 0)
        _checks.whole("nodes_max", self.nodes_max, "a whole number of nodes, at least 1", least=1)
        for key in ("nodes", "idle"):
            _checks.whole(key, getattr(self, key), f"0 to {self.nodes_max} nodes", least=0, most=self.nodes_max)
        _checks.period("period_s", self.period_s)


def _choice(key: str, value: str, choices: Iterable[str]) -> None:
    if value not in choices:
        raise ValueError(f"{key}: {value!r} is not one of {', '.join(choices)}")


@register("e2df", E2DFParams)
class E2DF(Autoscaler[E2DFParams]):
    """Operators first, then the regions that host them.

    >>> from autoscalers.testing import observation
    >>> E2DF(E2DFParams(acs="threshold")).decide(observation(parallelism=4, cpu=0.9)).parallelism
    {'job': 5}
    """

    def __init__(self, params: E2DFParams | None = None, *, seed: int = 0) -> None:
        super().__init__(params, seed=seed)
        params = self.params
        self.period_s = params.period_s
        exploration = {"acs": params.acs, "ics": params.ics}
        learning = {
            level: Learning(params.discount, params.learning_rate, params.exploration * (kind == "q-learning"))
            for level, kind in exploration.items()
        }
        weights = params.weights
        self._operator_settings = OperatorSettings(
            params.minimum,
            params.maximum,
            params.scale_out,
            params.scale_in,
            (weights.reconfiguration, weights.performance, weights.resources),
            params.response_max_s,
            params.rate_levels,
            learning["acs"],
        )
        self._region_settings = RegionSettings(
            params.nodes_max,
            params.nodes,
            params.idle,
            (weights.demand, weights.nodes),
            params.utilisation_step,
            learning["ics"],
        )
        self._operators: dict[str, OperatorManager] = {}
        self._regions: dict[str, RegionManager] = {}
        self._application = coordination.create(params.am, tokens=params.tokens)
        self._infrastructure = coordination.create(params.im, tokens=params.tokens)

    def decide(self, observation: Observation) -> Decision:
        states = {name: OperatorState.of(view) for name, view in observation.operators.items()}
        requests = [request for name, state in states.items() if (request := self._ask(name, state)) is not None]
        slots = {name: view.free for name, view in observation.regions.items()} if requests else {}
        verdict = self._application.decide(requests, slots)
        wanted = {request.target: states[request.target].replicas + request.change for request in verdict.granted}
        for name, view in observation.operators.items():
            # a request that is not repeated is withdrawn
            if view.parallelism != (has := states[name].replicas) and self.params.minimum <= has:
                wanted.setdefault(name, min(has, self.params.maximum))
        nodes = self._nodes(observation, states, verdict)
        return Decision(
            _reason(states, verdict, observation, nodes), parallelism=wanted, nodes=nodes, notes=self._notes()
        )

    def _ask(self, name: str, state: OperatorState) -> Request | None:
        manager = self._operators.get(name)
        if manager is None:
            rate_max = self.params.rate_max.get(name, 0.0)
            kind = OPERATOR_MANAGERS[self.params.acs]
            manager = self._operators[name] = kind(self._operator_settings, rate_max, self.rng)
        change = manager.propose(state)
        if not change:
            return None
        urgency = 0.0 if isnan(state.utilisation) else state.utilisation
        return Request(name, change, state.home, urgency if change > 0 else urgency - 1)

    def _nodes(self, observation: Observation, states: Mapping[str, OperatorState], verdict: Verdict) -> dict[str, int]:
        if not observation.regions:
            return {}
        short: dict[str | None, int] = {}
        granted: dict[str | None, int] = {}
        for request in verdict.short:
            short[request.region] = short.get(request.region, 0) + 1
        for request in verdict.granted:
            if request.change > 0 and request not in verdict.short:
                granted[request.region] = granted.get(request.region, 0) + request.change
        busy = _utilisation(states.values())
        requests = []
        for name, view in observation.regions.items():
            manager = self._regions.get(name)
            if manager is None:
                kind = REGION_MANAGERS[self.params.ics]
                manager = self._regions[name] = kind(self._region_settings, self.rng)
            state = RegionState.of(view, busy.get(name, 0.0), granted.get(name, 0), short.get(name, 0))
            if change := manager.propose(state):
                requests.append(Request(name, change, urgency=state.utilisation + state.unmet))
        accepted = self._infrastructure.decide(requests, {}).granted
        return {
            request.target: max(0, observation.regions[request.target].nodes + request.change) for request in accepted
        }

    def _notes(self) -> dict[str, float]:
        """What the last period cost the managers that count, on average."""
        notes = {}
        for name, managers in (("operator_cost", self._operators), ("region_cost", self._regions)):
            costs = [manager.cost for manager in managers.values() if not isnan(manager.cost)]
            if costs:
                notes[name] = sum(costs) / len(costs)
        return notes


def _utilisation(states: Iterable[OperatorState]) -> dict[str, float]:
    """By region, the mean over the replicas in it."""
    used: dict[str, float] = {}
    replicas: dict[str, int] = {}
    for state in states:
        if isnan(state.utilisation):
            continue
        for region, count in state.regions.items():
            used[region] = used.get(region, 0.0) + count * state.utilisation
            replicas[region] = replicas.get(region, 0) + count
    return {region: used[region] / count for region, count in replicas.items() if count}


def _reason(
    states: Mapping[str, OperatorState], verdict: Verdict, observation: Observation, nodes: Mapping[str, int]
) -> str:
    """What changes, and what it was granted or refused for."""
    if not (verdict.granted or verdict.short or nodes):
        return "every manager keeps what it has"
    parts = [
        f"{request.target} {states[request.target].replicas} → {states[request.target].replicas + request.change}"
        f" (utilisation {states[request.target].utilisation:.0%})"
        for request in verdict.granted
    ]
    parts += [f"no slot for {request.target} in {request.region}" for request in verdict.short]
    parts += [f"{region} {observation.regions[region].nodes} → {count} nodes" for region, count in nodes.items()]
    return "; ".join(parts)
