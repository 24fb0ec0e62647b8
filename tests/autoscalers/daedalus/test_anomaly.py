"""Recoveries that are known, found by anomaly detection."""

from __future__ import annotations

import numpy as np
import pytest

from autoscalers.daedalus.anomaly import RecoveryWatch


def watch(noise: float = 10.0, seed: int = 1) -> tuple[RecoveryWatch, np.random.Generator]:
    rng = np.random.default_rng(seed)
    found = RecoveryWatch()
    found.observe(1000 + rng.normal(0, noise, 600), np.full(600, 1000.0))
    return found, rng


def course(boot: int, down: int, catching_up: int, after: int) -> np.ndarray:
    parts = [(boot, 1000.0), (down, np.nan), (catching_up, 1300.0), (after, 1000.0)]
    return np.concatenate([np.full(seconds, value) for seconds, value in parts])


@pytest.mark.parametrize("seed", range(5))
def test_the_end_of_the_catch_up_is_found_in_the_noise(seed: int) -> None:
    found, rng = watch(seed=seed)
    found.begin()
    throughput = course(boot=12, down=20, catching_up=67, after=81)
    workload = 1000 + rng.normal(0, 10, throughput.size)
    recoveries = [found.observe(workload[i : i + 60], throughput[i : i + 60]) for i in range(0, 180, 60)]
    recovery = next(each for each in recoveries if each is not None)
    assert recovery.seconds == pytest.approx(87, abs=8)  # what boots disturbs nothing
    assert recovery.downtime_s == 20


def test_what_is_watched_does_not_change_what_is_normal() -> None:
    found, _ = watch()
    before = (found.normal.mean, found.normal.variance)
    found.begin()
    assert found.observe(np.full(60, 1000.0), np.full(60, np.nan)) is None
    assert (found.normal.mean, found.normal.variance) == before


@pytest.mark.parametrize("down", range(1, 12))
def test_going_from_far_above_to_far_below_is_not_normal(down: int) -> None:
    found, rng = watch(noise=200.0)
    found.begin()
    throughput = course(boot=12, down=down, catching_up=60, after=180 - 72 - down)
    recovery = found.observe(1000 + rng.normal(0, 10, 180), np.where(throughput > 1000, 1800.0, throughput))
    assert recovery is not None
    assert recovery.seconds == pytest.approx(down + 60, abs=8)


def test_an_overload_never_counts_as_recovered() -> None:
    found, _ = watch()
    found.begin()
    for _ in range(20):
        assert found.observe(np.full(60, 1000.0), np.full(60, 800.0)) is None


def test_a_second_change_starts_over() -> None:
    found, rng = watch()
    found.begin()
    found.observe(np.full(60, 1000.0), np.full(60, np.nan))
    found.begin()
    throughput = course(boot=0, down=10, catching_up=20, after=90)
    recovery = found.observe(1000 + rng.normal(0, 10, 120), throughput)
    assert recovery is not None
    assert recovery.downtime_s == 10


def test_a_change_that_is_not_felt_takes_no_time() -> None:
    found, rng = watch()
    found.begin()
    recoveries = [found.observe(1000 + rng.normal(0, 10, 60), np.full(60, 1000.0)) for _ in range(3)]
    assert [each.seconds for each in recoveries if each is not None] == [0.0]
