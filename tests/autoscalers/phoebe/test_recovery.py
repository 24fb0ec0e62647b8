from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscalers.phoebe.recovery import published_recovery_times, recovery_times
from tests.autoscalers.phoebe.measured import RECOVERY_LOGGED

DOWNTIME_S = 90.0


def drained(capacity: float, past: np.ndarray, forecast: np.ndarray, downtime_s: float, replayed_s: int) -> float:
    """A queue, a hundredth of a second at a time; beyond the forecast nothing arrives."""
    step = 0.01
    waiting = past[-replayed_s:].sum() if replayed_s else 0.0
    now = 0.0
    while now < downtime_s or waiting > 0.0:
        second = int(now + step / 2)
        waiting += (forecast[second] if second < forecast.size else 0.0) * step
        if now >= downtime_s:
            waiting -= capacity * step
        now += step
    return now


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0.2, 4.0), st.sampled_from([0.0, 30.0, 90.0]), st.sampled_from([0, 10, 60]))
def test_it_is_when_a_queue_is_empty_again(seed: int, headroom: float, downtime_s: float, replayed_s: int) -> None:
    rng = np.random.default_rng(seed)
    load = 1000 * np.clip(1 + np.cumsum(rng.normal(0, 0.01, 400)), 0.1, 3)
    past, forecast = load[:100], load[100:]
    capacity = headroom * forecast.mean()
    found = recovery_times(np.array([capacity]), past, forecast, downtime_s, replayed_s)[0]
    assert found == pytest.approx(drained(capacity, past, forecast, downtime_s, replayed_s), abs=0.05)


@pytest.mark.parametrize("headroom", [2.3, 3.0, 4.0])
def test_both_ways_agree_above_twice_the_load(headroom: float) -> None:
    past, forecast = np.full(60, 1000.0), 1000.0 + 100.0 * np.sin(np.arange(600) / 100)
    question = (np.array([1000.0 * headroom]), past, forecast, 90.0, 10.0)
    assert published_recovery_times(*question) == pytest.approx(recovery_times(*question), abs=2.0)


@pytest.mark.parametrize("headroom", [1.1, 1.5, 1.9])
def test_below_the_authors_way_counts_all_the_work_there_is(headroom: float) -> None:
    load = np.full(600, 1000.0)
    question = (np.array([1000.0 * headroom]), load, load, 90.0, 10.0)
    assert published_recovery_times(*question)[0] == pytest.approx(90 + 610 / headroom)
    assert recovery_times(*question)[0] == pytest.approx(min(90 + 100 / (headroom - 1), 90 + 610 / headroom))


def test_the_logged_times() -> None:
    """With the load itself for the forecast. Two logged times give the line of capacity, the other 21 must follow."""
    load = 100_000 * (1 + np.sin(2 * np.pi * np.arange(7200) / 7200))
    past, forecast = load[22:622], load[622:1222]
    work = forecast.sum() + past[-10:].sum()
    share = {workers: 1 / (RECOVERY_LOGGED[workers] - DOWNTIME_S) for workers in (2, 20)}
    capacity = work * (share[2] + (share[20] - share[2]) / 18 * (np.array(list(RECOVERY_LOGGED)) - 2))
    found = dict(
        zip(RECOVERY_LOGGED, published_recovery_times(capacity, past, forecast, DOWNTIME_S, 10.0), strict=True)
    )
    late = [workers for workers in RECOVERY_LOGGED if workers < 22]
    assert [found[workers] for workers in late] == pytest.approx(
        [RECOVERY_LOGGED[workers] for workers in late], abs=0.02
    )
    assert [found[workers] for workers in (22, 23, 24)] == pytest.approx(
        [RECOVERY_LOGGED[workers] for workers in (22, 23, 24)],
        rel=0.02,  # the program knew only its own forecast
    )


@given(st.floats(0.1, 10.0), st.floats(0.0, 200.0))
def test_more_capacity_never_takes_longer(headroom: float, downtime_s: float) -> None:
    load = np.full(300, 500.0)
    found = recovery_times(500.0 * headroom * np.array([1.0, 1.1, 2.0]), load, load, downtime_s, 10.0)
    assert found[0] >= found[1] >= found[2] >= downtime_s


@pytest.mark.parametrize("way", [recovery_times, published_recovery_times])
def test_without_capacity_it_never_ends_and_without_load_it_is_the_downtime(way: Any) -> None:
    load = np.full(300, 500.0)
    assert way(np.array([0.0]), load, load, 30.0, 10.0).tolist() == [math.inf]
    assert way(np.array([100.0]), np.zeros(300), np.zeros(300), 30.0, 10.0).tolist() == [30.0]
    assert way(np.array([100.0]), np.empty(0), np.zeros(300), 30.0, 10.0).tolist() == [30.0]


def test_a_downtime_beyond_the_forecast_counts_all_that_is_known() -> None:
    load = np.full(100, 500.0)
    assert recovery_times(np.array([1000.0]), load, load, 300.0, 10.0).tolist() == [300.0 + 55.0]
