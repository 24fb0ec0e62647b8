"""What Kafka's consumer and a slow scrape make of a known truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.validation.monitoring import SAMPLE_S, consumed_rate, frozen, highest, scraped


def test_a_steady_rate_reads_as_it_is_once_the_consumer_is_a_minute_old() -> None:
    rate = consumed_rate(np.full(300, 500.0), restarts=(100,))
    assert rate[99] == pytest.approx(500.0)
    assert rate[100] == pytest.approx(500.0 / (SAMPLE_S + 1)), "the first sample counts as if it had been there before"
    assert rate[100 + 2 * SAMPLE_S :] == pytest.approx(500.0)


@given(st.lists(st.floats(0.0, 1e5), min_size=1, max_size=150))
def test_the_highest_lag_is_that_of_the_samples_kept(lags: list[float]) -> None:
    lag = np.array(lags)
    found = highest(lag, ())
    for now in range(lag.size):
        first = SAMPLE_S * max((now + 1) // SAMPLE_S - 1, 0)
        assert found[now] == lag[first : now + 1].max()


@given(workers=st.integers(1, 30), value=st.floats(1.0, 1e6), seed=st.integers(0, 99))
def test_a_slow_scrape_of_something_constant_is_right_once_all_were_read(workers: int, value: float, seed: int) -> None:
    fleet = np.full(200, workers)
    total = scraped(np.full(200, value), fleet, 60, seed, add=True)
    each = scraped(np.full(200, value), fleet, 60, seed, add=False)
    np.testing.assert_allclose(total[60:], value)
    np.testing.assert_allclose(each[60:], value)


def test_a_jump_shows_in_a_slow_scrape_a_worker_at_a_time() -> None:
    truth = np.where(np.arange(400) < 200, 100.0, 700.0)
    seen = scraped(truth, np.full(400, 40), 60, seed=1, add=True)
    assert (np.diff(seen[200:260]) >= 0).all()
    assert 100.0 <= seen[200] < seen[230] < seen[259] == pytest.approx(700.0)


def test_a_hanging_job_shows_its_last_value() -> None:
    stalled = np.array([False, False, True, True, False])
    np.testing.assert_array_equal(frozen(np.arange(5.0), stalled), [0.0, 1.0, 1.0, 1.0, 4.0])
