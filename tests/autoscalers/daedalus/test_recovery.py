"""Recovery times against a queue that is played second by second, and against the closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscalers.daedalus.recovery import Downtimes, predict


def played(capacity: float, replayed: float, forecast: np.ndarray, downtime: int) -> float:
    """A queue: what waits when the job comes back, less what each second leaves over."""
    waiting = replayed
    for second, arriving in enumerate(forecast):
        waiting += arriving
        if second < downtime:
            continue
        waiting -= capacity
        if waiting <= 1e-9 * capacity:
            return second + 1
    return math.inf


@given(st.integers(0, 60), st.integers(50, 400), st.integers(0, 5000), st.integers(0, 2**32 - 1))
def test_it_is_what_playing_the_queue_gives(downtime: int, capacity: int, replayed: int, seed: int) -> None:
    forecast = np.random.default_rng(seed).integers(0, 200, 900).astype(float)
    assert predict(capacity, replayed, forecast, downtime) == played(capacity, replayed, forecast, downtime)


def test_a_steady_load_has_a_closed_form() -> None:
    capacity, load, downtime, interval = 300.0, 200.0, 30, 10
    caught_up = load * (downtime + interval) / (capacity - load)
    found = predict(capacity, interval * load, np.full(900, load), downtime)
    assert found == pytest.approx(downtime + caught_up)


def test_counting_the_downtime_twice_adds_it_once_more() -> None:
    steady = np.full(900, 200.0)
    once, twice = (predict(300.0, 2000.0, steady, 30, downtime_twice=flag) for flag in (False, True))
    assert twice == once + 30


def test_without_capacity_to_spare_it_never_ends() -> None:
    assert predict(200.0, 0.0, np.full(900, 200.0), 30) == math.inf
    assert predict(float("nan"), 0.0, np.full(900, 200.0), 30) == math.inf


def test_downtimes_go_over_to_what_is_observed() -> None:
    downtimes = Downtimes(out_s=30.0, in_s=15.0)
    for _ in range(99):
        downtimes.learn(5.0, outwards=False)
    assert downtimes.expected(outwards=True) == 30
    assert downtimes.expected(outwards=False) == pytest.approx(5.1)
