"""Local managers and global policies, one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscalers.e2df.agents import Learning
from autoscalers.e2df.coordination import ConflictPrevention, GrantAll, Request, TokenBucket
from autoscalers.e2df.monitor import OperatorState, RegionState
from autoscalers.e2df.operator_managers import OPERATOR_MANAGERS, OperatorSettings
from autoscalers.e2df.region_managers import REGION_MANAGERS, RegionSettings
from autoscalers.model import RegionView
from autoscalers.testing import observation

RNG = np.random.default_rng(0)
OPERATORS = OperatorSettings(1, 20, 0.75, 0.75, (1 / 3, 1 / 3, 1 / 3), 0.0105, 10, Learning())
REGIONS = RegionSettings(50, 12, 2, (0.7, 0.3), 0.1, Learning())


def operator(replicas: int, utilisation: float, rate: float = 100.0, response_s: float = 0.005) -> OperatorState:
    return OperatorState(replicas, utilisation, utilisation, rate, response_s, {"dc1": replicas})


@pytest.mark.parametrize(
    ("replicas", "utilisation", "change"),
    [(4, 0.76, 1), (4, 0.75, 0), (20, 0.99, 0), (4, 0.43, 0), (4, 0.42, -1), (1, 0.0, 0), (4, float("nan"), 0)],
)
def test_thresholds(replicas: int, utilisation: float, change: int) -> None:
    """Section 7.1: 0.43 * 4 / 3 is above 0.75 * 0.75, 0.42 * 4 / 3 is not."""
    manager = OPERATOR_MANAGERS["threshold"](OPERATORS, 600.0, RNG)
    assert manager.propose(operator(replicas, utilisation)) == change


def test_the_hottest_replica_decides_on_more() -> None:
    state = OperatorState(2, 0.5, 0.8, 100.0, 0.005, {})
    assert OPERATOR_MANAGERS["threshold"](OPERATORS, 600.0, RNG).propose(state) == 1


@pytest.mark.parametrize(
    ("cpu", "utilisation", "hottest"),
    [
        ([[0.2, 0.8]], 0.5, 0.8),
        ([[0.2, np.nan, 0.4]], 0.3, 0.4),
        ([[0.2, 0.8], [0.4, np.nan]], 1.4 / 3, 0.8),
        ([[0.2, np.nan], [0.4, np.nan]], 0.3, 0.3),
        ([[np.nan, np.nan]], np.nan, np.nan),
        (np.empty((1, 0)), np.nan, np.nan),
        (np.empty((0, 2)), np.nan, np.nan),
    ],
)
def test_utilisation_is_of_what_was_measured(cpu: list[list[float]], utilisation: float, hottest: float) -> None:
    view = replace(observation(parallelism=3).operators["job"], cpu=np.array(cpu))
    state = OperatorState.of(view)
    assert (state.utilisation, state.hottest) == pytest.approx((utilisation, hottest), nan_ok=True)


@pytest.mark.parametrize("kind", OPERATOR_MANAGERS)
def test_replicas_stay_within_their_bounds(kind: str) -> None:
    manager = OPERATOR_MANAGERS[kind](OPERATORS, 600.0, RNG)
    assert manager.propose(operator(25, 0.5)) == -5
    assert manager.propose(operator(0, 0.5)) == 1


def test_a_learning_operator_manager_pays_by_equation_6() -> None:
    manager = OPERATOR_MANAGERS["rl"](OPERATORS, 600.0, RNG)
    manager.propose(operator(4, 0.5))
    manager.propose(operator(4, 0.9, response_s=0.02))
    assert manager.cost == pytest.approx(4 / 20 / 3 + 1 / 3), "four of twenty replicas, and a late minute"


@pytest.mark.parametrize(("nodes", "idle", "change"), [(5, 1, 1), (5, 2, 0), (5, 3, -1), (50, 0, 0)])
def test_a_simple_region_keeps_two_idle(nodes: int, idle: int, change: int) -> None:
    manager = REGION_MANAGERS["simple"](REGIONS, RNG)
    assert manager.propose(RegionState(nodes, idle, 0.5, 0)) == change


def test_a_static_region_goes_to_its_number_at_once() -> None:
    assert REGION_MANAGERS["static"](REGIONS, RNG).propose(RegionState(3, 0, 0.5, 4)) == 9


def test_a_learning_region_manager_pays_by_equation_1_and_gives_up_no_busy_node() -> None:
    manager = REGION_MANAGERS["rl"](REGIONS, RNG)
    manager.propose(RegionState(10, 0, 0.5, 0))
    assert manager.propose(RegionState(10, 0, 0.8, 1)) >= 0
    assert manager.cost == pytest.approx(0.7 + 0.3 * 10 / 50)
    for _ in range(200):
        change = manager.propose(RegionState(10, 1, 0.5, 0))
    assert change == -1, "an idle node that nobody asks for goes"


def test_a_region_counts_what_is_left_once_the_application_was_served() -> None:
    view = RegionView(nodes=6, idle=2, unmet=0, booting=1, free=5, slots=2)
    assert RegionState.of(view, 0.5, granted=1, short=0).idle == 3, "one slot beside another replica was free"
    assert RegionState.of(view, 0.5, granted=2, short=0).idle == 2
    assert RegionState.of(view, 0.5, granted=4, short=3) == RegionState(6, 1, 0.5, 3)


asked = st.lists(
    st.builds(
        Request,
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.sampled_from([-1, 1]),
        st.sampled_from(["dc1", "dc2"]),
        st.floats(0, 1),
    ),
    unique_by=lambda request: request.target,
)


@given(asked, st.integers(0, 3), st.integers(0, 3))
def test_no_slot_is_given_twice_and_none_is_left_while_somebody_wants_it(
    requests: list[Request], one: int, two: int
) -> None:
    slots = {"dc1": one, "dc2": two}
    verdict = ConflictPrevention().decide(requests, slots)
    assert set(verdict.granted) | set(verdict.short) == set(requests)
    assert not set(verdict.granted) & set(verdict.short)
    assert GrantAll().decide(requests, slots).short == verdict.short
    for region, free in slots.items():
        adding = [request for request in requests if request.change > 0 and request.region == region]
        given_ = [request for request in verdict.granted if request in adding]
        assert len(given_) == min(free, len(adding))
        refused = [request for request in verdict.short if request.region == region]
        assert all(ahead.urgency >= behind.urgency for ahead in given_ for behind in refused)
    assert all(request.change > 0 for request in verdict.short), "who leaves needs no slot"


@given(st.lists(asked, max_size=20), st.floats(0.1, 2), st.integers(1, 3))
def test_a_bucket_lets_no_more_through_than_its_tokens(periods: list[list[Request]], rate: float, size: int) -> None:
    bucket = TokenBucket(rate, size)
    granted = [len(bucket.decide(requests, {}).granted) for requests in periods]
    for first in range(len(granted)):
        for last in range(first, len(granted)):
            assert sum(granted[first : last + 1]) <= size + rate * (last - first + 1) + 1e-6
