from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscalers.phoebe.capacity import CapacityModel
from tests.autoscalers.phoebe.measured import CAPACITY_SEEN_LATER, spells


def ridge(workers: np.ndarray, rates: np.ndarray) -> tuple[float, float]:
    """The penalty, out of three, whose errors are least when each observation is predicted from the others."""

    def line(x: np.ndarray, y: np.ndarray, penalty: float) -> tuple[float, float]:
        slope = ((x - x.mean()) * (y - y.mean())).sum() / (((x - x.mean()) ** 2).sum() + penalty)
        return y.mean() - slope * x.mean(), slope

    def error(penalty: float) -> float:
        total = 0.0
        for left_out in range(len(workers)):
            intercept, slope = line(np.delete(workers, left_out), np.delete(rates, left_out), penalty)
            total += (rates[left_out] - intercept - slope * workers[left_out]) ** 2
        return total

    return line(workers, rates, min((0.1, 1.0, 10.0), key=error))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8))
def test_it_is_ridge_regression(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    workers = np.arange(2, 2 + 3 * count, 3, dtype=np.float64)
    rates = 20_000 * workers**0.9 * rng.normal(1, 0.05, workers.size)
    model = CapacityModel.fitted(workers.astype(int).tolist(), rates.tolist())
    intercept, slope = ridge(workers, rates)
    # leave-one-out in closed form centres only once; where two penalties are nearly as good it may take the other
    assert model.of([9])[0] == pytest.approx(intercept + slope * 9, rel=0.03)


def test_it_explains_the_profiling_of_its_authors() -> None:
    seen = [spell for spell in spells() if spell.overload]
    model = CapacityModel.fitted([spell.workers for spell in seen], [spell.throughput for spell in seen])
    assert len(seen) == 8
    found = model.of([spell.workers for spell in seen])
    assert found == pytest.approx([spell.throughput for spell in seen], rel=0.08)


def test_it_is_above_what_the_same_job_took_months_later() -> None:
    """Profiles age, as Daedalus' authors say (section 3): later the same scale-outs took 8 to 17 % less."""
    seen = [spell for spell in spells() if spell.overload]
    model = CapacityModel.fitted([spell.workers for spell in seen], [spell.throughput for spell in seen])
    ratio = model.of(list(CAPACITY_SEEN_LATER)) / np.array(list(CAPACITY_SEEN_LATER.values()))
    assert (ratio > 1.0).all()
    assert ratio.max() < 1.25


def test_one_scale_out_makes_a_line_through_the_origin() -> None:
    assert CapacityModel.fitted([4, 4], [100.0, 120.0]).of([8]).tolist() == [220.0]


def test_no_capacity_is_below_nothing() -> None:
    assert CapacityModel(-100.0, 60.0).of([1, 2]).tolist() == [0.0, 20.0]
