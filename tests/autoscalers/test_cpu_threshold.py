from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscalers.cpu_threshold import CpuThreshold, CpuThresholdParams
from autoscalers.model import Observation
from autoscalers.testing import observation

NAN = float("nan")


def rules(**parameters: Any) -> CpuThreshold:
    return CpuThreshold(CpuThresholdParams(**({"cool_down_s": 0} | parameters)))


def sizes(policy: CpuThreshold, current: int, cpus: list[float], *, every_s: float = 60.0) -> list[int]:
    """The sizes after each decision, each of which is carried out at once."""
    found = []
    for step, cpu in enumerate(cpus, start=1):
        decision = policy.decide(observation(time_s=step * every_s, parallelism=current, cpu=cpu))
        current = decision.parallelism.get("job", current)
        found.append(current)
    return found


@pytest.mark.parametrize(
    ("cpus", "expected"),
    [
        ([0.9, 0.9, 0.9], [4, 4, 5]),  # more than two periods
        ([0.9, 0.9, 0.5, 0.9, 0.9, 0.9], [4, 4, 4, 4, 4, 5]),  # in a row
        ([0.3, 0.3, 0.3], [4, 4, 3]),
        ([0.9, 0.9, 0.3, 0.3, 0.3], [4, 4, 4, 4, 3]),  # the other side begins anew
        ([0.8] * 5, [4] * 5),  # at a threshold is not beyond it
        ([0.4] * 5, [4] * 5),
        ([0.9] * 7, [4, 4, 5, 5, 5, 6, 6]),  # after an action it counts anew
        ([0.9, NAN, 0.9, NAN, 0.9], [4, 4, 4, 4, 5]),  # what was not measured neither counts nor interrupts
    ],
)
def test_more_than_two_periods_in_a_row(cpus: list[float], expected: list[int]) -> None:
    assert sizes(rules(), 4, cpus) == expected


@pytest.mark.parametrize(("periods", "expected"), [(0, [5, 6, 7]), (1, [4, 5, 5]), (3, [4, 4, 4])])
def test_periods(periods: int, expected: list[int]) -> None:
    assert sizes(rules(periods=periods), 4, [0.9] * 3) == expected


def test_the_cool_down_holds_an_action_back_and_then_lets_it_go() -> None:
    policy = rules(cool_down_s=300)
    # acts at 180 s; beyond for long enough at 360 s, but not before 480 s
    assert sizes(policy, 4, [0.9] * 9) == [4, 4, 5, 5, 5, 5, 5, 6, 6]
    held = policy.decide(observation(time_s=600, parallelism=6, cpu=0.9))
    assert held.reason == "CPU 90.0% is above 80% for 2 periods; more than 2 are needed"
    held = policy.decide(observation(time_s=660, parallelism=6, cpu=0.9))
    assert held.reason == "CPU 90.0% is above 80% for 3 periods; cooling down for another 120 s"


@pytest.mark.parametrize(
    ("parameters", "current", "cpu", "expected"),
    [
        ({"step": 3}, 4, 0.9, 7),
        ({"step": 3}, 9, 0.3, 6),
        ({"step_share": 0.5}, 8, 0.9, 12),
        ({"step_share": 0.5}, 9, 0.3, 5),  # 4.5, rounded down
        ({"step_share": 0.1}, 4, 0.9, 5),  # at least the step
        ({"step": 9}, 8, 0.9, 12),
        ({"step": 9, "minimum": 2}, 8, 0.3, 2),
        ({"minimum": 2}, 2, 0.1, 2),
        ({}, 12, 0.95, 12),
        ({}, 15, 0.95, 12),  # out of bounds is mended at once
        ({"minimum": 3}, 1, 0.1, 3),
    ],
)
def test_steps_and_bounds(parameters: dict[str, Any], current: int, cpu: float, expected: int) -> None:
    assert sizes(rules(periods=0, **parameters), current, [cpu]) == [expected]


def test_reasons() -> None:
    policy = rules(periods=0, cool_down_s=60, maximum=4)

    def reason(time_s: float, parallelism: int, cpu: float) -> str:
        return policy.decide(observation(time_s=time_s, parallelism=parallelism, cpu=cpu)).reason

    assert reason(60, 3, 0.9) == "CPU 90.0% is above 80% for 1 period: 3 → 4"
    assert reason(90, 4, 0.35) == "CPU 35.0% is below 40% for 1 period; cooling down for another 30 s"
    assert reason(120, 4, 0.95) == "CPU 95.0% is above 80% for 1 period; 4 is the maximum"
    assert reason(180, 4, 0.6) == "CPU 60.0% is between 40% and 80%, 4 kept"
    assert reason(240, 4, NAN) == "no CPU was measured, 4 kept"
    assert reason(300, 9, 0.6) == "9 workers are above the maximum of 4: 9 → 4"


def test_operators_are_watched_apart() -> None:
    busy, calm = (observation(parallelism=2, cpu=cpu).operators["job"] for cpu in (0.9, 0.5))
    policy = rules(periods=1)
    for time_s in (60.0, 120.0):
        decision = policy.decide(Observation(time_s, np.ones(1), operators={"split": busy, "count": calm}))
    assert decision.parallelism == {"split": 3}
    assert decision.reason == (
        "split: CPU 90.0% is above 80% for 2 periods: 2 → 3; count: CPU 50.0% is between 40% and 80%, 2 kept"
    )


@given(cpus=st.lists(st.floats(0, 1), max_size=40), cool_down=st.integers(0, 600), periods=st.integers(0, 4))
def test_actions_are_apart_by_the_cool_down(cpus: list[float], cool_down: int, periods: int) -> None:
    found = [6, *sizes(rules(cool_down_s=cool_down, periods=periods), 6, cpus)]
    acted = [60 * step for step in range(1, len(found)) if found[step] != found[step - 1]]
    assert all(1 <= size <= 12 for size in found)
    for earlier, later in pairwise(acted):
        assert later - earlier >= max(cool_down, 60 * (periods + 1))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"upper": 1.7}, "upper: 1.7 is not a share between 0 and 1"),
        ({"upper": 0.4, "lower": 0.5}, "lower: 0.5 is not below the upper threshold of 0.4"),
        ({"lower": -0.1}, "lower: -0.1 is not a share from 0 up to 1"),
        ({"periods": -1}, "periods: -1 is not a whole number of periods, 0 or more"),
        ({"step": 0}, "step: 0 is not a whole number of workers, at least 1"),
        ({"step_share": NAN}, "step_share: nan is not a share, 0 or more"),
        ({"cool_down_s": -1}, "cool_down_s: -1 is not a number of seconds, 0 or more"),
        ({"period_s": 0}, "period_s: 0 is not a number of seconds above 0"),
        ({"minimum": 5, "maximum": 4}, "maximum: 4 is below the minimum of 5"),
    ],
)
def test_what_is_no_parameter(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z_]+: ") as fault:
        CpuThresholdParams(**parameters)
    assert str(fault.value) == message


def test_the_period_is_a_parameter() -> None:
    assert rules(period_s=30).period_s == 30
