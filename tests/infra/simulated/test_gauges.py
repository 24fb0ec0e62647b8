"""What the monitoring shows, and how it differs from the truth."""

import numpy as np
import pytest

import jobs
from autoscalers.model import Decision
from infra.faults import Fault, schedule
from infra.model import Assignment
from infra.simulated import gauges, layout
from infra.simulated.plant import Plant
from infra.simulated.target import SimulatedTarget

TRAFFIC = jobs.get("traffic").profiles["flink-reactive"]
STILL = {"capacity_noise": 0.0, "cpu_noise": 0.0, "throughput_noise": 0.0}
RISING = np.linspace(10_000, 60_000, 600)


def seen(curve: np.ndarray = RISING, **values: float) -> np.ndarray:
    plant = Plant(TRAFFIC.changed("set by the test", {**STILL, **values}), curve, 4, 10, 1)
    plant.advance(curve.size)
    return plant.rows[: curve.size]


def test_without_noise_and_lag_what_is_seen_is_the_truth() -> None:
    rows = seen()
    for shown, true in (
        (layout.SEEN_WORKLOAD, layout.WORKLOAD),
        (layout.SEEN_THROUGHPUT, layout.THROUGHPUT),
        (layout.SEEN_BACKLOG, layout.BACKLOG),
        (layout.SEEN_LATENCY, layout.MEAN),
        (layout.SEEN_CPU, layout.CPU),
    ):
        np.testing.assert_allclose(rows[:, shown], rows[:, true])


def test_a_moving_average_is_the_mean_of_the_last_seconds() -> None:
    rows = seen(smoothing_s=60.0)
    for shown, true in ((layout.SEEN_CPU, layout.CPU), (layout.SEEN_WORKLOAD, layout.WORKLOAD)):
        expected = np.convolve(rows[:, true], np.ones(60) / 60, "valid")
        np.testing.assert_allclose(rows[59:, shown], expected, rtol=1e-9)


def test_between_two_scrapes_the_last_value_stands() -> None:
    rows = seen(sample_period_s=15.0)
    workload = rows[30:, layout.SEEN_WORKLOAD]
    changes = np.flatnonzero(np.diff(workload)) + 1
    assert set(np.diff(changes)) == {15}
    # the four workers and the job are scraped at moments of their own
    assert len(set(np.flatnonzero(np.diff(rows[30:, layout.SEEN_CPU])) % 15)) > 1


def test_measurement_noise_is_white_and_has_the_size_the_profile_says() -> None:
    flat = np.full(20_000, 30_000.0)
    rows = seen(flat, cpu_noise=0.02)
    error = rows[:, layout.SEEN_CPU] - rows[:, layout.CPU]
    assert error.std() == pytest.approx(0.02 / 2, rel=0.05)  # a mean of four
    assert abs(np.corrcoef(error[:-1], error[1:])[0, 1]) < 0.03


def test_system_noise_is_slow_and_real() -> None:
    flat = np.full(200_000, 30_000.0)
    rows = seen(flat, capacity_noise=0.05, capacity_noise_time_s=100.0)
    drift = np.log(rows[:, layout.CAPACITY])
    assert drift.std() == pytest.approx(0.05, rel=0.1)
    shifted = np.corrcoef(drift[:-100], drift[100:])[0, 1]
    assert shifted == pytest.approx(np.exp(-1), abs=0.08)


def target(faults: tuple[Fault, ...] = (), **constants: float) -> SimulatedTarget:
    incidents = schedule(faults, RISING.size, 3)
    options = {"constants": {**STILL, **constants}}
    return SimulatedTarget(Assignment("run", jobs.get("traffic"), "flink-reactive", RISING, 3, 4, options, incidents))


def test_a_late_scrape_shows_the_past() -> None:
    running = target(scrape_delay_s=20.0)
    running.advance(30)
    np.testing.assert_allclose(running.observe().workload, RISING[:10])
    running.advance(30)
    np.testing.assert_allclose(running.observe().workload, RISING[10:40])
    running.drain()
    running.advance(15)
    np.testing.assert_allclose(running.observe().workload, RISING[40:55])


def test_missing_metrics_are_nan_and_stale_ones_repeat_while_the_truth_goes_on() -> None:
    missing = Fault("metrics-missing", at_s=(100.0,), lasts_s=20.0)
    stale = Fault("metrics-stale", at_s=(200.0,), lasts_s=20.0)
    running = target((missing, stale))
    running.advance(300)
    observed = running.observe()
    view = observed.operators["job"]
    assert np.isnan(observed.workload[100:120]).all()
    assert np.isnan(view.cpu[100:120]).all()
    assert np.isfinite(observed.workload[120:]).all()
    assert len(set(observed.workload[199:220])) == 1
    assert observed.workload[220] == pytest.approx(RISING[220])
    truth = running.drain().metrics
    np.testing.assert_allclose(truth["workload"], RISING[:300])
    assert np.isnan(truth["seen_cpu"][100:120]).all()


def test_a_job_that_is_down_reports_no_rate_but_its_containers_report_cpu() -> None:
    running = target()
    running.advance(100)
    running.observe()
    running.apply(Decision.scale("job", 6, "more"))
    running.advance(60)
    view = running.observe().operators["job"]
    down = np.isnan(view.response_time)
    assert down.any()
    assert np.isnan(view.throughput[down][:, :4]).all()
    assert np.isfinite(view.cpu[down][:, :4]).all()


def test_requests_get_lost_or_come_late() -> None:
    lost = target((Fault("request-lost", at_s=(0.0,), lasts_s=600.0, amount=1.0),))
    lost.advance(10)
    assert lost.apply(Decision.scale("job", 6, "more"))[0].applied == 4
    lost.advance(100)
    assert lost.observe().operators["job"].parallelism == 4
    late = target((Fault("request-late", at_s=(0.0,), lasts_s=600.0, amount=30.0),))
    late.advance(10)
    late.apply(Decision.scale("job", 6, "more"))
    late.advance(100)
    events = late.drain().events
    assert events["time_s"][events["kind"].index("rescale_start")] == 40


def test_a_crash_is_told_and_the_fleet_comes_back_to_what_was_wanted() -> None:
    running = target((Fault("crash", at_s=(100.0,), workers=2),))
    running.advance(110)
    assert running.observe().operators["job"].ready.size == 2
    running.advance(400)
    recording = running.drain()
    kinds = recording.events["kind"]
    assert kinds[:2] == ["failure", "outage_start"] or kinds[0] == "failure"
    assert "restored" in kinds
    assert "rescale_start" in kinds
    assert recording.metrics["workers_ready"][-1] == 4
    assert recording.events["time_s"] == sorted(recording.events["time_s"])


def test_slowed_workers_are_told_and_healed() -> None:
    running = target((Fault("slow-worker", at_s=(100.0,), lasts_s=50.0, workers=1, amount=0.25),))
    running.advance(300)
    capacity = running.drain().metrics["capacity"]
    assert capacity[120] / capacity[90] == pytest.approx(0.25)
    assert capacity[160] == pytest.approx(capacity[90])


def test_held_values_of_new_workers_are_not_those_of_old_ones() -> None:
    plant = Plant(TRAFFIC.changed("set by the test", {**STILL, "sample_period_s": 30.0}), RISING, 4, 10, 1)
    plant.advance(100)
    plant.rescale(2)
    plant.advance(100)
    plant.rescale(4)
    _, happened = plant.advance(100)
    served = int(next(event.time_s for event in happened if event.code == layout.OUTAGE_END)) + 1
    fresh = plant.instances[served, 2:4, gauges.I_CPU]
    assert np.isnan(fresh).any() or (plant.instances[served : served + 30, 2:4, gauges.I_CPU] > 0).any()
