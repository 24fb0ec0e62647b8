"""Daedalus: proactive horizontal scaling with online capacity models, workload forecasts and recovery times.

Each minute the MAPE-K loop monitors the workers' CPU and throughput, the workload and the consumer lag; analyses what
each scale-out can take and what the next 15 minutes will bring; plans the smallest scale-out that takes it and
recovers within a target time (Algorithm 1); and watches how long a change really took.

A job that scales by operator gets a loop of its own for each operator, with the operator's input as its workload.

Reference
---------
Pfister, Scheinert, Geldenhuys, Kao: Daedalus: Self-Adaptive Horizontal Autoscaling for Resource Efficiency of
Distributed Stream Processing Systems (ICPE 2024), section 3; https://doi.org/10.1145/3629526.3645042
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan

import numpy as np

from autoscalers import _checks
from autoscalers.daedalus import arima, recovery
from autoscalers.daedalus.anomaly import RecoveryWatch
from autoscalers.daedalus.capacity import CapacityModel
from autoscalers.daedalus.forecast import Forecaster
from autoscalers.daedalus.monitor import Monitor
from autoscalers.daedalus.plan import Plan, Rules, Situation, determine
from autoscalers.daedalus.recovery import Downtimes
from autoscalers.model import JOB, Autoscaler, Decision, Floats, Observation, OperatorView, Rescale
from autoscalers.registry import register


@dataclass(frozen=True)
class DaedalusParams:
    """The paper's values; what it leaves open is said to be ours."""

    minimum: int = 1
    maximum: int = 12
    target_recovery_s: float = 600.0
    period_s: float = 60.0
    grace_s: float = 180.0
    """After a change, before the next may come."""
    long_lived_s: float = 600.0
    """After a change, as long as the scale-out suffices, no better one is looked for."""
    checkpoint_interval_s: float = 10.0
    """Whose events come again in the worst case; 0 for an engine that processes nothing twice."""
    downtime_out_s: float = 30.0
    downtime_in_s: float = 15.0
    """First guesses; the downtimes that are observed correct them."""
    horizon_s: int = 900
    history_s: int = 900
    """The latest workload that forecasts are made from; ours."""
    poor_wape: float = 0.25
    retrain_after: int = 15
    cpu_average_s: int = 60
    full_cpu: float = 1.0
    """The CPU of a worker at its limit."""
    anomaly_deviations: float = 1.0
    as_published: bool = False
    """Count the downtime twice when recovery times are predicted, as the authors' program does."""

    def __post_init__(self) -> None:
        _checks.bounds(self.minimum, self.maximum)
        _checks.each(_checks.period, self, "target_recovery_s", "period_s")
        waits = ("grace_s", "long_lived_s", "checkpoint_interval_s", "downtime_out_s", "downtime_in_s")
        _checks.each(_checks.seconds, self, *waits)
        _checks.each(_checks.count, self, "horizon_s", "cpu_average_s", "retrain_after")
        _checks.count("history_s", self.history_s, least=60)
        _checks.number("poor_wape", self.poor_wape, "a share above 0", lambda share: share > 0)
        _checks.share("full_cpu", self.full_cpu)
        _checks.number("anomaly_deviations", self.anomaly_deviations, "a number above 0", lambda given: given > 0)


@register("daedalus", DaedalusParams)
class Daedalus(Autoscaler[DaedalusParams]):
    """One MAPE-K loop for the job, or for each operator where operators scale on their own.

    >>> from autoscalers.testing import observation
    >>> daedalus = Daedalus()
    >>> decision = daedalus.decide(observation(time_s=60, parallelism=4, cpu=0.5, workload=1000.0, samples=60))
    >>> decision.reason
    '1000 events/s, at most 1000 forecast; 4 can do 2000: 3 take all of the forecast, and recover in 65 s'
    >>> decision.parallelism
    {'job': 3}
    """

    def __init__(self, params: DaedalusParams | None = None, *, seed: int = 0) -> None:
        super().__init__(params, seed=seed)
        self.period_s = self.params.period_s
        self._loops: dict[str, _Loop] = {}
        arima.prepare()

    def warm_start(self, history: Sequence[Observation]) -> None:
        for observation in history:
            for name, loop, workload in self._of(observation):
                loop.analyse(observation, observation.operators[name], workload)

    def decide(self, observation: Observation) -> Decision:
        wanted: dict[str, int] = {}
        reasons: list[str] = []
        notes: dict[str, float] = {}
        for name, loop, workload in self._of(observation):
            view = observation.operators[name]
            loop.analyse(observation, view, workload)
            plan = loop.plan(observation, view)
            if plan.workers != view.parallelism:
                wanted[name] = plan.workers
            alone = len(observation.operators) == 1
            reasons.append(plan.why if alone else f"{name}: {plan.why}")
            notes |= loop.notes if alone else {f"{name}.{key}": value for key, value in loop.notes.items()}
        return Decision("; ".join(reasons) or "there is no operator to scale", parallelism=wanted, notes=notes)

    def _of(self, observation: Observation) -> list[tuple[str, _Loop, Floats]]:
        for name in observation.operators.keys() - self._loops.keys():
            self._loops[name] = _Loop(self.params)
        return [
            (name, self._loops[name], observation.workload if name == JOB else view.input_rate)
            for name, view in observation.operators.items()
        ]


class _Loop:
    """The knowledge about one operator, and what each phase does with it."""

    def __init__(self, params: DaedalusParams) -> None:
        self._params = params
        self._monitor = Monitor(params.cpu_average_s)
        self._capacity = CapacityModel(params.full_cpu)
        self._forecaster = Forecaster(
            horizon_s=params.horizon_s,
            history_s=params.history_s,
            least_s=min(300, params.history_s),
            poor_wape=params.poor_wape,
            retrain_after=params.retrain_after,
        )
        self._watch = RecoveryWatch(params.anomaly_deviations)
        self._downtimes = Downtimes(params.downtime_out_s, params.downtime_in_s)
        self._rules = Rules(
            params.minimum, params.maximum, params.target_recovery_s, params.long_lived_s, params.period_s
        )
        self._changed_s = -inf
        """When the last change of the scale-out began."""
        self._outwards = True
        self._expected_s = float("nan")
        """The recovery time that was predicted for it."""
        self._workload = self._replayed = 0.0
        self._forecast: Floats = np.zeros(params.horizon_s)
        self.notes: dict[str, float] = {}

    def analyse(self, observation: Observation, view: OperatorView, workload: Floats) -> None:
        """Bring all models up to date."""
        self.notes = {}
        self._notice(observation.last_rescale)
        samples = self._monitor.samples(view, self._changed_s)
        self._capacity.observe(samples.cpu, samples.throughput, new_fleet=samples.new_fleet)
        if workload.size:
            known = workload[np.isfinite(workload)]
            self._workload = float(known.mean()) if known.size else self._workload
            interval = round(self._params.checkpoint_interval_s)
            self._replayed = float(known[known.size - min(interval, known.size) :].sum())
            self._forecast = self._forecaster.update(workload)
            self._follow_recovery(view, workload)
        self._note("capacity", self._capacity.current)
        self._note("forecast_wape", self._forecaster.last_wape)
        self._note("forecast_peak", float(self._forecast.max()))

    def _notice(self, rescale: Rescale | None) -> None:
        """A change that this loop did not ask for counts as one of its own."""
        if rescale is not None and rescale.started_s > self._changed_s:
            self._begin(rescale.started_s, outwards=rescale.after > rescale.before, expected_s=float("nan"))

    def _begin(self, now: float, *, outwards: bool, expected_s: float) -> None:
        self._changed_s, self._outwards, self._expected_s = now, outwards, expected_s
        self._watch.begin()

    def _follow_recovery(self, view: OperatorView, workload: Floats) -> None:
        throughput = np.asarray(view.throughput)
        measured = np.isfinite(throughput)
        total = np.where(measured.any(axis=1), np.where(measured, throughput, 0.0).sum(axis=1), np.nan)
        recovered = self._watch.observe(workload, total)
        if recovered is None:
            return
        self._downtimes.learn(recovered.downtime_s, outwards=self._outwards)
        self._note("recovery_s", recovered.seconds)
        self._note("recovery_predicted_s", self._expected_s)

    def plan(self, observation: Observation, view: OperatorView) -> Plan:
        """Which scale-out to have; a change is taken note of as if it were carried out."""
        params, current, now = self._params, view.parallelism, observation.time_s
        allowed = min(max(current, params.minimum), params.maximum)
        if allowed != current:
            bound = "maximum" if allowed < current else "minimum"
            return Plan(allowed, f"{current} workers are beyond the {bound}: {current} → {allowed}")
        if now - self._changed_s < params.grace_s:
            return Plan(current, f"the last change was {now - self._changed_s:.0f} s ago: {current} kept")
        capacity = self._capacity.at(current)
        if not isfinite(capacity):
            return Plan(current, f"no capacity is known yet: {current} kept")
        plan = determine(self._situation(view, now), self._rules)
        self._note("recovery_target_s", self._predicted_s(plan.workers, current))
        if plan.workers != current:
            self._begin(now, outwards=plan.workers > current, expected_s=self._predicted_s(plan.workers, current))
        peak = float(self._forecast.max())
        seen = f"{self._workload:.0f} events/s, at most {peak:.0f} forecast; {current} can do {capacity:.0f}"
        return Plan(plan.workers, f"{seen}: {plan.why}")

    def _situation(self, view: OperatorView, now: float) -> Situation:
        return Situation(
            current=view.parallelism,
            since_rescale_s=now - self._changed_s,
            workload=self._workload,
            forecast=self._forecast,
            lag=0.0 if isnan(view.backlog) else view.backlog,
            capacity=self._capacity.at,
            recovery_s=lambda workers: self._predicted_s(workers, view.parallelism),
        )

    def _predicted_s(self, workers: int, current: int) -> float:
        """A failure, at the scale-out there is, is taken to be as long as scaling out."""
        return recovery.predict(
            self._capacity.at(workers),
            self._replayed,
            self._forecast,
            self._downtimes.expected(outwards=workers >= current),
            downtime_twice=self._params.as_published,
        )

    def _note(self, key: str, value: float) -> None:
        if isfinite(value):
            self.notes[key] = value
