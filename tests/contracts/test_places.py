"""What every place must do; places that need more than this machine has say so in their own tests."""

from collections.abc import Callable

import numpy as np
import pytest

import infra
import jobs
from autoscalers.model import JOB, Decision, Observation
from experiments.schema import EVENTS, INSTANCES, METRICS
from infra.faults import Incident
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


# --- the local place: the same, on real processes and in real time ---------------------------------------------------

REAL = {
    ("yahoo", "flink-reactive"): 2_000.0,
    ("yahoo", "flink-operator"): 2_000.0,
    ("yahoo", "spark"): 1_000.0,
    ("images", "openstack-vm"): 2.0,
}


def until(target: Target, condition: Callable[[Observation], bool]) -> Observation:
    """Let time pass until something is seen; a busy machine may take long."""
    while not condition(seen := target.observe()):
        assert target.time_s < 590, "it never came"
        target.advance(3)
    return seen


def rescaled(seen: Observation) -> bool:
    done = seen.last_rescale is not None and not np.isnan(seen.last_rescale.downtime_s)
    return done and all_ready(seen)


def all_ready(seen: Observation) -> bool:
    view = seen.operators[JOB]
    return view.ready.tolist() == [True] * view.parallelism


@pytest.mark.local
@pytest.mark.parametrize(("job", "engine"), REAL)
def test_the_local_place_rescales_survives_a_crash_and_records_by_the_schema(job: str, engine: str) -> None:
    place = infra.get("local")
    options = {"max_workers": 2, "warmup_s": 3, "work_ns": 500, "warm_s": 1}
    curve = np.full(600, REAL[job, engine])
    crash = Incident(30.0, "crash", 30.0, workers=1, worker=0)
    wish = Assignment(f"contract-{job}-{engine}", jobs.get(job), engine, curve, 7, 1, options, faults=(crash,))
    with place.provision(wish) as cluster, cluster.deploy() as target:
        assert target.time_s == 0
        target.advance(6)
        assert 6 <= target.time_s < 60, "a busy machine may be late"
        assert target.apply(Decision.scale(JOB, 5, "test"))[0].applied == 2, "at most as many as the options allow"
        observation = until(target, rescaled)
        view = observation.operators[JOB]
        assert view.parallelism == 2
        assert view.cpu.shape[1] == 2
        target.advance(max(0.0, 32.0 - target.time_s))  # the crash has come
        until(target, all_ready)
        target.apply(Decision("less", parallelism={JOB: 1}, save_first=True))
        assert until(target, rescaled).operators[JOB].ready.tolist() == [True]
        recording = target.drain()
        seconds = int(target.time_s)
    assert set(recording.metrics) == set(METRICS.names) - FILLED_IN
    assert set(recording.instances) == set(INSTANCES.names) - FILLED_IN
    assert set(recording.events) == set(EVENTS.names) - {"run_id"}
    assert list(recording.metrics["time_s"]) == list(range(seconds))
    assert np.nansum(recording.metrics["throughput"]) > 0
    assert np.nanmax(recording.metrics["cpu"]) > 0
    kinds = recording.events["kind"]
    assert {"rescale_start", "rescale_end", "boot", "failure", "worker_lost"} <= set(kinds)
    assert "2 to 1 workers, saved first" in recording.events["detail"]
    assert recording.events["time_s"] == sorted(recording.events["time_s"])
