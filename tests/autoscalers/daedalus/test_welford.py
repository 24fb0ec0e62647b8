"""Running moments and regressions against the textbook formulas on all the data at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autoscalers.daedalus.welford import Moments, Regressions

values = hnp.arrays(np.float64, st.integers(2, 40), elements=st.floats(-1e6, 1e6, width=32))


@given(values, st.integers(0, 40))
def test_batches_give_the_moments_of_the_whole(data: np.ndarray, cut: int) -> None:
    seen = Moments()
    seen.update(data[:cut])
    seen.update(data[cut:])
    assert seen.count == data.size
    assert seen.mean == pytest.approx(data.mean(), rel=1e-9, abs=1e-6)
    assert seen.variance == pytest.approx(data.var(ddof=1), rel=1e-6, abs=1e-3)


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_the_line_is_that_of_ordinary_least_squares(batches: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 0.9, (60, 3))
    y = 1e5 * x - 7e3 + rng.normal(0, 2e3, x.shape)
    lines = Regressions(3)
    for rows in np.array_split(np.arange(60), batches):
        lines.update(x[rows], y[rows])
    for column in range(3):
        slope, intercept = np.polyfit(x[:, column], y[:, column], 1)
        assert lines.slope[column] == pytest.approx(slope, rel=1e-8)
        assert lines.predict(np.full(3, 1.0))[column] == pytest.approx(intercept + slope, rel=1e-8)


def test_a_large_offset_costs_no_precision() -> None:
    data = 1e9 + np.tile([0.0, 1.0], 500)
    seen = Moments()
    for part in np.array_split(data, 100):
        seen.update(part)
    assert seen.variance == pytest.approx(data.var(ddof=1), rel=1e-6)


def test_what_was_not_measured_is_left_out_of_its_column_only() -> None:
    x = np.array([[0.1, 0.1], [np.nan, 0.2], [0.3, 0.3]])
    lines = Regressions(2)
    lines.update(x, 10 * x)
    assert lines.count.tolist() == [2, 3]
    assert lines.slope == pytest.approx([10, 10])


def test_one_value_has_no_slope() -> None:
    lines = Regressions(1)
    lines.update(np.full((5, 1), 0.5), np.full((5, 1), 3.0))
    assert np.isnan(lines.slope[0])
