"""A job whose operators scale each on their own, as the control loop meets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infra
from autoscalers.model import Decision, RegionView
from experiments.recorder import Recorder
from experiments.schema import EVENTS, INSTANCES, METRICS
from infra.faults import Incident
from infra.model import Assignment
from infra.simulated.operators.plant import CONSTANTS, DELAYS, OPTIONAL
from infra.simulated.operators.target import OperatorsTarget
from jobs.model import Job, Operator
from jobs.wordcount.e2df import WORDCOUNT

E2DF = Job("wordcount", "WordCount", "", "", "a sentence", WORDCOUNT.topology, {"e2df": WORDCOUNT})
#: Over all three regions, so that there is something to tell apart.
SPREAD = {"home.splitter": 0, "home.filter": 1, "home.counter": 2, "home.consumer": 0}
MakeTarget = Callable[..., OperatorsTarget]


def day(minutes: int) -> Any:
    return np.repeat(300 - 290 * np.cos(2 * np.pi * np.arange(minutes) / 240), 60)


def e2df(curve: Any, *, seed: int = 1, workers: int | None = None, faults: Any = (), **options: Any) -> OperatorsTarget:
    """As in the paper, with operators in all three regions."""
    options["constants"] = {**SPREAD, **options.get("constants", {})}
    return OperatorsTarget(Assignment("run", E2DF, "e2df", curve, seed, workers, options, tuple(faults)))


@pytest.fixture(scope="session")
def noisy(make_profile: Any) -> MakeTarget:
    """A target with all that is random in it."""

    def make(curve: Any, seed: int = 1, **options: Any) -> OperatorsTarget:
        topology = (Operator("a", 2.0), Operator("b", 0.0, keyed=True))
        values = {"cpu_noise": 0.02, "throughput_noise": 0.05, "capacity_noise": 0.05, "speed_spread": 0.1}
        profile = make_profile(topology, ("x", "y"), "home", {**values, "key_count": 30, "step_s": 5, "boot_s": 12.0})
        job = Job("made-up", "", "", "", "", topology, {"made-up": profile})
        return OperatorsTarget(Assignment("run", job, "made-up", curve, seed, 2, options))

    return make


def test_the_profile_of_the_paper_is_complete_and_every_figure_has_a_unit_and_a_source() -> None:
    assert {name.partition(".")[0] for name in WORDCOUNT.constants} == CONSTANTS | OPTIONAL
    assert set(WORDCOUNT.delays) == DELAYS
    assert WORDCOUNT.engine.scales == "operators"
    for name, constant in WORDCOUNT.constants.items():
        assert constant.source, name
        assert constant.unit or name in {"scaling_exponent", "key_skew"}, name
    assert WORDCOUNT.between("dc2", "dc1") == WORDCOUNT.between("dc1", "dc3") == 0.002
    assert WORDCOUNT.between("dc3", "dc2") == 0.001
    assert WORDCOUNT.between("dc3", "dc3") == 0.0


def homes(**constants: float) -> list[str]:
    """Where each operator has its only instance."""
    options = {"constants": {f"home.{operator}": region for operator, region in constants.items()}}
    assignment = Assignment("run", E2DF, "e2df", np.full(120, 10.0), 7, 1, options)
    with infra.get("simulated").provision(assignment) as cluster, cluster.deploy() as target:
        target.advance(60)
        views = target.observe().operators
    return [", ".join(region for region, count in view.regions.items() if count) for view in views.values()]


def test_operators_start_at_home() -> None:
    assert homes() == ["dc1", "dc1", "dc2", "dc2"]
    assert homes(consumer=2) == ["dc1", "dc1", "dc2", "dc3"]
    with pytest.raises(ValueError, match="home is 3, not a region from 0 to 2"):
        homes(counter=3)


def test_the_place_runs_it_and_records_by_the_schema() -> None:
    curve = day(120)
    place = infra.get("simulated")
    with place.provision(Assignment("run", E2DF, "e2df", curve, 7, None)) as cluster, cluster.deploy() as target:
        target.advance(3600)
        target.apply(Decision("more", {"filter": 9}, {"dc1": 5}))
        target.advance(10_000)
        assert target.time_s == curve.size
        recording = target.drain()
    assert set(recording.metrics) == set(METRICS.names) - {"run_id"}
    assert set(recording.instances) == set(INSTANCES.names) - {"run_id"}
    assert set(recording.events) == set(EVENTS.names) - {"run_id"}
    assert len(recording.metrics["time_s"]) == 120 * 5
    assert recording.metrics["time_s"][:6].tolist() == [0, 0, 0, 0, 0, 60]
    assert recording.metrics["operator"][:5].tolist() == ["splitter", "filter", "counter", "consumer", "job"]
    assert set(recording.instances["operator"]) == {"splitter", "filter", "counter", "consumer"}


def test_minutes_follow_the_model_of_the_paper() -> None:
    """480 sentences/s on 2 splitters, 10 filters, 4 counters and 4 consumers, each an M/D/1 queue of 330/s."""
    target = e2df(np.full(600, 480.0), workers=4)
    target.apply(Decision("", {"splitter": 2, "filter": 10}))
    target.advance(600)
    rows = target.drain().metrics
    last = {name: values[-5:] for name, values in rows.items()}
    assert last["throughput"] == pytest.approx([480, 2400, 960, 960, 480])
    utilisation = np.array([480 / 660, 2400 / 3300, 960 / 1320, 960 / 1320])
    assert last["cpu"][:4] == pytest.approx(utilisation, rel=1e-6)
    times = 1 / 330 + utilisation / (2 * 330 * (1 - utilisation))
    assert last["latency_mean_s"][:4] == pytest.approx(times, rel=1e-5)
    # dc1 to dc2, dc2 to dc3, dc3 to dc1
    assert last["latency_mean_s"][4] == pytest.approx(times.sum() + 0.002 + 0.001 + 0.002, rel=1e-5)
    assert last["demand_workers"].tolist() == [2, 8, 3, 3, 16]
    assert last["workers_ready"].tolist() == [2, 10, 4, 4, 20]
    assert last["capacity"][-1] == pytest.approx(min(660, 3300 / 5, 1320 / 2))
    assert last["nodes"][-1] == 36


def test_the_next_minute_is_served_by_the_new_replicas_and_a_node_can_be_used_after_it() -> None:
    """Section 8.1: all adaptation actions are completed within the next minute."""
    target = e2df(np.full(600, 100.0), workers=2)
    target.advance(60)
    target.observe()
    assert target.apply(Decision("", {"counter": 3}, {"dc2": 13}))[0].target == "region:dc2"
    target.advance(60)
    during = target.observe()
    view = during.operators["counter"]
    assert (view.parallelism, view.ready.tolist(), view.cpu.shape) == (3, [True] * 3, (1, 3))
    assert view.cpu[0] == pytest.approx(100 * 2 / 990)
    assert view.regions == {"dc3": 3}
    assert during.last_rescale is not None
    assert (during.last_rescale.before, during.last_rescale.after, during.last_rescale.downtime_s) == (2, 3, 0.0)
    region = during.regions["dc2"]
    assert (region.nodes, region.booting, region.idle, region.free) == (13, 0, 12, 24)


def test_a_minute_with_more_than_can_be_served_has_no_bounded_response_time_and_leaves_nothing_behind() -> None:
    target = e2df(np.repeat([600.0, 100.0], 60), workers=1)
    target.advance(120)
    rows = {name: values.reshape(2, 5) for name, values in target.drain().metrics.items() if name != "operator"}
    assert np.isnan(rows["latency_mean_s"][0, [0, 4]]).all()
    assert rows["throughput"][0].tolist() == [600, 3000, 1200, 1200, 600], "every operator gets the whole load"
    assert rows["cpu"][0, :4].tolist() == [1, 1, 1, 1]
    assert not rows["backlog"].any()
    utilisation = 100 / 330
    alone = 1 / 330 + utilisation / (2 * 330 * (1 - utilisation))
    assert rows["latency_mean_s"][1, 0] == pytest.approx(alone, rel=1e-5)


def test_an_observation_shows_each_operator_and_region() -> None:
    target = e2df(day(30))
    target.advance(600)
    seen = target.observe()
    assert list(seen.operators) == ["splitter", "filter", "counter", "consumer"]
    assert seen.time_s == 600
    assert seen.workload.shape == (10,)
    assert seen.operators["filter"].input_rate == pytest.approx(5 * seen.workload)
    assert seen.operators["counter"].throughput.sum(axis=1) == pytest.approx(2 * seen.workload)
    assert seen.operators["consumer"].response_time.shape == (10,)
    assert set(seen.regions) == {"dc1", "dc2", "dc3"}
    pools = [(region.nodes, region.idle, region.unmet, region.slots) for region in seen.regions.values()]
    assert pools == [(12, 11, 0, 2)] * 3
    with pytest.raises(ValueError, match="read-only"):
        seen.operators["filter"].cpu[0, 0] = 0.0
    assert target.observe().workload.shape == (0,)


def test_what_was_observed_stays_as_it_was_after_a_drain() -> None:
    target = e2df(day(60))
    target.advance(600)
    seen = target.observe()
    before = seen.operators["filter"].cpu.copy()
    target.drain()
    target.advance(1800)
    target.drain()
    np.testing.assert_array_equal(seen.operators["filter"].cpu, before)


@pytest.mark.parametrize(
    ("decision", "complaint"),
    [
        (Decision("", {"job": 3}), 'unknown operator "job"; there are: splitter, filter, counter, consumer'),
        (Decision("", {"filter": 3}, {"dc9": 3}), 'unknown region "dc9"; there are: dc1, dc2, dc3'),
    ],
)
def test_a_decision_about_what_is_not_there_is_refused_and_changes_nothing(decision: Decision, complaint: str) -> None:
    target = e2df(day(10), workers=2)
    target.advance(60)
    with pytest.raises(ValueError, match=complaint):
        target.apply(decision)
    assert [view.parallelism for view in target.observe().operators.values()] == [2, 2, 2, 2]


def test_applied_says_what_became_of_each_part() -> None:
    target = e2df(day(10), workers=2)
    target.advance(60)
    found = target.apply(Decision("", {"filter": 99, "counter": 0}, {"dc1": 60, "dc2": 0}))
    assert [(it.target, it.before, it.wanted, it.applied) for it in found] == [
        ("region:dc1", 12, 60, 50),
        ("filter", 2, 99, 20),
        ("counter", 2, 0, 1),
        ("region:dc2", 12, 0, 10),
    ]
    (kept,) = target.apply(Decision.keep("fine"))
    assert (kept.target, kept.before, kept.wanted, kept.applied) == ("job", 25, 25, 25)


def test_whoever_wants_a_slot_gets_it_before_its_node_is_given_up() -> None:
    """The node with the last free slots is released in the same decision that needs one of them."""
    target = e2df(day(10), workers=2, constants={"nodes_initial": 2})
    target.advance(60)
    target.apply(Decision("", {"filter": 3}, {"dc2": 1}))
    assert target.observe().regions["dc2"] == RegionView(nodes=2, idle=0, unmet=0, free=1, slots=2)


def test_limits_come_from_the_profile_and_the_suite() -> None:
    target = e2df(day(10), workers=50, max_workers=7)
    assert [view.parallelism for view in target.observe().operators.values()] == [7, 7, 7, 7]
    slow = e2df(np.full(60, 100.0), constants={"worker_capacity": 33.0})
    slow.advance(60)
    assert slow.drain().metrics["capacity"][0] == pytest.approx(4 * 33.0)


@pytest.mark.parametrize(
    ("seconds", "constants", "complaint"),
    [(90, {}, "e2df advances 60 s at a time: 90 s are no multiple of it"), (60, {"step_s": 0.5}, "whole seconds")],
)
def test_a_duration_must_be_whole_steps(seconds: int, constants: dict[str, float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        e2df(np.ones(seconds), constants=constants)


def test_at_least_a_step_passes_and_parts_of_steps_add_up() -> None:
    target = e2df(day(20))
    target.advance(15)
    assert target.time_s == 60
    for _ in range(4):
        target.advance(90)
    assert target.time_s == 420


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), pieces=st.lists(st.integers(1, 90), min_size=1, max_size=12))
def test_the_same_seed_gives_the_same_run_bit_by_bit_however_it_is_cut(
    noisy: MakeTarget, seed: int, pieces: list[int]
) -> None:
    curve = np.abs(np.random.default_rng(seed).normal(150, 50, 5 * sum(pieces)))
    whole, cut = noisy(curve, seed), noisy(curve, seed)
    for target in (whole, cut):
        target.apply(Decision("", {"a": 5, "b": 3}, {"x": 100}))
    whole.advance(curve.size)
    drained: dict[str, list[Any]] = {}
    for piece in pieces:
        cut.advance(5 * piece)
        cut.observe()
        recording = cut.drain()
        for table in (recording.metrics, recording.instances):
            for name, values in table.items():
                drained.setdefault(f"{id(table) == id(recording.metrics)} {name}", []).append(values)
    expected = whole.drain()
    for kind, table in ((True, expected.metrics), (False, expected.instances)):
        for name, values in table.items():
            np.testing.assert_array_equal(np.concatenate(drained[f"{kind} {name}"]), values)


def test_seeds_differ_and_what_is_asked_of_one_operator_leaves_the_noise_of_others_alone(noisy: MakeTarget) -> None:
    """b scales out; a goes on exactly as in a run where it does not, although a's samples are noisy."""
    curve = np.full(600, 100.0)

    def of_a(seed: int, decision: Decision) -> Any:
        target = noisy(curve, seed)
        target.advance(100)
        target.apply(decision)
        target.advance(500)
        recording = target.drain()
        mine = recording.metrics["operator"] == "a"
        samples = recording.instances["operator"] == "a"
        return [*recording.metrics["seen_throughput"][mine], *recording.instances["cpu"][samples]]

    quiet, busy = of_a(1, Decision.keep("")), of_a(1, Decision("", {"b": 9}, {"y": 40}))
    assert quiet == busy
    assert quiet != of_a(2, Decision.keep(""))


def test_measurements_are_noisy_and_the_record_has_both(noisy: MakeTarget) -> None:
    target = noisy(np.full(50_000, 60.0))
    target.advance(50_000)
    seen = target.observe().operators["b"]
    rows = target.drain().metrics
    mine = rows["operator"] == "b"
    error = seen.input_rate / rows["workload"][mine] - 1
    assert error.std() == pytest.approx(0.05, rel=0.05)
    assert error.mean() == pytest.approx(0.0, abs=0.002)
    assert (seen.cpu.mean(axis=1) - rows["cpu"][mine]).std() == pytest.approx(0.02 / np.sqrt(2), rel=0.05)
    np.testing.assert_allclose(rows["seen_workload"][mine], seen.input_rate, rtol=1e-6)


def test_the_errors_of_operators_and_instances_have_nothing_in_common(noisy: MakeTarget) -> None:
    target = noisy(np.full(50_000, 60.0))
    target.advance(50_000)
    seen = target.observe().operators
    assert abs(np.corrcoef(seen["a"].input_rate, seen["b"].input_rate)[0, 1]) < 0.05
    rates = np.hstack([seen["a"].throughput, seen["b"].throughput])
    assert np.abs(np.triu(np.corrcoef(rates.T), 1)).max() < 0.05


def test_what_was_drained_and_observed_is_forgotten(noisy: MakeTarget) -> None:
    target = noisy(np.full(50_000, 60.0))
    for _ in range(10):
        target.advance(5000)
        target.observe()
        target.drain()
        assert target._plant._records.filled == 0
        assert len(target._plant._records.rows) == 512


def test_instances_are_archived_once_a_period(noisy: MakeTarget) -> None:
    target = noisy(np.full(100, 60.0), instance_period_s=20)
    target.advance(100)
    assert sorted(set(target.drain().instances["time_s"])) == [0, 20, 40, 60, 80]


def test_the_archive_takes_it(tmp_path: Path) -> None:
    target = e2df(day(20))
    target.advance(1200)
    with Recorder(tmp_path, "run") as recorder:
        decision = Decision("why", {"filter": 3}, {"dc1": 2}, {"region_cost": 0.5})
        recorder.decision(0.0, target.apply(decision), decision, 1.0)
        recorder.record(target.drain())
    metrics = pq.read_table(tmp_path / "metrics.parquet").to_pandas()
    assert metrics.groupby("operator", observed=True).size().to_dict() == dict.fromkeys(
        ["splitter", "filter", "counter", "consumer", "job"], 20
    )
    assert pq.read_schema(tmp_path / "instances.parquet").equals(INSTANCES)
    decisions = pq.read_table(tmp_path / "decisions.parquet").to_pandas()
    assert decisions["target"].tolist() == ["filter", "region:dc1"]


def test_incidents_of_every_kind_are_carried_out() -> None:
    """Workers are counted over all operators: 0 and 1 are splitters, 2 and 3 filters."""
    faults = [
        Incident(120, "crash", 120, workers=1, worker=2),
        Incident(600, "node-loss", 600, workers=1, worker=0),
        Incident(1200, "slow-worker", 1500, workers=1, worker=7, amount=0.5),
        Incident(1800, "source-stall", 1920, amount=1.0),
        Incident(2400, "network-delay", 2700, amount=0.4),
        Incident(3000, "metrics-missing", 3300, amount=1.0),
    ]
    target = e2df(np.full(4200, 90.0), workers=2, faults=faults)
    target.advance(4200)
    recording = target.drain()
    row = {
        (time_s, operator): index
        for index, (time_s, operator) in enumerate(
            zip(recording.metrics["time_s"].tolist(), recording.metrics["operator"], strict=True)
        )
    }

    def at(column: str, time_s: int, operator: str = "job") -> float:
        return float(recording.metrics[column][row[time_s, operator]])

    assert (at("workers_ready", 60, "filter"), at("workers_ready", 120, "filter")) == (2, 1)
    assert at("workers_ready", 180, "filter") == 2
    assert (at("nodes", 540), at("nodes", 600), at("workers_ready", 600, "splitter")) == (36, 35, 0)
    assert at("capacity", 1200, "consumer") == pytest.approx(330.0)
    assert at("capacity", 1500, "consumer") == pytest.approx(660.0)
    assert (at("throughput", 1800), at("throughput", 1860)) == (0, 0)
    assert at("backlog", 1860) == pytest.approx(120 * 90)
    assert at("latency_mean_s", 2400) - at("latency_mean_s", 2340) == pytest.approx(0.4, rel=1e-5)
    assert at("latency_mean_s", 2700) == pytest.approx(at("latency_mean_s", 2340), rel=1e-5)
    assert np.isnan(at("seen_workload", 3000))
    assert at("seen_workload", 3300) == pytest.approx(90.0)
    kinds = recording.events["kind"]
    assert kinds.count("failure") == 2
    assert {"restored", "recovered", "source-stall_start", "source-stall_end"} <= set(kinds)
    assert recording.events["time_s"] == sorted(recording.events["time_s"])


def test_requests_may_be_lost_or_late() -> None:
    lost = e2df(np.full(600, 90.0), workers=2, faults=[Incident(0, "request-lost", 300, amount=1.0)])
    lost.advance(60)
    (applied,) = lost.apply(Decision("", {"filter": 5}))
    assert (applied.before, applied.wanted, applied.applied) == (2, 5, 2)
    late = e2df(np.full(600, 90.0), workers=2, faults=[Incident(0, "request-late", 300, amount=100.0)])
    late.advance(60)
    (applied,) = late.apply(Decision("", {"filter": 5}))
    assert applied.applied == 5
    late.advance(540)
    events = late.drain().events
    started = [time for time, kind in zip(events["time_s"], events["kind"], strict=True) if kind == "rescale_start"]
    assert started == [180.0], "asked at 60 s, there at 160 s, seen at the next minute"
