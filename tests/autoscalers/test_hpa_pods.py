"""Which pods the HPA counts, and as what: `groupPods` and the metrics API of Kubernetes, seen in decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoscalers._hpa_replicas import Goal, Pods, recommend
from autoscalers.hpa import Hpa, HpaParams
from autoscalers.model import Decision, Observation
from autoscalers.testing import observation

NAN = float("nan")
NOW = 1000.0


def hpa(**parameters: Any) -> Hpa:
    return Hpa(HpaParams(**({"maximum": 1000} | parameters)))


def wanted(decision: Decision, current: int) -> int:
    return decision.parallelism.get("job", current)


def seconds_before(view: dict[str, float]) -> Observation:
    """Two pods: an old one at 120 %, and one of which it is asked whether its CPU counts."""
    return observation(
        time_s=NOW,
        parallelism=2,
        cpu=[1.2, 1.2],
        ready=[True, bool(view.get("ready", True))],
        started_s=[0.0, NOW - view["started"]],
        ready_since_s=[0.0, NOW - view["changed"]],
    )


@pytest.mark.parametrize(
    ("view", "counts"),
    [
        # TestGroupPods, with the defaults of 300 s, 30 s and a metric window of 15 s
        ({"started": 60, "changed": 15}, True),  # a full window since it became ready
        ({"started": 60, "changed": 14.9}, False),
        ({"started": 299.9, "changed": 5}, False),  # still within the initialisation period
        ({"started": 300, "changed": 5}, True),  # after it a ready pod needs no fresh metric
        ({"started": 60, "changed": 20, "ready": False}, False),
        ({"started": 600, "changed": 540, "ready": False}, True),  # was ready once
        ({"started": 600, "changed": 570, "ready": False}, True),  # at the initial readiness delay
        ({"started": 600, "changed": 570.1, "ready": False}, False),
        ({"started": 600, "changed": 600, "ready": False}, False),  # never was ready
    ],
)
def test_when_the_cpu_of_a_pod_counts(view: dict[str, float], counts: bool) -> None:
    # 120 % of two pods is 3; of one, with the other taken as 0 %, it is 60 %, which turns the direction
    decision = hpa(target_cpu=0.80).decide(seconds_before(view))
    assert wanted(decision, 2) == (3 if counts else 2), decision.reason


def test_pods_that_terminate_are_left_out() -> None:
    # "scale down: still-running pods being deleted are ignored", upstream issue 83561
    gone = observation(
        time_s=NOW,
        parallelism=5,
        cpu=[0.1, 0.9, 0.3, 0.5, 0.9, 0.25, 0.25],
        ready=[True, False, True, True, False, True, True],
        ready_since_s=[0, NOW - 5, 0, 0, NOW - 5, 0, 0],
    )
    assert wanted(hpa(target_cpu=0.50, downscale_stabilization_s=0).decide(gone), 5) == 3


def test_of_too_many_ready_pods_the_youngest_terminate() -> None:
    surge = observation(
        time_s=NOW,
        parallelism=2,
        cpu=[1.0, 0.4, 0.4],
        started_s=[600, 0, 0],
        ready_since_s=[620, 20, 20],
    )
    assert hpa(target_cpu=0.40).decide(surge).reason.startswith("CPU 40% (target 40%) over 2 ready pods")


def test_pods_not_yet_there_are_pending() -> None:
    # three of five exist, at 100 % of a target of 80 %: with two pending ones it is 60 %, so nothing happens
    booting = observation(time_s=NOW, parallelism=5, cpu=[1.0, 1.0, 1.0])
    assert wanted(hpa(downscale_stabilization_s=0).decide(booting), 5) == 5


@pytest.mark.parametrize(("changed_s", "expected"), [(0.0, 1), (500.0, 2)])
def test_an_unready_pod_without_a_metric_is_pending_unless_it_was_ready(changed_s: float, expected: int) -> None:
    # the other pod is at 40 % of a target of 80 %: alone that is 1, with the missing one at 100 % it is 70 % and 2
    silent = observation(time_s=NOW, parallelism=2, cpu=[0.4, NAN], ready=[True, False], ready_since_s=[0.0, changed_s])
    assert wanted(hpa(downscale_stabilization_s=0).decide(silent), 2) == expected


@pytest.mark.parametrize(
    ("current", "pods", "target", "expected"),
    [
        # TestReplicaCalcDuringRollingUpdateWithMaxSurge: 40 % of 50 % over three is 3, more than the 2 there shall be
        (2, Pods([100, 100], missing=1), 50, 2),
        # TestReplicaCalcMissingMetricsScaleDownTargetOver100, with equal requests: missing ones count the target
        (4, Pods([100, 100], unready=1, missing=1), 300, 2),
    ],
)
def test_what_only_a_rolling_update_shows(current: int, pods: Pods, target: int, expected: int) -> None:
    recommendation = recommend(current, pods, Goal(target=target))
    assert recommendation is not None
    assert recommendation.replicas == expected


def test_a_pod_measured_in_part_counts_what_was_measured() -> None:
    cpu = np.full((15, 2), 1.0)
    cpu[:10, 1] = NAN
    assert wanted(hpa().decide(observation(time_s=NOW, parallelism=2, cpu=cpu)), 2) == 3


def test_usage_is_rounded_up_to_millicores() -> None:
    # resource.Quantity.MilliValue rounds up: 879.9001 millicores are 880, and 88 %
    assert hpa().decide(observation(time_s=NOW, parallelism=1, cpu=0.8799001)).reason.startswith("CPU 88%")


def test_a_request_below_the_quota_raises_the_utilisation() -> None:
    # 0.5 of a quota of 2000 is 1000 millicores, 200 % of a request of 500
    decision = hpa(cpu_quota_m=2000, cpu_request_m=500).decide(observation(time_s=NOW, parallelism=2, cpu=0.5))
    assert decision.reason == "CPU 200% (target 80%) over 2 ready pods: 2 → 5"
