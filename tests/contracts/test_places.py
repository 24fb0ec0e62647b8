"""What every place must do; places that need more than this machine has say so in their own tests."""

import numpy as np
import pytest

import infra
import jobs
from autoscalers.model import JOB, Decision
from experiments.schema import EVENTS, INSTANCES, METRICS
from infra.model import Assignment, Target

PLACES = ["simulated"]
FILLED_IN = {"run_id", "operator"}


SCALING_AS_ONE = [
    (place, job, engine)
    for place in PLACES
    for job in jobs.names()
    for engine, profile in jobs.get(job).profiles.items()
    if profile.engine.scales == "job"
]


@pytest.fixture(params=SCALING_AS_ONE, ids="-".join)
def assignment(request: pytest.FixtureRequest) -> tuple[infra.Place, Assignment]:
    place, name, engine = request.param
    job = jobs.get(name)
    load = 1.5 * job.profiles[engine]["worker_capacity"]
    return infra.get(place), Assignment("run", job, engine, np.full(900, load), 7, 4)


def through(target: Target, wanted: int) -> None:
    target.advance(60)
    target.apply(Decision.scale(JOB, wanted, "test"))
    target.advance(840)


def test_a_place_runs_a_job_and_records_by_the_schema(assignment: tuple[infra.Place, Assignment]) -> None:
    place, wish = assignment
    with place.provision(wish) as cluster, cluster.deploy() as target:
        assert target.time_s == 0
        through(target, 6)
        assert target.time_s == 900
        observation = target.observe()
        recording = target.drain()
    assert observation.operators[JOB].parallelism == 6
    assert observation.workload.shape == (900,)
    assert set(recording.metrics) == set(METRICS.names) - FILLED_IN
    assert set(recording.instances) == set(INSTANCES.names) - FILLED_IN
    assert set(recording.events) == set(EVENTS.names) - {"run_id"}
    assert len(recording.metrics["time_s"]) == 900
    kinds = recording.events["kind"]
    assert kinds[0] == "rescale_start"
    assert {"rescale_end", "recovered"} <= set(kinds)
    assert recording.events["time_s"] == sorted(recording.events["time_s"])


def test_time_ends_with_the_curve(assignment: tuple[infra.Place, Assignment]) -> None:
    place, wish = assignment
    with place.provision(wish) as cluster, cluster.deploy() as target:
        target.advance(10_000)
        assert target.time_s == 900


@pytest.mark.parametrize("name", infra.names())
def test_a_place_describes_itself_and_sweeps_idempotently(name: str) -> None:
    place = infra.get(name)
    assert place.name == name
    assert place.about
    place.sweep()
    assert place.sweep() == []
    assert place.check_options({}) == []
    assert all(check.what and check.detail for check in place.doctor())
