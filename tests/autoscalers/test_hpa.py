"""The HPA against what Kubernetes documents and what the controller's own unit tests state.

The figures are facts of kubernetes/kubernetes, pkg/controller/podautoscaler; each comment names the upstream
case. Pods request 1000 millicores there and here, so that a CPU share of 0.3 is 300 millicores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from autoscalers.hpa import Hpa, HpaParams
from autoscalers.model import Decision, Observation, OperatorView
from autoscalers.testing import observation

NAN = float("nan")
NOW = 1000.0


def hpa(**parameters: Any) -> Hpa:
    return Hpa(HpaParams(**({"maximum": 1000} | parameters)))


def wanted(decision: Decision, current: int) -> int:
    return decision.parallelism.get("job", current)


@dataclass(frozen=True)
class Case:
    name: str
    target: float
    current: int
    cpu: list[float]
    expected: int
    unready: list[int] = field(default_factory=list)
    """Pods that never were ready."""
    young: list[int] = field(default_factory=list)
    """Pods that are ready, but started a moment ago."""

    def observation(self) -> Observation:
        pods = range(len(self.cpu))
        return observation(
            time_s=NOW,
            parallelism=self.current,
            cpu=self.cpu,
            ready=[pod not in self.unready for pod in pods],
            started_s=[NOW - 5 if pod in self.young else 0.0 for pod in pods],
            ready_since_s=[NOW - 5 if pod in self.young else 0.0 for pod in pods],
        )


REPLICAS = [
    # TestReplicaCalcResourceScale
    Case("scale up", 0.30, 3, [0.3, 0.5, 0.7], 5),
    Case("scale up: an unready pod scales less", 0.30, 3, [0.3, 0.5, 0.7], 4, unready=[0]),
    Case("scale up: a hot pod scales less", 0.30, 3, [0.3, 0.5, 0.7], 4, young=[0]),
    Case("no scale: unready pods turn it", 0.30, 3, [0.4, 0.5, 0.7], 3, unready=[1, 2]),
    Case("no scale: hot pods turn it", 0.30, 3, [0.4, 0.5, 0.7], 3, young=[1, 2]),
    Case("scale down", 0.50, 5, [0.1, 0.3, 0.5, 0.25, 0.25], 3),
    Case("scale down: unready pods are left out", 0.50, 5, [0.1, 0.3, 0.5, 0.25, 0.25], 2, unready=[3, 4]),
    Case("scale down: hot pods are left out", 0.50, 5, [0.1, 0.3, 0.5, 0.25, 0.25], 2, young=[3, 4]),
    Case("scale down: pending pods are left out", 0.50, 5, [0.1, NAN, NAN, NAN, NAN], 1, unready=[1, 2, 3, 4]),
    # TestReplicaCalcSuperfluousMetrics: 587 %, and 587.5 % would not change it
    Case("far above", 1.00, 4, [4.0, 9.5, 3.0, 7.0], 24),
    # TestReplicaCalcMissingMetrics: 24 % seen, 62 % with the missing at 100 %
    Case("missing on the way down count 100 %", 1.00, 4, [0.4, 0.095, NAN, NAN], 3),
    # TestReplicaCalcMissingMetricsNoChangeEq, -Gt, -Lt
    Case("missing at the target", 1.00, 2, [1.0, NAN], 2),
    Case("missing on the way up", 1.00, 2, [1.9, NAN], 2),
    Case("missing on the way down", 1.00, 2, [0.6, NAN], 2),
    # TestReplicaCalcMissingMetricsUnreadyChange, -HotCpuNoChange: 45 % seen, 72 % assumed
    Case("missing turns it, unready", 0.50, 3, [0.1, 0.45, NAN], 3, unready=[0]),
    Case("missing turns it, hot", 0.50, 3, [0.1, 0.45, NAN], 3, young=[0]),
    # TestReplicaCalcMissingMetricsUnreadyScaleUp: 200 % seen, 66 % assumed
    Case("missing and unready on the way up count 0 %", 0.50, 3, [0.1, 2.0, NAN], 4, unready=[0]),
    # TestReplicaCalcMissingMetricsUnreadyScaleDown: 10 % seen, 40 % assumed of three
    Case("missing on the way down, unready left out", 0.50, 4, [0.1, 0.1, 0.1, NAN], 3, unready=[0]),
    # TestReplicaCalcEmptyMetrics
    Case("no metrics", 1.00, 4, [NAN, NAN, NAN, NAN], 4),
    Case("one of four reports", 0.50, 4, [1.0, NAN, NAN, NAN], 4),
    # TestReplicaCalcComputedToleranceAlgImplementation, in our units
    Case("just outside the tolerance", 0.56, 10, [0.5] * 10, 9),
    Case("just inside the tolerance", 0.55, 10, [0.5] * 10, 10),
    # utilization.go: whole percent, cut, not rounded. 0.889 / 0.80 = 1.11, but 88 / 80 = 1.10.
    Case("88.9 % is 88 %", 0.80, 10, [0.889] * 10, 10),
    Case("89.0 % is 89 %", 0.80, 10, [0.89] * 10, 12),
    Case("71.9 % is 71 %", 0.80, 10, [0.719] * 10, 9),
    Case("72.0 % is 72 %", 0.80, 10, [0.72] * 10, 10),
    Case("the sum is cut, not each pod", 0.80, 2, [0.885, 0.895], 3),
]


@pytest.mark.parametrize("case", REPLICAS, ids=lambda case: case.name)
def test_replicas(case: Case) -> None:
    unlimited = {"scaleUp": {"policies": [{"type": "Pods", "value": 1000, "periodSeconds": 15}]}}
    policy = hpa(target_cpu=case.target, downscale_stabilization_s=0, behavior=unlimited)
    decision = policy.decide(case.observation())
    assert wanted(decision, case.current) == case.expected, decision.reason


@pytest.mark.parametrize(
    ("percent", "target", "expected"),
    [(88, 80, 20), (72, 80, 20), (110, 100, 20), (90, 100, 20), (66, 60, 20), (54, 60, 20), (89, 80, 23), (53, 60, 18)],
)
def test_the_tolerance_includes_its_bounds(percent: int, target: int, expected: int) -> None:
    # Tolerances.isWithin; 11/10 and 9/10 of a target are still within
    policy = hpa(target_cpu=target / 100, downscale_stabilization_s=0)
    assert wanted(policy.decide(observation(parallelism=20, cpu=percent / 100)), 20) == expected


@pytest.mark.parametrize(
    ("rules", "percent", "expected"),
    [
        ({"scaleUp": {"tolerance": 0.01}}, 92, 4),  # TestReplicaCalcConfigurableTolerance
        ({"scaleUp": {"tolerance": "0.01"}}, 92, 4),
        ({"scaleDown": {"tolerance": 0.01}}, 92, 3),
        ({"scaleDown": {"tolerance": 0.5}}, 46, 3),
        ({"scaleDown": {"tolerance": 0.5}}, 44, 2),
    ],
)
def test_each_direction_may_have_a_tolerance(rules: dict[str, Any], percent: int, expected: int) -> None:
    policy = hpa(target_cpu=0.90, downscale_stabilization_s=0, behavior=rules)
    assert wanted(policy.decide(observation(parallelism=3, cpu=percent / 100)), 3) == expected


@pytest.mark.parametrize(
    ("current", "cpu", "expected", "reason"),
    [
        (0, 1.0, 0, "scaling is disabled while the number of replicas is 0"),  # "ScalingDisabled"
        (15, 0.8, 10, "more replicas than the maximum: 15 → 10"),
        (1, 0.8, 3, "fewer replicas than the minimum: 1 → 3"),
        (9, 1.0, 10, "CPU 100% (target 80%) over 9 ready pods: 12 recommended, the maximum allows 10, 9 → 10"),
        (10, 1.0, 10, "CPU 100% (target 80%) over 10 ready pods: 13 recommended, the maximum allows 10, 10 kept"),
        (4, 0.0, 3, "CPU 0% (target 80%) over 4 ready pods: 0 recommended, the minimum allows 3, 4 → 3"),
        (3, 0.0, 3, "CPU 0% (target 80%) over 3 ready pods: 0 recommended, the minimum allows 3, 3 kept"),
    ],
)
def test_bounds(current: int, cpu: float, expected: int, reason: str) -> None:
    policy = hpa(minimum=3, maximum=10, downscale_stabilization_s=0)
    decision = policy.decide(observation(time_s=NOW, parallelism=current, cpu=cpu))
    assert (wanted(decision, current), decision.reason) == (expected, reason)


def steps(policy: Hpa, current: int, cpus: list[float], *, every_s: float = 15.0) -> list[int]:
    """The sizes after each decision, all pods ready at once."""
    sizes = []
    for step, cpu in enumerate(cpus):
        current = wanted(policy.decide(observation(time_s=NOW + step * every_s, parallelism=current, cpu=cpu)), current)
        sizes.append(current)
    return sizes


def test_scale_in_waits_for_the_window_to_pass() -> None:
    # TestScaleDownStabilizeInitialSize: the size at first sight counts as recommended then, so 20 × 15 s hold it
    assert steps(hpa(), 8, [0.4] * 21) == [8] * 20 + [4]


def test_scale_in_falls_to_the_highest_of_the_window() -> None:
    # 8 once, then 6 for 60 s, then 4
    assert steps(hpa(), 8, [0.6] * 4 + [0.4] * 20)[19:] == [8, 6, 6, 6, 4]


def test_scale_out_is_not_held_by_default() -> None:
    assert steps(hpa(), 2, [0.5, 1.0, 1.0]) == [2, 3, 4]


def test_scale_out_may_have_a_window() -> None:
    # the size at first sight holds for four periods, as does each lower recommendation
    rules = {"scaleUp": {"stabilizationWindowSeconds": 60}}
    assert steps(hpa(behavior=rules), 4, [1.0] * 6) == [4, 4, 4, 4, 5, 5]


def test_default_scale_up_is_the_larger_of_double_and_four_more() -> None:
    # TestScalingWithRules, "scaleUp with default behavior"; 20 pods' worth of CPU against a target of 10 %
    assert steps(hpa(target_cpu=0.10), 1, [2.0, 2.0, 2.0]) == [5, 10, 20]


def test_upscale_cap() -> None:
    # TestUpscaleCap and TestUpscaleCapGreaterThanMaxReplicas: 3 pods at 200 % of 10 %, at most 700 % more
    rules = {"scaleUp": {"policies": [{"type": "Percent", "value": 700, "periodSeconds": 60}]}}
    for maximum, expected in ((100, 24), (20, 20)):
        policy = hpa(target_cpu=0.10, maximum=maximum, behavior=rules)
        assert steps(policy, 3, [2.0]) == [expected]


def test_a_policy_counts_what_was_added_in_its_period() -> None:
    rules = {"scaleUp": {"policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}]}}
    # 4 at once, then none until 60 s have passed
    assert steps(hpa(target_cpu=0.10, behavior=rules), 2, [1.0] * 9) == [6, 6, 6, 6, 10, 10, 10, 10, 14]


def test_scaling_in_may_be_disabled() -> None:
    rules = {"scaleDown": {"selectPolicy": "Disabled", "stabilizationWindowSeconds": 0}}
    policy = hpa(behavior=rules)
    assert steps(policy, 8, [0.1] * 3) == [8, 8, 8]
    assert "the scale-down policies allow 8" in policy.decide(observation(time_s=2000, parallelism=8, cpu=0.1)).reason


def test_reasons() -> None:
    policy = hpa(maximum=8, behavior={"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 15}]}})

    def reason(**view: Any) -> str:
        return policy.decide(observation(**view)).reason

    assert reason(time_s=1200, parallelism=4, cpu=0.81) == (
        "CPU 81% (target 80%) over 4 ready pods: within tolerance (1.01), 4 kept"
    )
    assert reason(time_s=1215, parallelism=4, cpu=0.2) == (
        "scale-in to 1 held by the 300 s stabilisation window: 4 recommended at 1200 s, 4 kept"
    )
    assert reason(time_s=1230, parallelism=2, cpu=[1.2, NAN], ready=[True, True]) == (
        "CPU 120% (target 80%) over 1 ready pod, 1 without a metric taken as 0%: "
        "that would turn the direction (0.75), 2 kept"
    )
    assert reason(time_s=1245, parallelism=3, cpu=[2.0, 2.0, 0.1], ready=[True, True, False]) == (
        "CPU 200% (target 80%) over 2 ready pods, 1 not ready taken as 0%: "
        "5 recommended, the scale-up policies allow 4, 3 → 4"
    )
    assert reason(time_s=1260, parallelism=2, cpu=[]) == "no metric of a ready pod, 2 kept"


def test_each_operator_has_its_own_history() -> None:
    def both(time_s: float, a: OperatorView, b: OperatorView) -> Observation:
        return Observation(time_s=time_s, workload=np.ones(15), operators={"count": a, "split": b})

    idle, busy = (observation(parallelism=4, cpu=cpu).operators["job"] for cpu in (0.2, 1.0))
    decision = hpa().decide(both(900, idle, busy))
    assert dict(decision.parallelism) == {"split": 5}
    assert decision.reason == (
        "count: scale-in to 1 held by the 300 s stabilisation window: 4 recommended at 900 s, 4 kept; "
        "split: CPU 100% (target 80%) over 4 ready pods: 4 → 5"
    )
