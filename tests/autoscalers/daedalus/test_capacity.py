"""Capacity against a fleet whose true limits are known."""

from __future__ import annotations

import numpy as np
import pytest

from autoscalers.daedalus.capacity import CapacityModel


def fleet(shares: list[float], loads: np.ndarray, worker: float = 1000.0) -> tuple[np.ndarray, np.ndarray]:
    """CPU and throughput of workers without idle CPU that get fixed shares of a load."""
    throughput = loads[:, None] * np.array(shares)
    return throughput / worker, throughput


def test_the_hottest_worker_limits_a_skewed_fleet() -> None:
    cpu, throughput = fleet([0.5, 0.3, 0.2], np.linspace(400, 1200, 60))
    model = CapacityModel()
    model.observe(cpu, throughput, new_fleet=True)
    assert model.current == pytest.approx(1000 / 0.5)  # then the first is at 100 %, the others at 60 and 40 %


def test_noise_of_the_sensors_stays_within_five_percent() -> None:
    rng = np.random.default_rng(3)
    cpu, throughput = fleet([0.25] * 4, np.linspace(1500, 2500, 60))
    model = CapacityModel()
    model.observe(cpu + rng.normal(0, 0.0013, cpu.shape), throughput * rng.normal(1, 0.0013, cpu.shape), new_fleet=True)
    assert model.current == pytest.approx(4000, rel=0.05)


def test_other_scale_outs_are_proportional_until_they_were_seen() -> None:
    model = CapacityModel()
    model.observe(*fleet([0.5, 0.5], np.linspace(600, 1200, 60)), new_fleet=True)
    assert model.at(2) == pytest.approx(2000)
    assert model.at(6) == pytest.approx(6000)
    model.observe(*fleet([0.2, 0.1, 0.1, 0.2, 0.2, 0.2], np.linspace(1000, 3000, 60)), new_fleet=True)
    assert model.at(6) == pytest.approx(5000)
    assert model.at(2) == pytest.approx(2000)  # as it was when it ran
    assert model.at(3) == pytest.approx(2500)  # a worker's mean now, times three


def test_a_flat_load_has_no_line_and_goes_by_the_ratio() -> None:
    model = CapacityModel()
    model.observe(np.full((60, 2), 0.5), np.full((60, 2), 400.0), new_fleet=True)
    assert model.current == pytest.approx(1600)


def test_nothing_is_known_before_anything_was_measured() -> None:
    model = CapacityModel()
    assert np.isnan(model.at(3))
    model.observe(np.empty((0, 3)), np.empty((0, 3)), new_fleet=True)
    assert np.isnan(model.current)
