"""Stabilisation windows and scaling policies against the controller's own unit tests (horizontal_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from autoscalers._hpa_behavior import Behavior, History
from autoscalers._hpa_manifest import parse

NOW = 10_000.0


def rules(pods: int, pods_period: int, percent: int, percent_period: int, window: int, **more: Any) -> dict[str, Any]:
    policies = [
        {"type": kind, "value": value, "periodSeconds": period}
        for kind, value, period in (("Pods", pods, pods_period), ("Percent", percent, percent_period))
        if value
    ]
    return {"stabilizationWindowSeconds": window, "policies": policies, **more}


def behavior(up: dict[str, Any] | None = None, down: dict[str, Any] | None = None) -> Behavior:
    return parse({"scaleUp": up, "scaleDown": down}, tolerance=0.1, down_window_s=300)


def spread(changes: list[int], period: int) -> list[tuple[float, int]]:
    """Changes in the middle of equal parts of the last seconds, the first one longest ago."""
    part = period / len(changes)
    return [(NOW - period + part * (index + 0.5), change) for index, change in enumerate(changes)]


UP, DOWN, MAX, MIN = "scale-up policies", "scale-down policies", "maximum", "minimum"
NONE: tuple[list[int], list[int]] = ([], [])
#: name, (minimum, maximum), current, desired, expected, what limits, scaleUp, scaleDown, (ups, downs)
LIMITS: list[tuple[str, tuple[int, int], int, int, int, str, Any, Any, tuple[list[int], list[int]]]] = [
    # TestScalingWithRules
    ("within range", (3, 8), 5, 7, 7, "", None, None, NONE),
    ("below the minimum", (2, 8), 3, 1, 2, MIN, None, None, NONE),
    ("above the maximum", (100, 150), 100, 1000, 150, MAX, None, None, NONE),
    ("1 % of 3 is one", (1, 2000), 3, 1000, 4, UP, rules(0, 0, 1, 60, 0), None, NONE),
    ("20 pods down", (3, 2000), 1000, 3, 980, DOWN, None, rules(20, 60, 0, 0, 0), NONE),
    ("default", (1, 1000), 10, 50, 20, UP, None, None, NONE),
    ("default, few", (1, 1000), 1, 50, 5, UP, None, None, NONE),
    ("more pods", (1, 1000), 10, 500, 110, UP, rules(100, 60, 100, 60, 0), None, NONE),
    ("more percent", (1, 1000), 10, 500, 20, UP, rules(2, 60, 100, 60, 0), None, NONE),
    ("large pods", (1, 1000), 10, 50, 50, "", rules(100, 60, 0, 0, 0), None, NONE),
    ("pods", (1, 1000), 10, 50, 40, UP, rules(30, 60, 0, 0, 0), None, NONE),
    ("percent", (1, 1000), 10, 50, 30, UP, rules(0, 0, 200, 60, 0), None, NONE),
    ("down, more pods", (1, 1000), 100, 2, 80, DOWN, None, rules(20, 60, 1, 60, 300), NONE),
    ("down, 2 pods or 1 %", (1, 1000), 100, 2, 98, DOWN, None, rules(2, 60, 1, 60, 300), NONE),
    ("down, large pods", (1, 1000), 10, 0, 1, MIN, None, rules(100, 60, 0, 0, 300), NONE),
    ("down, large percent", (5, 1000), 10, 2, 5, MIN, None, rules(0, 0, 100, 60, 300), NONE),
    ("down, 5 pods", (1, 1000), 10, 2, 5, DOWN, None, rules(5, 60, 0, 0, 300), NONE),
    ("down, 50 %", (1, 1000), 10, 5, 5, "", None, rules(0, 0, 50, 60, 300), NONE),
    # ... with events of the last 120 s
    ("events, maximum", (1, 200), 100, 500, 200, MAX, rules(300, 60, 0, 0, 0), None, ([1, 5, 9], [])),
    ("events, percent", (1, 200), 100, 500, 200, MAX, rules(0, 0, 10000, 60, 0), None, ([1, 5, 9], [])),
    ("events use it up", (1, 1000), 100, 500, 100, UP, rules(5, 120, 0, 0, 0), None, ([1, 5, 9], [])),
    ("events, 150 pods", (1, 1000), 100, 500, 235, UP, rules(150, 120, 0, 0, 0), None, ([1, 5, 9], [])),
    ("events, 200 %", (1, 1000), 100, 500, 255, UP, rules(0, 0, 200, 120, 0), None, ([1, 5, 9], [])),
    ("up and down, 300 %", (1, 1000), 6, 24, 16, UP, rules(0, 0, 300, 300, 0), None, ([4], [2])),
    ("down, default", (1, 1000), 10, 5, 5, "", None, None, ([], [1, 5, 9])),
    ("down, 115 pods", (1, 1000), 100, 0, 1, MIN, None, rules(115, 120, 0, 0, 300), ([], [1, 5, 9])),
    ("down, 5 of 15", (1, 1000), 100, 2, 100, DOWN, None, rules(5, 120, 0, 0, 300), ([], [1, 5, 9])),
    ("down, half", (1, 1000), 100, 0, 56, DOWN, None, rules(0, 0, 50, 120, 300), ([], [2, 4, 6])),
    ("down and up", (1, 1000), 10, 1, 6, DOWN, None, rules(0, 0, 50, 180, 0), ([2], [4])),
    ("10 % used up", (1, 1000), 100, 0, 100, DOWN, None, rules(0, 0, 10, 120, 300), ([], [10, 10, 10])),
    ("below zero", (1, 1000), 10, 5, 5, "", None, rules(0, 0, 1000, 120, 300), ([], [10, 10, 10])),
    # events that one policy still counts and the other does not
    ("two periods", (1, 1000), 100, 200, 180, UP, rules(1, 120, 100, 60, 0), None, ([4, 6, 4, 6], [])),
    # TestCalculateScaleUpLimitWithScalingRules, TestCalculateScaleDownLimitWithBehaviors
    ("Min", (1, 99), 1, 9, 2, UP, rules(2, 60, 50, 60, 300, selectPolicy="Min"), None, NONE),
    ("Min down", (1, 99), 5, 1, 3, DOWN, None, rules(2, 60, 50, 60, 0, selectPolicy="Min"), NONE),
    # the documentation of selectPolicy
    ("Disabled", (1, 99), 5, 9, 5, UP, {"selectPolicy": "Disabled"}, None, NONE),
    ("Disabled down", (1, 99), 5, 1, 5, DOWN, None, {"selectPolicy": "Disabled"}, NONE),
    # upstream computes in floating point: 50 × 1.1 = 55.00000000000001
    ("a trace above", (1, 99), 50, 90, 56, UP, rules(0, 0, 10, 60, 0), None, NONE),
]


@pytest.mark.parametrize("case", LIMITS, ids=lambda case: case[0])
def test_limits(case: Any) -> None:
    _, bounds, current, desired, expected, by, up, down, (ups, downs) = case
    history = History(ups=spread(ups, 120) if ups else [], downs=spread(downs, 120) if downs else [])
    assert history.limit(NOW, current, desired, behavior(up, down), bounds) == (expected, by)


@pytest.mark.parametrize(("age", "expected"), [(59.9, 10), (60.0, 14), (60.1, 14)])
def test_a_change_counts_for_less_than_its_period(age: float, expected: int) -> None:
    history = History(ups=[(NOW - age, 4)])
    assert history.limit(NOW, 10, 99, behavior(rules(4, 60, 0, 0, 0)), (1, 99)).replicas == expected


Ages = list[tuple[float, int]]
#: name, earlier recommendations (minutes ago, replicas), current, desired, expected, kept afterwards, windows
STABLE: list[tuple[str, Ages, int, int, int, list[int], tuple[int, int]]] = [
    # TestNormalizeDesiredReplicasWithBehavior
    ("empty", [], 100, 5, 5, [5], (0, 0)),
    ("down", [(2, 4), (1, 5)], 100, 3, 5, [4, 5, 3], (0, 180)),
    ("up", [(2, 4), (1, 5)], 1, 7, 4, [4, 5, 7], (300, 0)),
    ("down has no window", [(2, 1), (1, 2)], 100, 3, 3, [1, 2, 3], (300, 0)),
    ("up has no window", [(2, 4), (1, 5)], 1, 3, 3, [4, 5, 3], (0, 300)),
    ("down reuses the last outdated", [(10, 10), (9, 9)], 100, 3, 3, [10, 3], (0, 0)),
    ("up reuses the last outdated", [(10, 10), (9, 9)], 1, 100, 100, [10, 100], (0, 0)),
    ("down, out of order", [(10, 10), (1, 4), (2, 5), (9, 9)], 100, 3, 5, [10, 4, 5, 3], (0, 180)),
    ("up, one outdated", [(100, 10), (1, 6), (2, 5), (3, 9)], 1, 100, 5, [100, 6, 5, 9], (300, 0)),
    ("does not rise on the way down", [(100, 2), (3, 3)], 2, 1, 2, [1, 3], (300, 300)),
    ("does not sink on the way up", [(100, 2), (3, 1)], 2, 3, 2, [3, 1], (300, 300)),
]


@pytest.mark.parametrize("case", STABLE, ids=lambda case: case[0])
def test_stabilisation(case: Any) -> None:
    _, before, current, desired, expected, after, (up, down) = case
    history = History(recommendations=[(NOW - 60 * ago, replicas) for ago, replicas in before])
    windows = behavior({"stabilizationWindowSeconds": up}, {"stabilizationWindowSeconds": down})
    stable = history.stabilise(NOW, current, desired, windows)
    assert stable.replicas == expected
    assert [replicas for _, replicas in history.recommendations] == after
    assert (stable.held_by is None) == (expected == desired)


def test_what_holds_is_told_with_its_latest_time() -> None:
    history = History(recommendations=[(NOW - 30, 8), (NOW - 90, 8), (NOW - 15, 6)])
    assert history.stabilise(NOW, 8, 2, behavior()) == (8, (NOW - 30, 8))


def test_a_recommendation_leaves_the_window_at_its_end() -> None:
    for age, expected in ((299.9, 9), (300.0, 2)):
        history = History(recommendations=[(NOW - age, 9)])
        assert history.stabilise(NOW, 9, 2, behavior()).replicas == expected


def test_the_first_size_is_a_recommendation() -> None:
    history = History()
    history.begin(NOW, 7)
    history.begin(NOW + 15, 3)
    assert history.recommendations == [(NOW, 7)]


#: name, earlier events (seconds ago, change), policies of both directions, events afterwards, change of the last 60 s
EVENTS: list[tuple[str, Ages, dict[str, Any], list[int], int]] = [
    # TestStoreScaleEvents, and Before() as horizontal.go has it
    ("none before", [], rules(10, 60, 100, 60, 0), [5], 0),
    ("one outdated", [(61, 7)], rules(10, 60, 100, 60, 0), [5], 0),
    ("one at the end of its period", [(60, 7)], rules(10, 60, 100, 60, 0), [7, 5], 0),
    ("one that counts", [(58, 7)], rules(10, 60, 100, 60, 0), [7, 5], 7),
    ("one of two outdated", [(61, 7), (59, 6)], rules(10, 60, 0, 0, 0), [5, 6], 6),
    ("the last outdated", [(29, 8), (59, 6), (61, 7), (61, 9)], rules(10, 60, 100, 30, 0), [8, 6, 7, 5], 14),
    ("two that count", [(58, 7), (59, 6)], rules(10, 120, 100, 30, 0), [7, 6, 5], 13),
]


@pytest.mark.parametrize("case", EVENTS, ids=lambda case: case[0])
def test_events(case: Any) -> None:
    _, before, policies, after, change = case
    events = [(NOW - ago, replicas) for ago, replicas in before]
    both = behavior(policies, policies)
    history = History(ups=list(events), downs=list(events))
    probe = behavior(rules(1, 60, 0, 0, 0), rules(1, 60, 0, 0, 0))
    assert History(ups=events).limit(NOW, 100, 999, probe, (1, 999)).replicas == max(100, 100 - change + 1)
    assert History(downs=events).limit(NOW, 100, 1, probe, (1, 999)).replicas == min(100, 100 + change - 1)
    history.scaled(NOW, 10, 15, both)
    history.scaled(NOW, 15, 10, both)
    assert [replicas for _, replicas in history.ups] == after
    assert [replicas for _, replicas in history.downs] == after


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "behavior: it is []; write a mapping with scaleUp or scaleDown"),
        ({"scaleup": {}}, "behavior: scaleup is not known; write scaleUp or scaleDown"),
        ({"scaleUp": 3}, "behavior: scaleUp is 3; write a mapping with stabilizationWindowSeconds, selectPolicy, "),
        ({"scaleUp": {"window": 3}}, "behavior: scaleUp.window is not known; write stabilizationWindowSeconds, "),
        (
            {"scaleDown": {"stabilizationWindowSeconds": 3601}},
            "behavior: scaleDown.stabilizationWindowSeconds is 3601; write a whole number from 0 to 3600",
        ),
        ({"scaleUp": {"selectPolicy": "max"}}, "behavior: scaleUp.selectPolicy is 'max'; write Max, Min or Disabled"),
        ({"scaleUp": {"policies": []}}, "behavior: scaleUp.policies is []; write a list of one policy or more"),
        ({"scaleUp": {"policies": [{"value": 1}]}}, "behavior: scaleUp.policies[0].type is missing; write Pods or P"),
        (
            {"scaleUp": {"policies": [{"type": "Pods", "value": 0, "periodSeconds": 15}]}},
            "behavior: scaleUp.policies[0].value is 0; write a whole number of at least 1",
        ),
        (
            {"scaleUp": {"policies": [{"type": "Pods", "value": True, "periodSeconds": 15}]}},
            "behavior: scaleUp.policies[0].value is True; write a whole number of at least 1",
        ),
        (
            {"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1801}]}},
            "behavior: scaleUp.policies[0].periodSeconds is 1801; write a whole number from 1 to 1800",
        ),
        ({"scaleUp": {"tolerance": -0.1}}, "behavior: scaleUp.tolerance is -0.1; write a number of 0 or more"),
        ({"scaleUp": {"tolerance": "x"}}, "behavior: scaleUp.tolerance is 'x'; write a number of 0 or more"),
    ],
)
def test_what_the_api_server_would_reject(given: object, message: str) -> None:
    with pytest.raises(ValueError, match=r"^behavior: ") as fault:
        parse(given, tolerance=0.1, down_window_s=300)
    assert str(fault.value).startswith(message)


def test_defaults_fill_what_is_left_out() -> None:
    # pkg/apis/autoscaling/v2/defaults.go
    for given in (None, {}, {"scaleUp": None}, {"scaleUp": {}, "scaleDown": {"policies": None}}):
        up, down = parse(given, tolerance=0.2, down_window_s=120)
        assert (up.window_s, up.select, up.tolerance) == (0, "Max", 0.2)
        assert {(p.type, p.value, p.period_s) for p in up.policies} == {("Pods", 4, 15), ("Percent", 100, 15)}
        assert (down.window_s, down.select, down.tolerance) == (120, "Max", 0.2)
        assert [(p.type, p.value, p.period_s) for p in down.policies] == [("Percent", 100, 15)]
