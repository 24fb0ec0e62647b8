from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cost import Objectives, cost

AMOUNTS = st.floats(0, 1e9)


@given(AMOUNTS, AMOUNTS)
def test_without_prices_the_cost_is_worker_hours(worker_seconds: float, violated_seconds: float) -> None:
    assert cost(worker_seconds, 9.0, violated_seconds, Objectives()) == pytest.approx(worker_seconds / 3600)
    assert Objectives().cost_unit == "worker h"


@given(AMOUNTS, AMOUNTS, st.floats(0, 100), st.floats(0, 100))
def test_workers_and_violations_add_up(worker_s: float, violated_s: float, hour: float, minute: float) -> None:
    both = Objectives(worker_hour=hour, violation_minute=minute)
    workers, violations = Objectives(worker_hour=hour), Objectives(violation_minute=minute)
    parts = cost(worker_s, 9.0, violated_s, workers) + cost(worker_s, 9.0, violated_s, violations)
    assert cost(worker_s, 9.0, violated_s, both) == pytest.approx(parts)


def test_what_has_no_price_is_free_once_something_has_one() -> None:
    assert cost(3600, 7200, 600, Objectives(violation_minute=2.0)) == 20
    assert cost(3600, 7200, 600, Objectives(worker_hour=3.0)) == 3
    assert cost(3600, 7200, 600, Objectives(node_hour=3.0)) == 6
    assert cost(3600, math.nan, 600, Objectives(worker_hour=3.0)) == 3, "nodes that nobody pays for need not be known"


def test_the_unit_is_the_currency() -> None:
    assert Objectives(worker_hour=1.0, currency="EUR").cost_unit == "EUR"
    assert Objectives(currency="EUR").cost_unit == "worker h"


@pytest.mark.parametrize(
    "wrong", [{"latency_p95_s": -1.0}, {"worker_hour": -0.1}, {"allowed_violations": 1.5}, {"backlog": float("nan")}]
)
def test_nonsense_is_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Objectives(**wrong)


def test_only_what_is_given_is_a_bound() -> None:
    assert Objectives().bounds == {}
    assert Objectives(latency_p99_s=0.0, backlog=10).bounds == {"latency_p99_s": 0.0, "backlog": 10}
