"""Laws of the simulated plant, checked against calculations of their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs
from infra.simulated import gauges, layout
from infra.simulated.plant import Plant
from jobs.model import Profile

YAHOO = jobs.get("yahoo").profiles["flink-reactive"]
IMAGES = jobs.get("images").profiles["openstack-vm"]


def changed(profile: Profile, **values: float) -> Profile:
    return profile.changed("set by the test", values)


QUIET = changed(YAHOO, capacity_noise=0.0, cpu_noise=0.0, throughput_noise=0.0, key_count=0, latency_idle_s=0.0)


def drive(plant: Plant, rescales: dict[int, int], seconds: int) -> list[tuple[float, int]]:
    """Advance second by second, start rescales when the plant is free for them; returns what happened."""
    happened = []
    waiting: list[int] = []
    for second in range(seconds):
        if second in rescales:
            waiting.append(rescales[second])
        if waiting and plant.steady:
            wanted = waiting.pop(0)
            if wanted != plant.workers:
                plant.rescale(wanted)
        _, events = plant.advance(1, stop_at_end=False)
        happened += [(event.time_s, event.code) for event in events]
    return happened


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    job=st.sampled_from(["wordcount", "yahoo", "traffic", "images", "pubsub"]),
    load=st.floats(0.0, 3.0),
    rescales=st.dictionaries(st.integers(0, 299), st.integers(1, 40), max_size=6),
)
def test_events_are_conserved(seed: int, job: str, load: float, rescales: dict[int, int]) -> None:
    profile = next(iter(jobs.get(job).profiles.values()))
    curve = np.abs(np.random.default_rng(seed).normal(load * profile["worker_capacity"] * 4, 1.0, 300))
    plant = Plant(profile, curve, 4, 64, seed)
    drive(plant, rescales, 300)
    rows = plant.rows[: plant.filled]
    backlog = rows[-1, layout.BACKLOG]
    assert plant.processed - plant.replayed + backlog == pytest.approx(curve.sum(), rel=1e-9, abs=1e-6)
    assert rows[:, layout.THROUGHPUT].sum() == pytest.approx(plant.processed, rel=1e-9)
    assert (rows[:, layout.BACKLOG] >= 0).all()
    assert (rows[:, layout.THROUGHPUT] >= 0).all()
    assert (rows[:, layout.THROUGHPUT] <= rows[:, layout.CAPACITY] * (1 + 1e-9)).all()
    cpu = plant.instances[: plant.filled, :, gauges.I_CPU]
    assert np.nanmin(cpu) >= 0
    assert np.nanmax(cpu) <= 1


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), pieces=st.lists(st.integers(1, 90), min_size=1, max_size=20))
def test_the_same_seed_gives_the_same_run_bit_by_bit_however_it_is_cut(seed: int, pieces: list[int]) -> None:
    total = sum(pieces)
    curve = np.full(total, 150_000.0)
    whole, cut = (Plant(YAHOO, curve, 3, 20, seed) for _ in range(2))
    for plant in (whole, cut):
        plant.rescale(5)
    whole.advance(total, stop_at_end=False)
    for piece in pieces:
        cut.advance(piece, stop_at_end=False)
    np.testing.assert_array_equal(whole.rows[:total], cut.rows[:total])
    np.testing.assert_array_equal(whole.instances[:total], cut.instances[:total])


def test_seeds_differ() -> None:
    curve = np.full(60, 1000.0)
    first, second = (Plant(YAHOO, curve, 3, 20, seed) for seed in (1, 2))
    for plant in (first, second):
        plant.advance(60, stop_at_end=False)
    assert not np.array_equal(first.rows[:60], second.rows[:60])


def test_more_workers_never_lower_the_capacity_where_keys_are_even() -> None:
    plant = Plant(QUIET, np.ones(10), 1, 100, 0)
    capacities = [plant.fleet.capacity(workers) for workers in range(1, 101)]
    assert capacities == sorted(capacities)
    assert capacities[11] == pytest.approx(61_757 * 12 ** QUIET["scaling_exponent"])


def test_a_hot_key_limits_the_job() -> None:
    """All but nothing falls on one key: its worker is the job's capacity, whatever the others could do."""
    profile = changed(QUIET, key_count=1000, key_skew=30.0, scaling_exponent=1.0)
    fleet = Plant(profile, np.ones(10), 1, 50, 3).fleet
    assert fleet.capacity(50) == pytest.approx(61_757, rel=1e-6)
    assert fleet.shares(50).sum() == pytest.approx(1.0)


def test_yahoo_shares_vary_as_measured() -> None:
    """Daedalus measured a variation of 0.134 between the shares of 12 workers."""
    spreads = []
    for seed in range(200):
        shares = Plant(YAHOO, np.ones(10), 1, 12, seed).fleet.shares(12)
        spreads.append(shares.std(ddof=1) / shares.mean())
    assert np.mean(spreads) == pytest.approx(0.134, abs=0.02)


def test_demand_is_the_smallest_fleet_that_carries_the_load() -> None:
    plant = Plant(QUIET, np.array([0.0, 61_000, 62_000, 500_000, 1e9]), 1, 30, 0)
    brute = [
        next((n for n in range(1, 31) if plant.fleet.capacity(n) >= load), 30)
        for load in (0.0, 61_000, 62_000, 500_000, 1e9)
    ]
    assert plant.demand.tolist() == brute


def test_an_outage_shows_as_waiting_and_is_worked_off() -> None:
    """Half the capacity is needed, the outage lasts 20 s: events wait for the outage and for what is replayed."""
    profile = changed(QUIET, outage_out_s=20.0, boot_s=0.0, warmup_loss=0.0, scaling_exponent=1.0)
    load = 61_757.0
    plant = Plant(profile, np.full(300, load), 1, 10, 0)
    plant.advance(100, stop_at_end=False)
    lost = 100 - float(plant._state[0]["checkpoint_s"]) - 1  # the position was saved at the end of that second
    plant.rescale(2)
    _, happened = plant.advance(200, stop_at_end=False)
    rows = plant.rows[:300]
    codes = [event.code for event in happened]
    assert codes == [layout.OUTAGE_START, layout.OUTAGE_END, layout.RESCALE_END, layout.RECOVERED]
    assert np.isnan(rows[100:120, layout.MEAN]).all()
    assert rows[100:120, layout.THROUGHPUT].sum() == 0
    waited = rows[120, layout.P50] - profile["latency_base_s"]
    assert waited == pytest.approx(20 + lost, abs=1.0)
    # two workers do twice the load, so the backlog of (20 + lost) seconds is gone after as many seconds
    assert happened[-1].time_s == pytest.approx(120 + 20 + lost, abs=1.5)
    assert plant.replayed == pytest.approx(lost * load)


def test_a_restart_is_late_for_a_while_even_if_nothing_waits() -> None:
    """A restart that takes no time and replays nothing: late by the plateau, then less each second, then not at all."""
    profile = changed(QUIET, outage_out_s=0.1, boot_s=0.0, warmup_loss=0.0, checkpoint_first=1.0)
    plant = Plant(profile, np.full(60, 50_000.0), 4, 10, 0)
    plant.advance(20)
    plant.rescale(6)
    plant.advance(40)
    late = plant.rows[:60, layout.P50] - profile["latency_base_s"]
    flat, end = 20 + int(profile["settle_flat_s"]), 20 + int(profile["settle_s"]) + 1
    np.testing.assert_allclose(late[21:flat], profile["settle_latency_s"], atol=1e-3)
    assert (np.diff(late[flat + 1 : end]) < 0).all()
    np.testing.assert_allclose(late[end:], 0.0, atol=1e-3)


def test_engines_without_outage_lose_nothing() -> None:
    plant = Plant(changed(IMAGES, capacity_noise=0.0), np.full(200, 20.0), 2, 20, 0)
    happened = drive(plant, {50: 6, 120: 2}, 200)
    assert plant.replayed == 0
    assert layout.OUTAGE_START not in [code for _, code in happened]
    assert not np.isnan(plant.rows[:200, layout.MEAN]).any()


def test_new_workers_cost_from_their_creation_and_serve_after_their_boot() -> None:
    profile = changed(QUIET, boot_s=14.0, outage_out_s=0.0)
    plant = Plant(profile, np.full(60, 1000.0), 2, 20, 0)
    plant.advance(10, stop_at_end=False)
    plant.rescale(5)
    plant.advance(50, stop_at_end=False)
    assert plant.rows[:60, layout.RUNNING].tolist() == [2] * 10 + [5] * 50
    assert plant.rows[:60, layout.READY].tolist() == [2] * 24 + [5] * 36


def test_cpu_follows_load_as_measured() -> None:
    """Daedalus: one worker's CPU is 0.081 + 1.461e-5 per event/s."""
    loads = np.repeat([0.0, 10_000, 30_000, 50_000], 30)
    plant = Plant(QUIET, loads, 1, 1, 0)
    plant.advance(120, stop_at_end=False)
    measured = plant.rows[29:120:30, layout.CPU]
    np.testing.assert_allclose(measured, 0.081 + 1.461e-5 * loads[29:120:30], atol=0.01)


@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.9])
def test_queueing_below_saturation_is_that_of_an_md1_queue(utilisation: float) -> None:
    """Against a discrete-event simulation of one server with Poisson arrivals and a fixed service time."""
    service = 1 / IMAGES["worker_capacity"]
    rng = np.random.default_rng(5)
    gaps = rng.exponential(service / utilisation, 400_000)
    wait, waits = 0.0, np.empty(gaps.size)
    for i, gap in enumerate(gaps):
        waits[i] = wait
        wait = max(0.0, wait + service - gap)
    profile = changed(IMAGES, capacity_noise=0.0, latency_spread=0.0)
    plant = Plant(profile, np.full(50, utilisation / service), 1, 1, 0)
    plant.advance(50, stop_at_end=False)
    queueing = plant.rows[49, layout.MEAN] - profile["latency_base_s"]
    assert queueing == pytest.approx(waits[50_000:].mean(), rel=0.06)


def rescaled(profile: Profile, curve: np.ndarray, wanted: int, seed: int, step_s: float) -> Plant:
    """Four workers at first, others after 200 s."""
    plant = Plant(profile, curve, 4, 20, seed, step_s=step_s)
    plant.advance(200)
    if wanted != 4:
        plant.rescale(wanted)
    plant.advance(curve.size - 200)
    return plant


def waves(load: float) -> np.ndarray:
    """Ten minutes around this part of what four workers can do."""
    return load * QUIET["worker_capacity"] * 4 * (1 + 0.3 * np.sin(np.arange(600) / 60))


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), load=st.floats(0.2, 1.3), wanted=st.integers(1, 12))
def test_halving_the_time_step_changes_little(seed: int, load: float, wanted: int) -> None:
    """Phases of a change begin with a step: throughput, latency and backlog move by what that step can hold."""
    curve = waves(load)
    saves_first = changed(QUIET, checkpoint_first=1.0)
    coarse, fine = (rescaled(saves_first, curve, wanted, seed, step_s) for step_s in (1.0, 0.5))
    latencies = [np.nanmean(plant.rows[: plant.filled, layout.MEAN]) for plant in (coarse, fine)]
    assert coarse.processed == pytest.approx(fine.processed, abs=2 * curve.max())
    assert coarse.backlog == pytest.approx(fine.backlog, abs=2 * curve.max())
    assert latencies[0] == pytest.approx(latencies[1], rel=0.05, abs=1.0)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), load=st.floats(0.2, 1.3), wanted=st.integers(1, 12))
def test_halving_the_time_step_moves_a_replay_by_one_checkpoint_at_most(seed: int, load: float, wanted: int) -> None:
    """A checkpoint falls on the end of a step: just before the job stops with one step, just after with another."""
    curve = waves(load)
    coarse, fine = (rescaled(QUIET, curve, wanted, seed, step_s) for step_s in (1.0, 0.5))
    interval = QUIET["checkpoint_interval_s"] + 1.0
    assert coarse.replayed == pytest.approx(fine.replayed, abs=interval * curve.max())
    new = [plant.processed - plant.replayed for plant in (coarse, fine)]
    assert new[0] == pytest.approx(new[1], abs=(interval + 1.0) * curve.max())


@settings(max_examples=20)
@given(load=st.floats(0.0, 0.95), workers=st.integers(1, 30))
def test_utilisation_law(load: float, workers: int) -> None:
    """A worker's utilisation is its throughput times the time an event takes it."""
    probe = Plant(QUIET, np.ones(1), workers, 40, 0)
    curve = np.full(30, load * probe.fleet.capacity(workers))
    plant = Plant(QUIET, curve, workers, 40, 0)
    plant.advance(30)
    service_s = 1 / plant.fleet.worker_capacity(workers)
    throughput = plant.instances[29, :workers, gauges.I_THROUGHPUT]
    np.testing.assert_allclose(plant.loads, throughput * service_s, atol=1e-9)
    busy = (plant.instances[29, :workers, gauges.I_CPU] - QUIET["cpu_idle"]) / (QUIET["cpu_full"] - QUIET["cpu_idle"])
    np.testing.assert_allclose(busy, plant.loads, atol=1e-9)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(
        [
            (job, engine)
            for job in jobs.names()
            for engine, p in jobs.get(job).profiles.items()
            if p.engine.scales == "job"
        ]
    ),
    load=st.floats(0.1, 2.0),
    acts=st.dictionaries(
        st.integers(0, 299), st.sampled_from(["crash", "two crash", "stall", "go on", "out", "in"]), max_size=8
    ),
)
def test_events_are_conserved_whatever_goes_wrong(
    seed: int, kind: tuple[str, str], load: float, acts: dict[int, str]
) -> None:
    profile = jobs.get(kind[0]).profiles[kind[1]]
    curve = np.full(300, load * profile["worker_capacity"] * 4)
    plant = Plant(profile, curve, 4, 12, seed)
    for second in range(300):
        match acts.get(second):
            case "crash":
                plant.crash(1)
            case "two crash":
                plant.crash(2)
            case "stall" | "go on" as act:
                plant.stall(act == "stall")
            case "out" | "in" as act if plant.steady:
                plant.rescale(min(12, plant.workers + 2) if act == "out" else max(1, plant.workers - 1))
            case _:
                pass
        plant.advance(1)
        assert plant.backlog >= -1e-6
    rows = plant.rows[:300]
    assert plant.processed - plant.replayed + plant.backlog == pytest.approx(curve.sum(), rel=1e-9)
    assert rows[-1, layout.BACKLOG] == pytest.approx(plant.backlog, rel=1e-9, abs=1e-3)
    assert (rows[:, layout.BACKLOG] >= -1e-6).all()
    assert not (rows[:, layout.P50] <= 0).any()
    assert (rows[:, layout.READY] <= rows[:, layout.RUNNING]).all()
