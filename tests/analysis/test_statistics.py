"""Against scipy's own tests, and by the laws a correction has to keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics import estimate, holm, new_value, welch

VALUES = st.lists(st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3)), min_size=2, max_size=12)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def varied(values: list[float]) -> bool:
    return bool(np.ptp(values) > 1e-3 * max(map(abs, values)))


@given(VALUES.filter(varied))
def test_the_interval_is_students(values: list[float]) -> None:
    found = estimate(values)
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)
    assert found.std == pytest.approx(np.std(values, ddof=1))
    assert found.n == len(values)


def test_one_repetition_has_no_interval() -> None:
    found = estimate([3.5])
    assert (found.mean, found.std, found.ci_low, found.ci_high) == (3.5, None, None, None)


def test_repetitions_that_agree_have_an_interval_of_no_width() -> None:
    # The sum of three times 0.1 is not 0.3: rounding must not pass for spread.
    found = estimate([0.1, 0.1, 0.1])
    assert found.std == 0
    assert found.ci_low == found.ci_high == pytest.approx(0.1)


@given(VALUES.filter(varied), VALUES.filter(varied))
def test_welch_agrees_with_scipy(a: list[float], b: list[float]) -> None:
    assert welch(a, b) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=1e-6, abs=1e-12)


@given(VALUES.filter(varied), VALUES)
def test_welch_does_not_care_which_comes_first(a: list[float], b: list[float]) -> None:
    assert welch(a, b) == pytest.approx(welch(b, a))


def test_one_side_without_spread_is_still_tested() -> None:
    a, b = [1.0, 2.0, 3.0], [5.0, 5.0, 5.0]
    assert welch(a, b) == pytest.approx(stats.ttest_1samp(a, 5.0).pvalue)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([2.0, 2.0], [2.0, 2.0, 2.0], 1.0),
        ([2.0, 2.0], [2.1, 2.1], 0.0),
        ([0.0, 0.0], [0.0, 0.0], 1.0),
        ([0.0, 0.0], [1e-12, 1e-12], 0.0),
        ([0.1 + 0.2] * 3, [0.3] * 3, 1.0),
        ([1.0], [1.0, 2.0], None),
        ([1.0, 2.0], [], None),
    ],
)
def test_samples_without_spread_or_size(a: list[float], b: list[float], p: float | None) -> None:
    assert welch(a, b) == p


@given(VALUES.filter(varied), st.floats(-1e6, 1e6))
def test_a_new_value_is_tested_by_students_test_with_one_value(history: list[float], value: float) -> None:
    # The two-sample test written out, with one value on one side: it adds nothing to the pooled variance.
    n = len(history)
    t = (value - np.mean(history)) / np.sqrt(np.var(history, ddof=1) * (1 / n + 1))
    assert new_value(value, history) == pytest.approx(2 * stats.t.sf(abs(t), n - 1), rel=1e-6, abs=1e-12)


def test_a_new_value_needs_a_history() -> None:
    assert new_value(1.0, [1.0]) is None


@given(P_VALUES)
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float]) -> None:
    for alpha in (0.01, 0.05, 0.2):
        rejected: set[int] = set()
        for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if p_values[index] * (len(p_values) - step) > alpha:
                break
            rejected.add(index)
        assert {index for index, p in enumerate(holm(p_values)) if p is not None and p <= alpha} == rejected


@given(P_VALUES, st.integers(0, 12))
def test_holm_skips_what_was_not_tested(p_values: list[float], position: int) -> None:
    gap = min(position, len(p_values))
    with_gap = holm([*p_values[:gap], None, *p_values[gap:]])
    assert with_gap.pop(gap) is None
    assert with_gap == holm(p_values)
