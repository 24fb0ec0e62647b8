from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autoscalers.model import Observation, Rescale
from autoscalers.phoebe import Phoebe, PhoebeParams
from autoscalers.testing import observation

WORKER = 10_000.0
"""Events/s that a worker of the job can take."""


def tried(params: PhoebeParams) -> Iterator[Observation]:
    """A job whose latency is a second until a scale-out is overloaded, and 40 s then."""
    for workers in params.profiled:
        capacity = WORKER * workers
        for load in np.arange(10_000.0, capacity + 20_000.0, 10_000.0):
            late = 40.0 if load > capacity else 1.0
            done = min(load, capacity)
            seen = observation(
                parallelism=workers, workload=load, throughput=done / workers, response_time=late, samples=120
            )
            yield replace(seen, trial="load")
        failing = observation(parallelism=workers, workload=10_000.0, samples=300)
        silent = np.where(np.arange(300) < 25, np.nan, 2.0)
        views = {"job": replace(failing.operators["job"], response_time=silent)}
        yield replace(failing, operators=views, trial="failure")
        overload = observation(parallelism=workers, workload=1e6, throughput=WORKER, response_time=300.0, samples=120)
        yield replace(overload, trial="overload")


def profiled(**params: Any) -> Phoebe:
    policy = Phoebe(PhoebeParams(**({"maximum": 18, "target_recovery_s": 600.0} | params)), seed=1)
    policy.warm_start(list(tried(policy.params)))
    return policy


def minutes(policy: Phoebe, load: float, workers: int, until_s: int, **other: Any) -> Iterator[Any]:
    """Decisions of a run in which nothing is carried out."""
    for time_s in range(60, until_s + 1, 60):
        yield policy.decide(
            observation(time_s=time_s, parallelism=workers, workload=load, response_time=1.0, samples=60, **other)
        )


def test_nothing_is_evaluated_before_ten_minutes() -> None:
    decisions = list(minutes(profiled(), 60_000.0, 4, 600))
    assert all(not decision.parallelism for decision in decisions[:9])
    assert decisions[0].reason == "60 s since the last change, at least 600 s needed"
    assert decisions[9].parallelism


def test_after_a_rescale_ten_minutes_pass_again() -> None:
    changed = Rescale(started_s=300.0, before=2, after=4, downtime_s=10.0)
    decisions = list(minutes(profiled(), 60_000.0, 4, 900, last_rescale=changed))
    assert [bool(decision.parallelism) for decision in decisions] == [False] * 14 + [True]


@pytest.mark.parametrize(("downtime_s", "load"), [(90.0, 60_000.0), (90.0, 100_000.0), (20.0, 55_000.0)])
def test_the_fewest_that_recover_in_time_are_taken(downtime_s: float, load: float) -> None:
    """At constant load, recovery takes the downtime and what it left, (downtime + 10) · load, over what is spare."""
    wanted = next(
        workers
        for workers in range(2, 19)
        if WORKER * workers > load and downtime_s + (downtime_s + 10) * load / (WORKER * workers - load) < 600
    )
    *_, last = minutes(profiled(downtime_s=downtime_s), load, 2, 600)
    assert last.parallelism == {"job": wanted}
    assert last.save_first
    assert last.reason.startswith(f"{wanted} of 2 workers: the fewest that recover within 600 s at low latency")


def test_a_shorter_target_takes_more_workers() -> None:
    found = []
    for target_s in (600.0, 180.0):
        *_, last = minutes(profiled(target_recovery_s=target_s, downtime_s=90.0), 60_000.0, 2, 600)
        found.append(last.parallelism["job"])
    assert found[0] < found[1]


def test_going_in_by_two_is_not_worth_it() -> None:
    *_, at_ten = minutes(profiled(downtime_s=90.0), 60_000.0, 10, 600)
    *_, at_eleven = minutes(profiled(downtime_s=90.0), 60_000.0, 11, 600)
    assert not at_ten.parallelism
    assert at_ten.reason.endswith("too few to leave for a restart, 10 kept")
    assert at_eleven.parallelism == {"job": 8}


def test_too_much_load_takes_what_recovers_soonest() -> None:
    *_, last = minutes(profiled(downtime_s=90.0), 400_000.0, 6, 600)
    assert last.parallelism == {"job": 18}
    assert "none recovers within 600 s" in last.reason


def test_the_downtime_is_that_of_the_profiling_unless_it_is_given() -> None:
    """25 s of silence: 5 workers for 35,000 events/s recover in 25 + 35 · 35 / 15 s."""
    *_, measured = minutes(profiled(target_recovery_s=107.0), 35_000.0, 2, 600)
    *_, given = minutes(profiled(target_recovery_s=107.0, downtime_s=30.0), 35_000.0, 2, 600)
    assert measured.parallelism == {"job": 5}
    assert given.parallelism == {"job": 6}


def test_the_way_of_the_authors_is_longer_above_half_the_capacity() -> None:
    *_, exact = minutes(profiled(target_recovery_s=300.0, downtime_s=90.0), 60_000.0, 2, 600)
    *_, published = minutes(profiled(target_recovery_s=300.0, downtime_s=90.0, as_published=True), 60_000.0, 2, 600)
    assert (exact.parallelism, published.parallelism) == ({"job": 9}, {"job": 13})


def test_the_trials_follow_the_parameters() -> None:
    wanted = Phoebe(PhoebeParams(maximum=18, load_step=0.2)).profiling()
    assert wanted.scale_outs == (2, 4, 6, 8, 10, 12, 14, 16)
    assert wanted.load_step == 0.2


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [((2, 24), (2, 5, 8, 11, 14, 17, 20, 23)), ((1, 3), (1, 2, 3)), ((4, 4), (4,)), ((1, 12), tuple(range(1, 13, 2)))],
)
def test_scale_outs_are_spread_to_the_maximum(bounds: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert PhoebeParams(minimum=bounds[0], maximum=bounds[1]).profiled == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"target_recovery_s": 0},
        {"maximum": 1},
        {"profiles": 0},
        {"load_step": 2},
        {"downtime_s": -1},
        {"horizon_s": 10},
        {"poll_s": 0},
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}: "):
        PhoebeParams(**wrong)


def test_jobs_that_scale_by_operator_are_left_alone() -> None:
    assert "scale as one" in profiled().decide(observation(operator="split")).reason


def test_listing_autoscalers_imports_nothing_heavy() -> None:
    code = "import autoscalers, sys; autoscalers.names(); print({'sklearn', 'statsforecast'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


def test_an_evaluation_notes_what_it_went_by() -> None:
    *_, last = minutes(profiled(downtime_s=90.0), 60_000.0, 7, 660)
    assert last.notes["capacity"] == pytest.approx(7 * WORKER, rel=0.01)
    assert last.notes["forecast_wape"] == pytest.approx(0.0, abs=0.01)
