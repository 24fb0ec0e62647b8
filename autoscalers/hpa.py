"""The Kubernetes HorizontalPodAutoscaler on CPU utilisation (autoscaling/v2, metric type Resource).

Every sync period the controller recommends replicas = ceil(ratio × ready pods), where ratio is the pods' CPU
utilisation over its target, both in whole percent. A ratio within the tolerance changes nothing; pods without
a metric, or not ready, damp the change (`_hpa_replicas`). The recommendation then passes the stabilisation
windows, the scaling policies and the bounds (`_hpa_behavior`).

The tolerance bounds are inclusive as since Kubernetes 1.33: 1 - tolerance ≤ ratio ≤ 1 + tolerance. Without
`behavior` the documented default rules hold (scale-up by 100 % or 4 pods in 15 s, scale-down at once after a
window of 300 s). A cluster whose manifest leaves the field out takes an older path through the same defaults,
which differs where more than a doubling is recommended: it stops at max(2 × current, 4), and goes on to climb
to the highest recommendation of the window.

A pod requests its whole CPU quota unless `cpu_request_m` says otherwise. Its metric is the mean of the samples
since the last decision, and as old as the observation.

Reference
---------
kubernetes/kubernetes, pkg/controller/podautoscaler (horizontal.go, replica_calculator.go, metrics/utilization.go)
and pkg/apis/autoscaling/v2/defaults.go; https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
Pfister et al. (Daedalus, ICPE 2024, section 4.3.2) compare with targets of 60, 80 and 85 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autoscalers import _checks, _hpa_manifest
from autoscalers._hpa_behavior import Behavior, History
from autoscalers._hpa_replicas import Goal, Pods, Readiness, Recommendation, group, recommend
from autoscalers.model import Autoscaler, Decision, Observation, OperatorView
from autoscalers.registry import register


@dataclass(frozen=True)
class HpaParams:
    """The manifest's fields, and the flags of kube-controller-manager that bear on them."""

    target_cpu: float = 0.80
    """averageUtilization, as a share of the request; whole percent."""
    minimum: int = 1
    maximum: int = 12
    behavior: dict[str, Any] | None = None
    """As in the manifest: scaleUp and scaleDown with stabilizationWindowSeconds, selectPolicy, policies, tolerance."""
    tolerance: float = 0.1
    sync_period_s: float = 15.0
    downscale_stabilization_s: float = 300.0
    cpu_initialization_period_s: float = 300.0
    initial_readiness_delay_s: float = 30.0
    metrics_window_s: float = 15.0
    """What a metric averages over: the resolution of metrics-server."""
    cpu_quota_m: int = 1000
    """Millicores that a CPU share of 1 stands for."""
    cpu_request_m: int | None = None
    """Millicores that a pod requests; the quota if left out."""

    def __post_init__(self) -> None:
        _checks.share("target_cpu", self.target_cpu)
        if self.target_percent < 1 or abs(self.target_cpu * 100 - self.target_percent) > 1e-6:
            raise ValueError(f"target_cpu: {self.target_cpu} is not a whole percentage; write e.g. 0.80 for 80 %")
        _checks.bounds(self.minimum, self.maximum)
        _checks.number("tolerance", self.tolerance, "a number, 0 or more", lambda given: given >= 0)
        _checks.period("sync_period_s", self.sync_period_s)
        _checks.seconds("downscale_stabilization_s", self.downscale_stabilization_s)
        _checks.seconds("cpu_initialization_period_s", self.cpu_initialization_period_s)
        _checks.seconds("initial_readiness_delay_s", self.initial_readiness_delay_s)
        _checks.seconds("metrics_window_s", self.metrics_window_s)
        _checks.whole("cpu_quota_m", self.cpu_quota_m, "a whole number of millicores, at least 1", least=1)
        if self.cpu_request_m is not None:
            _checks.whole("cpu_request_m", self.cpu_request_m, "a whole number of millicores, at least 1", least=1)
        self.rules()

    @property
    def target_percent(self) -> int:
        return round(self.target_cpu * 100)

    def rules(self) -> Behavior:
        """The behaviour with its defaults filled in."""
        return _hpa_manifest.parse(
            self.behavior, tolerance=self.tolerance, down_window_s=self.downscale_stabilization_s
        )


@register("hpa", HpaParams)
class Hpa(Autoscaler[HpaParams]):
    """One HorizontalPodAutoscaler for each operator.

    >>> from autoscalers.testing import observation
    >>> hpa = Hpa()
    >>> hpa.decide(observation(time_s=600, parallelism=4, cpu=0.93)).reason
    'CPU 93% (target 80%) over 4 ready pods: 4 → 5'
    >>> hpa.decide(observation(time_s=615, parallelism=5, cpu=0.83)).reason
    'CPU 83% (target 80%) over 5 ready pods: within tolerance (1.04), 5 kept'
    >>> hpa.decide(observation(time_s=630, parallelism=5, cpu=0.40)).reason
    'scale-in to 3 held by the 300 s stabilisation window: 5 recommended at 615 s, 5 kept'
    """

    def __init__(self, params: HpaParams | None = None, *, seed: int = 0) -> None:
        super().__init__(params, seed=seed)
        p = self.params
        self.period_s = p.sync_period_s
        self._behavior = p.rules()
        self._readiness = Readiness(p.cpu_initialization_period_s, p.initial_readiness_delay_s, p.metrics_window_s)
        self._goal = Goal(
            target=p.target_percent,
            request_m=p.cpu_quota_m if p.cpu_request_m is None else p.cpu_request_m,
            tolerance_down=self._behavior.down.tolerance,
            tolerance_up=self._behavior.up.tolerance,
        )
        self._histories: dict[str, History] = {}

    def decide(self, observation: Observation) -> Decision:
        now = observation.time_s
        wanted: dict[str, int] = {}
        reasons: list[str] = []
        for name, view in observation.operators.items():
            history = self._histories.setdefault(name, History())
            history.begin(now, view.parallelism)
            replicas, reason = self._reconcile(history, view, now)
            reasons.append(f"{name}: {reason}" if len(observation.operators) > 1 else reason)
            if replicas != view.parallelism:
                wanted[name] = replicas
                history.scaled(now, view.parallelism, replicas, self._behavior)
        return Decision("; ".join(reasons) or "there is no operator to scale", parallelism=wanted)

    def _reconcile(self, history: History, view: OperatorView, now: float) -> tuple[int, str]:
        current, params = view.parallelism, self.params
        if current <= 0:
            return current, "scaling is disabled while the number of replicas is 0"
        if current > params.maximum:
            return params.maximum, f"more replicas than the maximum: {current} → {params.maximum}"
        if current < params.minimum:
            return params.minimum, f"fewer replicas than the minimum: {current} → {params.minimum}"
        pods = group(view, now, params.cpu_quota_m, self._readiness)
        recommendation = recommend(current, pods, self._goal)
        if recommendation is None:
            return current, f"no metric of a ready pod, {current} kept"
        return self._normalise(history, now, current, recommendation, pods)

    def _normalise(
        self, history: History, now: float, current: int, recommendation: Recommendation, pods: Pods
    ) -> tuple[int, str]:
        desired = recommendation.replicas
        stable, held_by = history.stabilise(now, current, desired, self._behavior)
        bounds = (self.params.minimum, self.params.maximum)
        replicas, by = history.limit(now, current, stable, self._behavior, bounds)
        change = f"{current} kept" if replicas == current else f"{current} → {replicas}"
        limit = f"the {by} allow{'s' if by in {'minimum', 'maximum'} else ''} {replicas}, " if by else ""
        if held_by is not None:
            direction, rules = ("in", self._behavior.down) if desired < current else ("out", self._behavior.up)
            held = f"scale-{direction} to {desired} held by the {rules.window_s:g} s stabilisation window"
            reason = f"{held}: {held_by[1]} recommended at {held_by[0]:g} s, {limit}{change}"
        elif recommendation.kept:
            reason = f"{self._seen(recommendation, pods)}: {recommendation.kept} ({recommendation.ratio:.2f}), {change}"
        elif limit:
            reason = f"{self._seen(recommendation, pods)}: {desired} recommended, {limit}{change}"
        else:
            reason = f"{self._seen(recommendation, pods)}: {change}"
        return replicas, reason

    def _seen(self, recommendation: Recommendation, pods: Pods) -> str:
        counted, target = len(pods.usage_m), self._goal.target
        plural = "s" if counted > 1 else ""
        seen = f"CPU {recommendation.utilization}% (target {target}%) over {counted} ready pod{plural}"
        above = recommendation.utilization > target
        if pods.missing and recommendation.utilization != target:
            seen += f", {pods.missing} without a metric taken as {0 if above else max(100, target)}%"
        if pods.unready and above:
            seen += f", {pods.unready} not ready taken as 0%"
        return seen
