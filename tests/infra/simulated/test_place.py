"""The simulated place as the control loop meets it."""

import numpy as np
import pytest

import infra
import jobs
from autoscalers.model import Decision
from infra.model import Assignment
from infra.simulated.target import SimulatedTarget


def target(curve: np.ndarray, *, workers: int | None = 3, seed: int = 1, **options: int) -> SimulatedTarget:
    return SimulatedTarget(Assignment("run", jobs.get("yahoo"), "flink-reactive", curve, seed, workers, options))


CURVE = np.linspace(10_000, 200_000, 900)


def test_what_is_drained_in_pieces_is_the_whole_run() -> None:
    """Also after decisions between drains: the plant's buffer is reused, the record must not be."""
    running = target(CURVE)
    metrics: dict[str, list[np.ndarray]] = {}
    while running.time_s < 900:
        running.advance(15)
        running.observe()
        if running.time_s in {300, 600}:
            running.apply(Decision.scale("job", 6, "more"))
            for name, values in running.drain().metrics.items():
                metrics.setdefault(name, []).append(values)
    for name, values in running.drain().metrics.items():
        metrics[name].append(values)
    joined = {name: np.concatenate(values) for name, values in metrics.items()}
    np.testing.assert_array_equal(joined["time_s"], np.arange(900))
    np.testing.assert_allclose(joined["workload"], CURVE)
    assert joined["workers_wanted"].tolist() == [3] * 300 + [6] * 600


def test_an_observation_holds_the_samples_since_the_last_one_and_cannot_be_changed() -> None:
    running = target(CURVE)
    running.advance(15)
    first = running.observe()
    running.advance(30)
    second = running.observe()
    assert first.workload.shape == (15,)
    assert second.operators["job"].cpu.shape == (30, 3)
    np.testing.assert_allclose(second.workload, CURVE[15:45])
    with pytest.raises(ValueError, match="read-only"):
        second.operators["job"].cpu[0, 0] = 0.0


def test_booting_workers_are_seen_but_not_measured() -> None:
    running = target(CURVE)
    running.advance(60)
    running.observe()
    running.apply(Decision.scale("job", 5, "more"))
    running.advance(5)
    view = running.observe().operators["job"]
    assert view.parallelism == 5
    assert view.ready.tolist() == [True] * 3 + [False] * 2
    assert view.started_s.tolist() == [0.0] * 3 + [60.0] * 2
    assert np.isnan(view.cpu[:, 3:]).all()
    running.advance(120)
    observed = running.observe()
    assert observed.operators["job"].ready.all()
    assert observed.last_rescale is not None
    assert observed.last_rescale.downtime_s >= 0
    assert (observed.operators["job"].ready_since_s[3:] > 60).all()


def test_a_second_decision_waits_for_the_rescale_under_way_and_the_last_one_wins() -> None:
    running = target(CURVE)
    running.advance(10)
    running.apply(Decision.scale("job", 5, ""))
    running.advance(2)
    running.apply(Decision.scale("job", 9, ""))
    running.apply(Decision.scale("job", 7, ""))
    running.advance(400)
    events = running.drain().events
    starts = [detail for kind, detail in zip(events["kind"], events["detail"], strict=True) if kind == "rescale_start"]
    assert starts == ["3 to 5 workers", "5 to 7 workers"]


def test_no_change_is_applied_as_such() -> None:
    running = target(CURVE)
    running.advance(10)
    (applied,) = running.apply(Decision.keep("fine"))
    assert (applied.target, applied.before, applied.wanted, applied.applied) == ("job", 3, 3, 3)


def test_the_fleet_has_bounds() -> None:
    running = target(CURVE, max_workers=8)
    running.advance(1)
    assert running.apply(Decision.scale("job", 500, ""))[0].applied == 8
    assert running.apply(Decision.scale("job", 0, ""))[0].applied == 1


def test_without_a_number_the_first_fleet_carries_the_first_minute() -> None:
    running = target(np.full(100, 300_000.0), workers=None)
    running.advance(100)
    rows = running.drain().metrics
    assert (rows["workers_running"] == rows["demand_workers"]).all()
    assert rows["backlog"].max() < 300_000


def test_a_run_may_be_longer_and_wider_than_the_first_buffers() -> None:
    curve = np.full(70_000, 1000.0)
    running = target(curve, max_workers=100)
    running.advance(40_000)
    running.apply(Decision.scale("job", 90, ""))
    running.advance(30_000)
    rows = running.drain().metrics
    assert rows["time_s"].size == 70_000
    assert rows["workers_ready"][-1] == 90


def test_fractions_of_a_second_add_up() -> None:
    running = target(CURVE)
    for _ in range(10):
        running.advance(1.5)
    assert running.time_s == 15


def test_options_that_are_not_understood_are_named() -> None:
    place = infra.get("simulated")
    assert place.check_options({"max_workers": 4}) == []
    assert [key for key, _ in place.check_options({"max_workers": 0, "speed": 9})] == ["speed", "max_workers"]


def test_host_metrics_do_not_depend_on_when_they_are_asked_for() -> None:
    asked, waiting = target(CURVE), target(CURVE)
    at_once, kept = [], []
    for _ in range(20):
        for running in (asked, waiting):
            running.advance(15)
        at_once.append({name: values.copy() for name, values in asked.observe().host.items()})
        kept.append(waiting.observe().host)
        waiting.drain()
    for now, later in zip(at_once, kept, strict=True):
        assert len(now) >= 30
        for name, values in now.items():
            np.testing.assert_allclose(later[name], values, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("save_first", [False, True])
def test_a_job_that_is_saved_first_processes_nothing_twice(save_first: bool) -> None:
    """Throughput counts replayed events too: without a save it exceeds what arrived."""
    running = target(np.full(900, 60_000.0))
    running.advance(308)
    running.apply(Decision("less", parallelism={"job": 2}, save_first=save_first))
    running.advance(592)
    recording = running.drain()
    arrived, done = recording.metrics["workload"].sum(), recording.metrics["throughput"].sum()
    replayed = done + recording.metrics["backlog"][-1] - arrived
    assert (replayed < 1.0) == save_first
    detail = recording.events["detail"][recording.events["kind"].index("rescale_start")]
    assert detail == ("3 to 2 workers, saved first" if save_first else "3 to 2 workers")


def test_saving_first_holds_for_one_decision() -> None:
    running = target(np.full(900, 60_000.0))
    running.advance(60)
    running.apply(Decision("less", parallelism={"job": 2}, save_first=True))
    running.advance(300)
    running.apply(Decision("more", parallelism={"job": 3}))
    running.advance(60)
    events = running.drain().events
    details = [text for kind, text in zip(events["kind"], events["detail"], strict=True) if kind == "rescale_start"]
    assert details == ["3 to 2 workers, saved first", "2 to 3 workers"]
