"""Estimators find again the constants of the plant that made the data."""

from collections.abc import Callable

import numpy as np
import pytest

from experiments.validation.calibration.capacity import power_law
from experiments.validation.calibration.delays import delays
from experiments.validation.calibration.job import job
from experiments.validation.calibration.noise import readings, white
from experiments.validation.calibration.quiet import latency_curve
from experiments.validation.calibration.settling import settling
from experiments.validation.clusters import CLUSTERS
from experiments.validation.daedalus import Daedalus
from experiments.validation.measured import Action, Measured

Make = Callable[..., Measured]

DEMETER = CLUSTERS["demeter"].profile
#: At times that fall on every age of a checkpoint.
INWARDS = tuple(Action(300 * (i + 1) + 7 * i * i, "rescale", workers=19 - i, before=20 - i) for i in range(17))


def found(estimates: list) -> dict[str, tuple[float, ...]]:
    return {one.name: one.found for one in estimates}


def test_capacity_is_read_from_overload(made: Make) -> None:
    runs = [made(workers=workers, load=400_000.0, seed=workers, seconds=3600) for workers in (2, 4, 6, 9, 12)]
    factor, exponent, n = power_law(runs)
    assert n == 5
    assert factor * 6**exponent == pytest.approx(DEMETER["worker_capacity"] * 6 ** DEMETER["scaling_exponent"], rel=0.1)
    assert exponent == pytest.approx(DEMETER["scaling_exponent"], abs=0.1)


def test_latency_over_load_is_found_again() -> None:
    loads = np.random.default_rng(1).uniform(0.0, 0.9, 20_000)
    base, idle, fades = latency_curve(loads, 1.1 + 0.2 * np.exp(-loads / 0.1))
    assert (base, idle, fades) == pytest.approx((1.1, 0.2, 0.1), rel=0.06)


def test_outages_and_the_age_of_checkpoints_are_found_again(made: Make) -> None:
    runs = [made(INWARDS, workers=20, seconds=7400, seed=seed, job="ads") for seed in range(6)]
    estimates = found(delays(runs))
    assert estimates["outage_in_s"][3] == pytest.approx(DEMETER.delays["outage_in_s"].median, abs=1.0)
    assert estimates["checkpoint_interval_s"][0] == pytest.approx(DEMETER["checkpoint_interval_s"], rel=0.25)


def test_how_a_restart_settles_is_found_again(made: Make) -> None:
    runs = [made(INWARDS, workers=20, seconds=7400, seed=seed, job="ads") for seed in range(3)]
    estimates = found(settling(runs))
    assert estimates["settle_latency_s"][0] == pytest.approx(DEMETER["settle_latency_s"], rel=0.1)
    assert estimates["settle_s"][0] == pytest.approx(DEMETER["settle_s"], abs=1.0)


def test_noise_of_readings_is_found_again() -> None:
    rng = np.random.default_rng(3)
    throughput = np.linspace(5_000.0, 60_000.0, 4_000)
    cpu = 0.08 + 1.5e-5 * throughput + rng.normal(0.0, 0.013, throughput.size)
    seen = throughput * (1.0 + rng.normal(0.0, 0.02, throughput.size))
    estimates = found(readings(Daedalus(throughput, cpu, seen, cpu)))
    assert estimates["cpu_noise"][0] == pytest.approx(0.013, rel=0.1)
    assert white(rng.normal(0.0, 2.0, 50_000)) == pytest.approx(2.0, rel=0.05)


def test_two_workers_of_wordcount_and_the_cpu_of_a_static_fleet_are_found_again() -> None:
    loads = np.linspace(0.1, 0.9, 400)
    speeds, idle = np.array([90_000.0, 110_000.0]), 0.1
    shares = np.array([0.5, 0.5])
    rates = 150_000 * loads * shares[:, None]
    cpu = idle + (1 - idle) * rates / speeds[:, None]
    day = 550_000.0 * loads
    ramp, twelve = np.linspace(1e3, 6e4, 100), np.tile(np.linspace(3e4, 5e4, 12), 10)
    estimates = job(Daedalus(ramp, ramp / 6e4, twelve, twelve / 5e4, rates.ravel(), cpu.ravel(), day, 0.2 + 1e-6 * day))
    told = {(one.where, one.name): one.found[0] for one in estimates}
    assert told["job wordcount", "worker_capacity"] == pytest.approx(100_000)
    assert told["job wordcount", "speed_spread"] == pytest.approx(0.1 * np.sqrt(2))
    assert told["job wordcount", "cpu_idle"] == pytest.approx(idle)
    assert told["job wordcount", "key_skew"] < 0.01  # both took as much
    assert told["yahoo, evaluation's static fleet", "cpu_idle"] == pytest.approx(0.2)
