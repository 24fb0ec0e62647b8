"""From pods to a recommended number of replicas: the Kubernetes replica calculator for CPU utilisation.

The rules are those of `groupPods`, `GetResourceReplicas` and `GetResourceUtilizationRatio` in
kubernetes/kubernetes, pkg/controller/podautoscaler. All pods request the same CPU here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, isfinite, isnan
from typing import NamedTuple

import numpy as np

from autoscalers.model import Floats, OperatorView

NANOCORES = 1_000_000
"""In a millicore."""


class Pods(NamedTuple):
    """The pods of a workload by what may be concluded from them; terminating ones are left out."""

    usage_m: list[int]
    """Millicores of each pod whose metric counts."""
    unready: int = 0
    """Pending, or their metric still tells of their start."""
    missing: int = 0
    """Running, but without a metric."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """When a pod's CPU may be believed."""

    cpu_initialization_period_s: float = 300.0
    initial_readiness_delay_s: float = 30.0
    metrics_window_s: float = 15.0


class _Pod(NamedTuple):
    usage_m: int | None
    ready: bool
    started_s: float
    changed_s: float

    @property
    def was_ready(self) -> bool:
        return self.ready or self.changed_s > self.started_s


def group(view: OperatorView, now: float, quota_m: int, readiness: Readiness) -> Pods:
    """Sort an operator's instances as the controller sorts pods.

    An instance that never served and has no CPU sample is a pending pod; so is one that is wanted but not yet
    observed, for a ReplicaSet creates its pods at once. Instances beyond the wanted number are terminating.
    """
    usage = _millicores(view.cpu, quota_m)
    pods: Iterable[tuple[int | None, bool, float, float]] = zip(
        usage, view.ready.tolist(), view.started_s.tolist(), view.ready_since_s.tolist(), strict=True
    )
    surplus = len(usage) - view.parallelism
    if surplus > 0:
        pods = sorted((_Pod(*pod) for pod in pods), key=_stays)[surplus:]
    counted: list[int] = []
    unready, missing = max(-surplus, 0), 0
    for used, ready, started, changed in pods:
        if used is None:
            if ready or changed > started:
                missing += 1
            else:
                unready += 1
        elif _believed(now, ready, started, changed, readiness):
            counted.append(used)
        else:
            unready += 1
    return Pods(counted, unready, missing)


def _believed(now: float, ready: bool, started: float, changed: float, readiness: Readiness) -> bool:
    if isnan(started) or isnan(changed):  # a pod that nobody has started yet
        return False
    if started + readiness.cpu_initialization_period_s > now:
        return ready and now >= changed + readiness.metrics_window_s
    return ready or changed >= started + readiness.initial_readiness_delay_s


def _stays(pod: _Pod) -> tuple[bool, bool, float, float]:
    """Sorts terminating pods first: those that stopped serving, then as a ReplicaSet chooses whom to delete."""
    return pod.ready, not pod.was_ready, -pod.changed_s, -pod.started_s


def _millicores(cpu: Floats, quota_m: int) -> list[int | None]:
    """CPU by instance as the metrics API tells it: a mean in nanocores, then millicores, rounded up."""
    samples, instances = cpu.shape
    if not samples:
        return [None] * instances
    nanocores = quota_m * NANOCORES / samples
    totals: list[float] = np.add.reduce(cpu, axis=0).tolist()
    return [
        -(-round(total * nanocores) // NANOCORES) if isfinite(total) else _partial(cpu[:, instance], quota_m)
        for instance, total in enumerate(totals)
    ]


def _partial(cpu: Floats, quota_m: int) -> int | None:
    """The same for one instance that was not measured at every sample."""
    measured = cpu[np.isfinite(cpu)]
    return -(-round(float(measured.mean()) * quota_m * NANOCORES) // NANOCORES) if measured.size else None


@dataclass(frozen=True, slots=True)
class Goal:
    """What the utilisation shall be."""

    target: int
    """Percent of the request."""
    request_m: int = 1000
    """Millicores."""
    tolerance_down: float = 0.1
    """How far a ratio below 1 is left alone."""
    tolerance_up: float = 0.1
    """How far a ratio above 1 is left alone."""

    def tolerates(self, ratio: float) -> bool:
        return 1.0 - self.tolerance_down <= ratio <= 1.0 + self.tolerance_up

    def utilization(self, used_m: int, pods: int) -> int:
        """Percent, cut to a whole number."""
        return used_m * 100 // (self.request_m * pods)


class Recommendation(NamedTuple):
    """What the metric asks for, before stabilisation and limits."""

    replicas: int
    utilization: int
    """Percent over the pods whose metric counts."""
    ratio: float
    """Utilisation to target, with what was assumed of other pods."""
    kept: str = ""
    """Why the current number is kept, if it is."""


def recommend(current: int, pods: Pods, goal: Goal) -> Recommendation | None:
    """The number of replicas that brings CPU to its target; None where no metric counts.

    >>> recommend(4, Pods([930] * 4), Goal(target=80))
    Recommendation(replicas=5, utilization=93, ratio=1.1625, kept='')

    Where a pod's usage is not known it is assumed to be what damps the change, and an assumption never turns
    the direction:

    >>> recommend(2, Pods([1500], missing=1), Goal(target=100)).kept
    'that would turn the direction'
    """
    counted = len(pods.usage_m)
    if not counted:
        return None
    used = sum(pods.usage_m)
    utilization = goal.utilization(used, counted)
    ratio = seen = utilization / goal.target
    unready = pods.unready if seen > 1.0 else 0
    assumed = unready + (pods.missing if seen != 1.0 else 0)
    if assumed:
        if seen < 1.0:
            used += pods.missing * (goal.request_m * max(100, goal.target) // 100)
        ratio = goal.utilization(used, counted + assumed) / goal.target
    kept = ""
    if goal.tolerates(ratio):
        kept = "within tolerance"
    elif (seen - 1.0) * (ratio - 1.0) < 0:
        kept = "that would turn the direction"
    replicas = ceil(ratio * (counted + assumed))
    if assumed and not kept and (replicas - current) * (ratio - 1.0) < 0:
        kept = "that would turn the direction"
    return Recommendation(current if kept else replicas, utilization, ratio, kept)
