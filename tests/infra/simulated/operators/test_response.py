"""Response times against formulas and against discrete-event simulations written here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.simulated.operators import record
from infra.simulated.operators.response import fluid
from jobs.model import Operator

ONE = [Operator("only", 0.0)]


def served(arrivals: Any, service_s: float) -> Any:
    """When each event leaves a server that takes one after the other, always for the same time."""
    leaves = np.empty_like(arrivals)
    free = -math.inf
    for index, comes in enumerate(arrivals):
        free = max(free, comes) + service_s
        leaves[index] = free
    return leaves


def latency(plant: Any, operator: int = -1) -> Any:
    rows, _ = plant.last(1)
    return rows[0, operator, [record.MEAN, record.P50, record.P95, record.P99]]


@pytest.mark.parametrize("utilisation", [0.1, 0.3, 0.6, 0.75, 0.9])
def test_below_saturation_an_operator_is_an_md1_queue(make_plant: Any, utilisation: float) -> None:
    """Mean as Pollaczek and Khinchine have it, and as simulated event by event; so are the upper percentiles."""
    plant = make_plant(np.full(10, 300.0 * utilisation), ONE, first=3)
    plant.advance(10)
    mean, p50, p95, p99 = latency(plant)
    assert mean == pytest.approx(0.01 + utilisation * 0.01 / (2 * (1 - utilisation)), rel=1e-9)
    rng = np.random.default_rng(3)
    arrivals = np.cumsum(rng.exponential(0.01 / utilisation, 400_000))
    times = (served(arrivals, 0.01) - arrivals)[20_000:]
    assert mean == pytest.approx(times.mean(), rel=0.03)
    # a gamma distribution stands for the true one: within a tenth, or within half a service time
    for found, share in ((p50, 0.5), (p95, 0.95), (p99, 0.99)):
        assert found == pytest.approx(np.quantile(times, share), rel=0.1, abs=0.005)


def test_percentiles_of_a_chain_are_those_of_a_sum_and_not_sums(make_plant: Any) -> None:
    """Three queues one after the other that know nothing of each other, at three utilisations."""
    chain = [Operator("a", 0.9), Operator("b", 0.8), Operator("c", 0.0)]
    plant = make_plant(np.full(10, 90.0), chain, first=1)
    plant.advance(10)
    rng = np.random.default_rng(5)
    total = 0.0
    for load in (0.9, 0.81, 0.648):
        arrivals = np.cumsum(rng.exponential(0.01 / load, 300_000))
        times = (served(arrivals, 0.01) - arrivals)[20_000:]
        total = total + rng.permutation(times)
    found = latency(plant)
    expected = [total.mean(), *np.quantile(total, [0.5, 0.95, 0.99])]
    np.testing.assert_allclose(found, expected, rtol=0.06)
    of_operators = sum(latency(plant, operator)[2] for operator in range(3))
    assert found[2] < 0.9 * of_operators


@settings(max_examples=200)
@given(
    backlog=st.floats(0.0, 500.0),
    hold_s=st.sampled_from([0.0, 5.0, 30.0, 59.0]),
    load=st.floats(0.0, 2.0),
    step_s=st.sampled_from([10.0, 60.0]),
)
def test_the_fluid_queue_waits_as_long_as_a_drop_of_it_does(
    backlog: float, hold_s: float, load: float, step_s: float
) -> None:
    """Against drops so small that they are a fluid: each waits for all before it, and for the server to begin."""
    drain, drops = 10.0, 4000
    moments = (np.arange(drops) + 0.5) / drops * step_s
    size = load * drain * step_s / drops
    free_s, waits = hold_s + backlog / drain, np.empty(drops)
    for index, moment in enumerate(moments):
        waits[index] = max(0.0, free_s - moment)
        free_s = max(free_s, moment) + size / drain
    mean, second, end = fluid(backlog, hold_s, load * drain * step_s, drain, step_s)
    assert mean == pytest.approx(waits.mean(), rel=0.01, abs=0.02)
    assert second == pytest.approx((waits**2).mean(), rel=0.01, abs=0.05)
    assert end == pytest.approx(max(0.0, free_s - step_s), rel=0.01, abs=0.03)


def test_in_overload_events_wait_for_all_before_them(make_plant: Any) -> None:
    plant = make_plant(np.full(100, 150.0), ONE, first=1)
    plant.advance(100)
    mean, p50, p95, p99 = latency(plant)
    waiting = (50 * 99 + 50 * 100) / 2 / 100
    steady = 0.01 + 0.99 * 0.01 / (2 * 0.01)
    assert mean == pytest.approx(waiting + steady, rel=1e-6)
    assert p50 == pytest.approx(mean, rel=0.02)
    assert mean < p95 < p99 < 1.1 * mean


def test_what_waits_outside_counts_too(make_plant: Any) -> None:
    """With hardly any room inside, the same overload is waited for at the source."""
    wide, narrow = (make_plant(np.full(100, 150.0), ONE, first=1, buffer_events=room) for room in (math.inf, 1.0))
    for plant in (wide, narrow):
        plant.advance(100)
    assert narrow._machinery.operators["outside"][0] == pytest.approx(4999.0)
    assert latency(narrow)[0] == pytest.approx(latency(wide)[0], rel=0.01)


@settings(max_examples=40)
@given(load=st.floats(0.0, 400.0), seed=st.integers(0, 99), buffer=st.sampled_from([10.0, math.inf]))
def test_percentiles_are_in_order_and_not_below_the_service(
    make_plant: Any, load: float, seed: int, buffer: float
) -> None:
    plant = make_plant(np.full(30, load), first=4, seed=seed, buffer_events=buffer, key_count=30, speed_spread=0.2)
    plant.advance(30)
    rows, _ = plant.last(30)
    times = rows[:, :, [record.P50, record.P95, record.P99]]
    assert (np.diff(times, axis=2) >= 0).all()
    assert (rows[:, -1, record.MEAN] >= rows[:, :-1, record.MEAN].max(axis=1)).all()
    assert (times[:, :-1] > 0.002).all()


def test_an_idle_job_takes_the_service_times_alone_and_a_stopped_one_none(make_plant: Any) -> None:
    plant = make_plant(np.concatenate([np.zeros(5), np.full(5, 10.0)]), first=1)
    plant.advance(5)
    assert latency(plant) == pytest.approx([0.03] * 4)
    plant.stall_source(True)
    plant.advance(5)
    assert np.isnan(latency(plant)).all()


def test_the_longest_path_counts(make_plant: Any) -> None:
    """Two ways from a to d; the one over c takes longer, until b is the slower one."""
    diamond = [
        Operator("a", 1.0),
        Operator("b", 1.0, inputs=("a",)),
        Operator("c", 1.0, inputs=("a",)),
        Operator("d", 0.0, inputs=("b", "c")),
    ]
    plant = make_plant(np.zeros(20), diamond, first=1, worker_capacity__c=20.0)
    plant.advance(1)
    assert latency(plant)[0] == pytest.approx(0.01 + 0.05 + 0.01)
    plant.slow("b", 0, 0.1)
    plant.advance(1)
    assert latency(plant)[0] == pytest.approx(0.01 + 0.1 + 0.01)


def test_the_network_between_the_regions_of_instances_counts_by_traffic(make_plant: Any) -> None:
    """a and its source are here; b has two instances here and one there: a third of what a sends travels."""
    values = {"latency_between_s": 0.3, "nodes_max__here": 1, "nodes_initial": 0, "slots_per_node": 3}
    pair = [Operator("a", 1.0), Operator("b", 0.0)]
    plant = make_plant(np.zeros(10), pair, first=1, regions=("here", "there"), **values)
    plant.ask_nodes(1, 1)
    plant.advance(1)
    plant.ask(1, 3)
    plant.advance(2)
    regions = [member.node.region for member in plant.deployment.crews[1].members]
    assert sorted(regions) == [0, 0, 1]
    mean, p50, p95, p99 = latency(plant)
    assert mean == pytest.approx(0.02 + 0.3 / 3)
    assert p50 < mean < p95 < p99


def test_the_latency_matrix_is_that_of_the_profile(make_plant: Any) -> None:
    chain = [Operator("a", 1.0), Operator("b", 1.0), Operator("c", 0.0)]
    values = {
        "latency_within_s": 0.001,
        "latency_between_s__x__y": 0.02,
        "latency_between_s__y__z": 0.03,
        "latency_between_s__x__z": 0.07,
    }
    plant = make_plant(np.zeros(5), chain, first=1, regions=("x", "y", "z"), placement="home", **values)
    plant.advance(1)
    # operators take turns over the regions: outside x, then a in x, b in y, c in z
    assert latency(plant)[0] == pytest.approx(0.03 + 0.001 + 0.02 + 0.03)
    plant.delay_network(0.5)
    plant.advance(1)
    assert latency(plant)[0] == pytest.approx(0.03 + 0.001 + 0.02 + 0.03 + 0.5)
    plant.delay_network(0.0)
    plant.advance(1)
    assert latency(plant)[0] == pytest.approx(0.03 + 0.001 + 0.02 + 0.03)
