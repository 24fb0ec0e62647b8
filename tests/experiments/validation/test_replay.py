"""Replays of runs that the plant itself made: the comparison finds no error there, and finds the ones put in."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from experiments.validation.clusters import CLUSTERS
from experiments.validation.demeter import Minutes
from experiments.validation.measured import Action, Measured
from experiments.validation.replay import replay, steady_cpu
from experiments.validation.scores import score, seen_in
from experiments.validation.sources import Data
from experiments.validation.validation import SEED, validate

Make = Callable[..., Measured]

ACTIONS = (
    Action(400, "rescale", workers=12, before=8),
    Action(800, "rescale", workers=6, before=12),
    Action(1200, "failure", workers=6, before=6),
)


def scored(run: Measured, seed: int) -> dict[str, float]:
    again = replay(run, CLUSTERS[run.cluster], seed)
    found = score(run, again, seen_in(run, run), seen_in(run, again))
    return {
        "throughput": found.throughput.error,
        "latency": found.latency_mean.error,
        "outside": found.latency_mean_outside.error,
        "lag": found.lag_mean.error,
        "cpu": found.cpu.difference,
    }


def test_the_same_seed_replays_without_error(made: Make) -> None:
    assert scored(made(ACTIONS, seed=7), seed=7) == pytest.approx(
        dict.fromkeys(("throughput", "latency", "outside", "lag", "cpu"), 0.0)
    )


def test_another_seed_replays_the_quiet_parts_closely(made: Make) -> None:
    errors = scored(made(ACTIONS, seed=7), seed=8)
    assert errors["throughput"] == pytest.approx(0.0, abs=0.03)
    assert errors["outside"] == pytest.approx(0.0, abs=0.02)
    assert errors["cpu"] == pytest.approx(0.0, abs=0.05)


def test_a_job_that_is_slower_than_the_plant_shows(made: Make) -> None:
    """The measured job takes a third less than the plant thinks, under a load that it just cannot take."""
    run = made(load=100_000.0, workers=10)
    slower = replace(run, throughput=run.throughput / 1.5, latency_s=run.latency_s + np.arange(run.seconds) / 3.0)
    errors = scored(slower, seed=7)
    assert errors["throughput"] == pytest.approx(0.5, abs=0.05)
    assert errors["latency"] < -0.9


def test_interruptions_are_compared_by_cause(made: Make) -> None:
    found = validate(Data((made(ACTIONS, seed=SEED),)))
    assert [group.cause for group in found.groups] == ["failure", "scale in", "scale out"]
    for group in found.groups:
        assert len(group.measured) == len(group.simulated) == 1
        assert group.recovery_error == pytest.approx(0.0)
    longer = made(ACTIONS, seed=SEED)
    begin = next(one.begin_s for one in seen_in(longer, longer) if one.cause == "scale in")
    late = longer.latency_s.copy()
    late[begin + 5 : begin + 105] = 30.0
    by_cause = {group.cause: group for group in validate(Data((replace(longer, latency_s=late),))).groups}
    assert by_cause["scale in"].recovery_error < -0.6
    assert by_cause["scale out"].recovery_error == pytest.approx(0.0)


def test_only_runs_that_nothing_was_fitted_on_count_for_the_aims(made: Make) -> None:
    tested, fitted = made(job="cars"), replace(made(job="ads"), name="fitted")
    aims = validate(Data((tested, fitted))).aims
    assert [case.name for case in aims[0].cases] == ["made"]
    assert [aim.verdict for aim in validate(Data((fitted,))).aims] == ["not tested"] * 4


def test_cpu_of_quiet_minutes_is_the_plants_line() -> None:
    cluster = CLUSTERS["demeter"]
    profile = cluster.profile
    workers, throughput = np.array([4.0, 4.0, 8.0]), np.array([10_000.0, 20_000.0, 50_000.0])
    load = throughput / (profile["worker_capacity"] * workers ** profile["scaling_exponent"])
    line = profile["cpu_idle"] + load * (profile["cpu_full"] - profile["cpu_idle"])
    np.testing.assert_allclose(steady_cpu(throughput, workers, cluster, 1), line, rtol=0.15)
    minutes = Minutes("quiet", "cars", "reactive", throughput, workers, line, np.ones(3))
    (compared,) = validate(Data((), minutes=(minutes,))).minutes
    assert compared.cpu.difference == pytest.approx(0.0, abs=0.03)
