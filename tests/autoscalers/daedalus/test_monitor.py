"""What the monitor makes of a fleet's readings, against means taken sample by sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscalers.daedalus.monitor import Monitor
from autoscalers.model import OperatorView
from autoscalers.testing import observation

NEVER = float("-inf")


def view(cpu: np.ndarray, throughput: np.ndarray | None = None) -> OperatorView:
    seen = observation(parallelism=cpu.shape[1], cpu=cpu).operators["job"]
    return replace(seen, throughput=1000 * cpu if throughput is None else throughput)


def naive(values: np.ndarray, window: int) -> list[list[float]]:
    """The mean of the last samples, at each sample, for each worker."""
    return [
        [
            sum(values[past, worker] for past in range(max(0, now - window + 1), now + 1)) / min(now + 1, window)
            for worker in range(values.shape[1])
        ]
        for now in range(values.shape[0])
    ]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_batches_give_the_moving_mean_of_the_whole(batches: list[int], window: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cpu, throughput = rng.uniform(0.0, 1.0, (2, sum(batches), 3))
    monitor, found, first = Monitor(window), [], 0
    for size in batches:
        found.append(monitor.samples(view(cpu[first : first + size], throughput[first : first + size]), NEVER))
        first += size
    assert [each.new_fleet for each in found] == [True] + [False] * (len(batches) - 1)
    assert np.concatenate([each.cpu for each in found]) == pytest.approx(np.array(naive(cpu, window)), abs=1e-12)
    rates = np.concatenate([each.throughput for each in found])
    assert rates == pytest.approx(np.array(naive(throughput, window)), abs=1e-12)


def test_a_line_stays_a_line_while_the_load_moves() -> None:
    cpu = np.linspace(0.1, 0.9, 120)[:, None] * [1.0, 0.6]
    samples = Monitor(60).samples(view(cpu, 5e4 * cpu - 2e3), NEVER)
    assert samples.throughput == pytest.approx(5e4 * samples.cpu - 2e3)


def test_averages_begin_anew_with_a_rescale_even_to_as_many_workers() -> None:
    monitor = Monitor(60)
    monitor.samples(view(np.full((60, 2), 0.9)), NEVER)
    after = monitor.samples(view(np.full((60, 2), 0.3)), 60.0)
    assert after.new_fleet
    assert after.cpu == pytest.approx(0.3)


def test_only_seconds_in_which_all_serve_count() -> None:
    cpu = np.full((60, 3), 0.5)
    cpu[:25, 2] = np.nan  # the third worker booted until then
    cpu[25:, :2] = 0.4
    samples = Monitor(60).samples(view(cpu), NEVER)
    assert samples.new_fleet
    assert samples.cpu.shape == (35, 3)
    assert samples.cpu[-1] == pytest.approx([0.4, 0.4, 0.5])


def test_a_fleet_that_did_not_serve_has_no_samples() -> None:
    samples = Monitor(60).samples(view(np.full((60, 2), np.nan)), NEVER)
    assert samples.cpu.shape == (0, 2)
