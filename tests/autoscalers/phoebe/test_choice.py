from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscalers.phoebe.choice import Candidate, choose, least, worth_it
from tests.autoscalers.phoebe.measured import LATENCY_LOGGED, QUIET_LOGGED, RECOVERY_LOGGED

COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=20, unique=True)


def test_the_first_choice_that_was_logged() -> None:
    """Nothing recovers in time at a low latency; 24 recover soonest, 2 answer soonest: from 14 to 24."""
    assert least(list(RECOVERY_LOGGED.items()), current=14) == 24
    assert least(list(LATENCY_LOGGED.items()), current=14) == 2
    candidates = [
        Candidate(workers, RECOVERY_LOGGED[workers], LATENCY_LOGGED[workers] / 1000, low=workers < 10)
        for workers in RECOVERY_LOGGED
    ]
    assert choose(candidates, current=14, target_s=180).workers == 24
    assert worth_it(24, 14)


@pytest.mark.parametrize(("values", "best"), QUIET_LOGGED)
def test_the_best_recoveries_that_were_logged(values: list[float], best: int) -> None:
    assert least(list(zip(range(2, 25), values, strict=True)), current=2) == best


@given(COUNTS, st.data())
def test_what_is_found_is_about_the_least(counts: list[int], data: st.DataObject) -> None:
    values = {count: data.draw(st.floats(1.0, 100.0)) for count in counts}
    found = least(list(values.items()), data.draw(st.sampled_from(counts)))
    # one step of 5 % may be lost on the way up, and one gained when fewer workers are taken instead
    assert values[found] <= min(values.values()) * 1.05 * 1.05 + 1e-9


@given(COUNTS, st.data())
def test_all_alike_needs_the_fewest(counts: list[int], data: st.DataObject) -> None:
    assert least([(count, 7.0) for count in counts], data.draw(st.sampled_from(counts))) == min(counts)


@given(COUNTS, st.floats(10, 1000), st.data())
def test_the_fewest_that_fit_are_chosen(counts: list[int], target_s: float, data: st.DataObject) -> None:
    candidates = [
        Candidate(count, data.draw(st.floats(1, 2000)), data.draw(st.floats(0.1, 60)), data.draw(st.booleans()))
        for count in counts
    ]
    fitting = [each.workers for each in candidates if each.recovery_s < target_s and each.low]
    choice = choose(candidates, data.draw(st.sampled_from(counts)), target_s)
    if fitting:
        assert choice.workers == min(fitting)
    else:
        assert choice.workers in counts
        assert "none recovers" in choice.reason


def test_a_target_that_is_just_met_is_not_met() -> None:
    assert not Candidate(4, 600.0, 1.0, low=True).valid(600.0)


def test_what_never_recovers_is_never_the_soonest() -> None:
    assert least([(1, math.inf), (2, math.inf), (3, 50.0)], current=1) == 3
    assert least([(1, math.inf), (2, math.inf)], current=2) == 1
    assert least([(1, 0.0), (2, 5.0)], current=2) == 1


@given(st.integers(1, 50), st.integers(1, 50))
def test_acting_is_worth_it_unless_it_is_a_little_less(wanted: int, current: int) -> None:
    assert worth_it(wanted, current) == (wanted not in {current, current - 1, current - 2})
