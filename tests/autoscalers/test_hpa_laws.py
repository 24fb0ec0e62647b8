"""What holds for the HPA whatever it is shown."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from autoscalers._hpa_replicas import Goal, Pods, recommend
from autoscalers.hpa import Hpa, HpaParams
from autoscalers.model import Observation
from autoscalers.testing import observation

SHARES = st.floats(0, 3)
POLICY = st.fixed_dictionaries(
    {"type": st.sampled_from(["Pods", "Percent"]), "value": st.integers(1, 300), "periodSeconds": st.integers(1, 240)}
)
RULES = st.fixed_dictionaries(
    {},
    optional={
        "stabilizationWindowSeconds": st.integers(0, 120),
        "selectPolicy": st.sampled_from(["Max", "Min", "Disabled"]),
        "policies": st.lists(POLICY, min_size=1, max_size=3),
        "tolerance": st.floats(0, 0.5),
    },
)
BEHAVIORS = st.none() | st.fixed_dictionaries({}, optional={"scaleUp": RULES, "scaleDown": RULES})


@st.composite
def observations(draw: st.DrawFn, time_s: float) -> Observation:
    pods = draw(st.integers(0, 8))
    times = st.lists(st.floats(0, time_s), min_size=pods, max_size=pods)
    return observation(
        time_s=time_s,
        parallelism=draw(st.integers(0, 20)),
        cpu=draw(st.lists(SHARES | st.just(float("nan")), min_size=pods, max_size=pods)),
        samples=draw(st.integers(0, 3)),
        ready=draw(st.lists(st.booleans(), min_size=pods, max_size=pods)),
        started_s=draw(times),
        ready_since_s=draw(times),
    )


@given(data=st.data(), behavior=BEHAVIORS, bounds=st.tuples(st.integers(1, 10), st.integers(0, 10)))
def test_what_is_wanted_is_within_the_bounds(data: st.DataObject, behavior: Any, bounds: tuple[int, int]) -> None:
    minimum, maximum = bounds[0], sum(bounds)
    policy = Hpa(HpaParams(minimum=minimum, maximum=maximum, behavior=behavior))
    for step in range(1, 6):
        decision = policy.decide(data.draw(observations(step * 15.0)))
        for wanted in decision.parallelism.values():
            assert type(wanted) is int
            assert minimum <= wanted <= maximum


@given(pods=st.integers(1, 40), one=SHARES, other=SHARES, target=st.integers(1, 100), behavior=BEHAVIORS)
def test_more_cpu_never_asks_for_less(pods: int, one: float, other: float, target: int, behavior: Any) -> None:
    def wanted(cpu: float) -> int:
        params = HpaParams(target_cpu=target / 100, maximum=60, behavior=behavior, downscale_stabilization_s=0)
        return Hpa(params).decide(observation(parallelism=pods, cpu=cpu)).parallelism.get("job", pods)

    assert wanted(min(one, other)) <= wanted(max(one, other))


@given(
    usage=st.lists(st.integers(0, 3000), min_size=1, max_size=10),
    unready=st.integers(0, 5),
    missing=st.integers(0, 5),
    target=st.integers(1, 100),
)
@example(usage=[1900], unready=0, missing=1, target=100)
def test_what_is_not_known_only_damps(usage: list[int], unready: int, missing: int, target: int) -> None:
    """Pods of unknown usage bring the ratio nearer to 1, and never turn the direction that the known ones ask for."""
    current = len(usage) + unready + missing
    goal = Goal(target=target)
    known = recommend(len(usage), Pods(usage), goal)
    damped = recommend(current, Pods(usage, unready, missing), goal)
    assert known is not None
    assert damped is not None
    if known.utilization > target:
        assert damped.ratio <= known.ratio
        assert damped.replicas >= current
    elif known.utilization < target:
        assert damped.ratio >= known.ratio
        assert damped.replicas <= current
    else:
        assert damped.replicas == current


def trajectory(policy: Hpa, start: int, cpus: list[float]) -> list[tuple[float, int]]:
    """(time, size) after each decision, each of which is carried out at once."""
    sizes = [(0.0, start)]
    for step, cpu in enumerate(cpus, start=1):
        time_s = step * 15.0
        current = sizes[-1][1]
        decision = policy.decide(observation(time_s=time_s, parallelism=current, cpu=np.full((1, current), cpu)))
        sizes.append((time_s, decision.parallelism.get("job", current)))
    return sizes


@given(
    policies=st.tuples(POLICY, POLICY),
    start=st.integers(1, 30),
    cpus=st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 3.0]), min_size=1, max_size=20),
)
def test_no_period_sees_more_change_than_its_policy_allows(policies: Any, start: int, cpus: list[float]) -> None:
    up, down = policies
    behavior = {
        "scaleUp": {"policies": [up]},
        "scaleDown": {"policies": [down], "stabilizationWindowSeconds": 0},
    }
    sizes = trajectory(Hpa(HpaParams(target_cpu=0.5, maximum=200, behavior=behavior)), start, cpus)

    def at(time_s: float) -> int:
        return next(size for when, size in reversed(sizes) if when <= max(time_s, 0.0))

    for (_, before), (now, after) in pairwise(sizes):
        if after > before:
            first, value = at(now - up["periodSeconds"]), up["value"]
            assert after <= (first + value if up["type"] == "Pods" else ceil(first * (1 + value / 100)))
        elif after < before:
            first, value = at(now - down["periodSeconds"]), down["value"]
            assert after >= (first - value if down["type"] == "Pods" else int(first * (1 - value / 100)))
