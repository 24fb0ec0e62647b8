"""How each engine changes its size, and what a failure does to it."""

import numpy as np
import pytest

import jobs
from infra.simulated import layout
from infra.simulated.fleet import handed_over
from infra.simulated.plant import Plant
from jobs.model import Profile

STILL = {"capacity_noise": 0.0, "cpu_noise": 0.0, "throughput_noise": 0.0}


def profile(job: str, engine: str, **values: float) -> Profile:
    return jobs.get(job).profiles[engine].changed("set by the test", {**STILL, **values})


def plant(kind: Profile, load: float, workers: int, seconds: int = 900) -> Plant:
    """At this share of the capacity of so many workers."""
    probe = Plant(kind, np.ones(1), workers, 64, 1)
    return Plant(kind, np.full(seconds, load * probe.fleet.capacity(workers)), workers, 64, 1)


def codes(happened: list) -> list[int]:
    return [event.code for event in happened]


def test_a_savepoint_before_the_restart_leaves_nothing_to_replay() -> None:
    for engine, replays in (("flink-operator", False), ("flink-reactive", True)):
        running = plant(profile("yahoo", engine, checkpoint_interval_s=17.0), 0.5, 4)
        running.advance(100)
        running.rescale(6)
        running.advance(400)
        assert (running.replayed > 0) == replays


def test_only_new_processes_are_cold_in_reactive_mode_and_all_are_under_the_operator() -> None:
    for engine, cold_after_scale_in in (("flink-reactive", False), ("flink-operator", True)):
        running = plant(profile("yahoo", engine, key_count=0.0), 0.1, 6)
        running.advance(50)
        running.rescale(4)
        _, happened = running.advance(120)
        served = int(next(event.time_s for event in happened if event.code == layout.OUTAGE_END)) + 2
        full = running.fleet.capacity(4)
        assert (running.rows[served, layout.CAPACITY] < 0.95 * full) == cold_after_scale_in


def test_moving_state_takes_longer_with_a_backlog_and_slows_the_old_workers() -> None:
    kind = profile("pubsub", "e-silbops", warmup_loss=0.0)
    quiet, busy = plant(kind, 0.5, 2), plant(kind, 1.5, 2)
    took = {}
    for name, running in (("quiet", quiet), ("busy", busy)):
        running.advance(20)
        behind = running.backlog / running.fleet.capacity(2)
        running.rescale(4)
        _, happened = running.advance(200)
        end = next(event.time_s for event in happened if event.code == layout.RESCALE_END)
        took[name] = end - 20
        assert took[name] == pytest.approx(np.ceil(2.0 + behind), abs=1e-6)
        assert layout.OUTAGE_START not in codes(happened)
        assert running.rows[20, layout.CAPACITY] == pytest.approx(0.8 * running.fleet.capacity(2))
    assert took["busy"] > took["quiet"]


def test_a_rebalance_stops_only_the_partitions_that_change_hands() -> None:
    running = plant(profile("wordcount", "kafka-streams", boot_s=10.0, rebalance_s=4.0, key_skew=0.0), 0.5, 4)
    running.advance(100)
    running.rescale(6)
    running.advance(100)
    throughput = running.rows[:200, layout.THROUGHPUT] / running.rows[0, layout.WORKLOAD]
    # 24 partitions, 6 each for 4 workers; the two new ones take 8 of them
    moved = running._lanes["weight"][running._lanes["owner"] >= 4].sum()
    np.testing.assert_allclose(throughput[:110], 1.0, rtol=1e-9)
    np.testing.assert_allclose(throughput[110:114], 1 - moved, rtol=1e-6)
    assert throughput[114] > 1
    assert moved == pytest.approx(8 / 24, abs=0.1)
    assert running.rows[112, layout.P50] < 2
    assert running.rows[114, layout.P99] > 3


def test_an_instance_that_leaves_is_missed_after_its_session_only() -> None:
    running = plant(profile("wordcount", "kafka-streams", leave_s=45.0, rebalance_s=3.0), 0.4, 6)
    running.advance(100)
    running.rescale(5)
    _, happened = running.advance(200)
    assert happened[0].code == layout.RESCALE_END
    assert happened[0].time_s == pytest.approx(148)
    assert running.rows[147, layout.BACKLOG] > 40 * 0.1 * running.rows[0, layout.WORKLOAD]


def test_partitions_change_hands_as_few_as_can_be() -> None:
    owners = np.arange(24) * 4 // 24
    for workers in (1, 2, 3, 5, 6, 7, 24):
        after = handed_over(owners, workers)
        counts = np.bincount(after, minlength=workers)
        assert counts.max() - counts.min() <= 1
        kept = sum(min(count, -(-24 // workers)) for count in np.bincount(owners[owners < workers], minlength=workers))
        assert (after == owners).sum() >= kept - workers
    np.testing.assert_array_equal(handed_over(owners, 4), owners)


def test_micro_batches_make_events_wait_for_their_batch() -> None:
    """A batch every 2 s that takes 0.5 s and its work: at 40 % load 1 s + 0.5 s + 0.8 s on average."""
    kind = profile("yahoo", "spark", batch_interval_s=2.0, batch_overhead_s=0.5, key_count=0.0, latency_spread=0.0)
    running = plant(kind, 0.4, 4)
    running.advance(200)
    rows = running.rows[20:200]
    out = ~np.isnan(rows[:, layout.MEAN])
    assert out.mean() == pytest.approx(0.5, abs=0.02)
    waited = rows[out, layout.MEAN] - kind["latency_base_s"]
    assert waited.mean() == pytest.approx(1.0 + 0.5 + 0.8, rel=0.01)


def test_batches_that_take_too_long_grow_until_their_overhead_is_small() -> None:
    """At 80 % load and half a second of overhead, batches of T s with T = 0.5 + 0.8 T: 2.5 s."""
    kind = profile("yahoo", "spark", batch_interval_s=1.0, batch_overhead_s=0.5, key_count=0.0, latency_spread=0.0)
    running = plant(kind, 0.8, 4)
    running.advance(600)
    late = running.rows[300:600]
    waited = late[~np.isnan(late[:, layout.MEAN]), layout.MEAN] - kind["latency_base_s"]
    assert waited.mean() == pytest.approx(1.5 * 2.5, rel=0.02)
    assert late[:, layout.BACKLOG].max() < 4 * running.rows[0, layout.WORKLOAD]


def test_a_cold_executor_makes_a_batch_late_without_an_outage() -> None:
    running = plant(profile("yahoo", "spark", boot_s=10.0), 0.5, 4)
    running.advance(100)
    running.rescale(6)
    _, happened = running.advance(200)
    assert layout.OUTAGE_START not in codes(happened)
    before, after = running.rows[60:100, layout.MEAN], running.rows[110:150, layout.MEAN]
    assert np.nanmax(after) > np.nanmax(before) + 5


@pytest.mark.parametrize(
    ("job", "engine", "outage", "left"),
    [
        ("yahoo", "flink-reactive", True, 3),
        ("yahoo", "flink-operator", True, 4),
        ("wordcount", "kafka-streams", False, 3),
        ("yahoo", "spark", False, 3),
        ("images", "openstack-vm", False, 3),
        ("pubsub", "e-silbops", False, 3),
    ],
)
def test_a_failure_is_noticed_late_and_recovered_from(job: str, engine: str, outage: bool, left: int) -> None:
    running = plant(profile(job, engine), 0.4, 4)
    running.advance(100)
    running.crash(1)
    _, happened = running.advance(600)
    assert (layout.OUTAGE_START in codes(happened)) == outage
    assert layout.RECOVERED in codes(happened)
    assert running.workers == left
    assert running.steady
    offered = running.rows[:700, layout.WORKLOAD].sum()
    assert running.processed - running.replayed + running.backlog == pytest.approx(offered)


@pytest.mark.parametrize(("job", "engine"), [("images", "openstack-vm"), ("wordcount", "kafka-streams")])
def test_when_the_last_worker_dies_nothing_goes_on_before_there_is_another(job: str, engine: str) -> None:
    running = plant(profile(job, engine), 0.3, 1)
    running.advance(50)
    running.crash(1)
    _, happened = running.advance(300)
    down = [event.time_s for event in happened if event.code in {layout.OUTAGE_START, layout.OUTAGE_END}]
    assert down[1] - down[0] >= 14
    assert running.rows[51, layout.THROUGHPUT] == 0
    assert running.rows[300, layout.THROUGHPUT] > 0


def test_a_slow_worker_holds_back_who_depends_on_it() -> None:
    """Half the speed of one of four costs a job with back-pressure half, a pool an eighth."""
    for job, engine, left in (("traffic", "flink-reactive", 1 / 2), ("images", "openstack-vm", 7 / 8)):
        running = plant(profile(job, engine), 0.3, 4)
        running.advance(10)
        running.slow(1, 0.5)
        running.advance(10)
        running.slow(1, 1.0)
        running.advance(10)
        capacity = running.rows[:30, layout.CAPACITY]
        assert capacity[15] / capacity[5] == pytest.approx(left)
        assert capacity[25] == pytest.approx(capacity[5])


def test_a_stalled_source_piles_events_up_and_they_are_worked_off() -> None:
    running = plant(profile("traffic", "flink-reactive"), 0.5, 4)
    running.advance(100)
    running.stall(True)
    running.advance(30)
    running.stall(False)
    running.advance(100)
    rows = running.rows[:230]
    assert rows[100:130, layout.THROUGHPUT].sum() == 0
    assert rows[129, layout.BACKLOG] == pytest.approx(30 * rows[0, layout.WORKLOAD])
    # half the capacity is spare, so that it takes as long as it lasted
    assert rows[158, layout.BACKLOG] > 0
    assert rows[161, layout.BACKLOG] == pytest.approx(0, abs=1e-6)
    assert running.replayed == 0


def test_a_slow_network_adds_to_every_event() -> None:
    running = plant(profile("traffic", "flink-reactive"), 0.5, 4)
    running.advance(10)
    running.delay(0.2)
    running.advance(10)
    means = running.rows[:20, layout.MEAN]
    assert means[15] - means[5] == pytest.approx(0.2)


def test_workers_may_differ_from_the_start() -> None:
    even, uneven = (plant(profile("images", "openstack-vm", speed_spread=s), 0.3, 8) for s in (0.0, 0.3))
    for running in (even, uneven):
        running.advance(5)
    assert np.ptp(even.instances[4, :8, 2]) == pytest.approx(0)
    assert np.ptp(uneven.instances[4, :8, 2]) > 0.2
