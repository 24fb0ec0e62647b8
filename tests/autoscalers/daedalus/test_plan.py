"""Algorithm 1, line by line, and against a search through all scale-outs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autoscalers.daedalus.plan import Rules, Situation, determine

RULES = Rules(minimum=1, maximum=12, target_recovery_s=600.0, long_lived_s=600.0, period_s=60.0)
CALM = Situation(
    current=4,
    since_rescale_s=3600.0,
    workload=1000.0,
    forecast=np.full(900, 1000.0),
    lag=0.0,
    capacity=lambda workers: 300.0 * workers,
    recovery_s=lambda workers: 60.0,
)


def rising(last: float) -> np.ndarray:
    return np.linspace(1000.0, last, 900)


def wanted(**changes: object) -> int:
    return determine(replace(CALM, **changes), RULES).workers


def test_the_least_that_suffices_is_kept() -> None:
    assert wanted() == 4


def test_it_scales_in_to_the_least_that_takes_all_of_the_forecast() -> None:
    assert wanted(current=9) == 4
    assert wanted(current=9, forecast=rising(1700.0)) == 6


def test_it_does_not_scale_in_while_events_wait() -> None:
    assert wanted(current=6, lag=1600.0) == 6
    assert wanted(current=6, lag=1250.0) == 5  # the lag of one that takes it in a second does no harm


def test_it_scales_out_before_the_load_comes() -> None:
    assert wanted(current=4, forecast=rising(2000.0), recovery_s=lambda workers: 300.0) == 7


def test_the_current_one_need_only_last_until_it_has_recovered() -> None:
    assert wanted(current=4, forecast=rising(2000.0), recovery_s=lambda workers: 60.0) == 4


def test_what_recovers_too_late_is_left_out() -> None:
    assert wanted(current=4, recovery_s=lambda workers: 700.0 if workers < 6 else 100.0) == 6


def test_soon_after_a_change_the_current_one_is_kept_as_long_as_it_suffices() -> None:
    assert wanted(current=9, since_rescale_s=599.0) == 9
    assert wanted(current=9, since_rescale_s=600.0) == 4
    assert wanted(current=3, since_rescale_s=200.0) == 4
    soon = np.concatenate([np.full(60, 1250.0), np.full(840, 1000.0)])
    assert wanted(current=4, since_rescale_s=200.0, forecast=soon) == 5


def test_the_most_there_are_if_nothing_suffices() -> None:
    assert wanted(workload=1e6) == 12
    assert wanted(recovery_s=lambda workers: float("inf")) == 12


@given(
    current=st.integers(1, 12),
    load=st.floats(1, 4000),
    lag=st.sampled_from([0.0, 900.0, 5000.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_is_the_first_that_passes_every_test(current: int, load: float, lag: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forecast = load * rng.uniform(0.5, 1.5, 900)
    capacities = np.cumsum(rng.uniform(100, 500, 12))
    recoveries = rng.choice([30.0, 400.0, 700.0], 12)
    situation = Situation(
        current, 1e4, load, forecast, lag, lambda n: float(capacities[n - 1]), lambda n: float(recoveries[n - 1])
    )

    def passes(n: int) -> bool:
        capacity, recovery = capacities[n - 1], recoveries[n - 1]
        valid = capacity > load and recovery <= 600 and capacity >= forecast[: int(recovery)].max()
        if n == current:
            return bool(valid)
        caught_up = n > current or capacity >= lag
        return bool(valid and caught_up and capacity > forecast.max())

    best = next((n for n in range(1, 13) if passes(n)), 12)
    assert determine(situation, RULES).workers == best
