"""Laws of the flow of events through a graph of operators, checked against calculations of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.simulated.operators import record
from infra.simulated.operators.plant import Plant
from jobs.model import Operator
from jobs.operators import OUTSIDE


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Operator, ...]:
    """Any graph of up to six operators, with one or several sources."""
    operators: list[Operator] = []
    for index in range(draw(st.integers(1, 6))):
        before = [OUTSIDE, *(operator.name for operator in operators)]
        inputs = draw(st.lists(st.sampled_from(before), min_size=1, max_size=3, unique=True)) if index else ()
        selectivity = draw(st.sampled_from([0.0, 0.25, 1.0, 3.0]))
        operators.append(Operator(f"o{index}", selectivity, draw(st.booleans()), tuple(inputs)))
    return tuple(operators)


def state(plant: Plant, name: str) -> Any:
    return plant._machinery.operators[name]


def queued(plant: Plant) -> Any:
    return np.array([plant._machinery.instances["backlog"][o].sum() for o in range(len(plant.topology.names))])


@settings(max_examples=60)
@given(
    graph=graphs(),
    seed=st.integers(0, 2**32 - 1),
    buffer=st.sampled_from([0.0, 40.0, 1000.0, math.inf]),
    load=st.floats(0.0, 3000.0),
    step_s=st.sampled_from([1, 5, 60]),
    pause_s=st.sampled_from([0.0, 7.0, 100.0]),
    rescales=st.dictionaries(st.integers(0, 59), st.tuples(st.integers(0, 5), st.integers(1, 12)), max_size=8),
)
def test_events_are_conserved_in_every_operator(
    make_plant: Any,
    graph: tuple[Operator, ...],
    seed: int,
    buffer: float,
    load: float,
    step_s: int,
    pause_s: float,
    rescales: dict[int, tuple[int, int]],
) -> None:
    rng = np.random.default_rng(seed)
    curve = rng.uniform(0, 2 * load, 60 * step_s)
    plant = make_plant(
        curve,
        graph,
        first=3,
        seed=seed,
        step_s=step_s,
        buffer_events=buffer,
        pause_s=pause_s,
        reconfigure_s=2.0,
        capacity_noise=0.1,
        speed_spread=0.2,
        key_count=50,
    )
    for step in range(60):
        if step in rescales:
            operator, wanted = rescales[step]
            plant.ask(operator % len(graph), wanted)
        if step == 30:
            plant.stall_source(True)
        if step == 35:
            plant.stall_source(False)
        plant.advance(1)
        assert (plant._machinery.instances["backlog"] >= 0).all()
    entered, processed, outside = (state(plant, name) for name in ("entered", "processed", "outside"))
    np.testing.assert_allclose(entered, processed + queued(plant), rtol=1e-9, atol=1e-6)
    reaches = np.zeros(len(graph))
    for origin, goal in plant.topology.edges:
        reaches[goal] += graph[origin].selectivity * processed[origin]
    read = entered - reaches
    np.testing.assert_allclose(read + outside, curve.sum() * plant.topology.sources, rtol=1e-9, atol=1e-6)
    assert (outside >= 0).all()
    rows, _ = plant.last(60)
    np.testing.assert_allclose(rows[:, :-1, record.THROUGHPUT].sum(axis=0) * step_s, processed, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(rows[-1, :-1, record.BACKLOG], queued(plant) + outside, rtol=1e-9, atol=1e-6)
    assert rows[-1, -1, record.BACKLOG] == pytest.approx(rows[-1, :-1, record.BACKLOG].sum())


@settings(max_examples=40)
@given(
    graph=graphs(),
    seed=st.integers(0, 1000),
    buffer=st.sampled_from([0.0, 3.0, 200.0]),
    load=st.floats(1.0, 3000.0),
    step_s=st.sampled_from([1, 60]),
)
def test_no_buffer_is_overrun(
    make_plant: Any, graph: tuple[Operator, ...], seed: int, buffer: float, load: float, step_s: int
) -> None:
    plant = make_plant(np.full(20 * step_s, load), graph, first=2, seed=seed, buffer_events=buffer, step_s=step_s)
    plant.advance(20)
    assert plant._machinery.instances["backlog"].max() <= buffer * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("step_s", [1, 60])
def test_back_pressure_reaches_the_source(make_plant: Any, step_s: int) -> None:
    """The last of three does 50/s and has room for 200: once all are full, the source reads 50/s."""
    chain = [Operator("a", 1.0), Operator("b", 1.0), Operator("c", 0.0)]
    values = {"buffer_events": 200.0, "step_s": step_s, "worker_capacity__c": 50.0}
    plant = make_plant(np.full(600, 80.0), chain, first=1, **values)
    plant.advance(600 // step_s)
    rows, _ = plant.last(600 // step_s)
    assert rows[-1, :, record.THROUGHPUT] == pytest.approx(50.0)
    assert queued(plant) == pytest.approx([200.0, 200.0, 200.0])
    assert state(plant, "outside")[0] == pytest.approx(600 * (80 - 50) - 3 * 200)
    assert rows[-1, -1, record.CAPACITY] == pytest.approx(50.0)
    # buffers fill from the end of the chain: 200 events each, at 30/s
    full = [np.argmax(rows[:, o, record.BACKLOG] > 199.9) * step_s for o in (2, 1, 0)]
    if step_s == 1:
        assert full == pytest.approx([200 / 30, 400 / 30, 600 / 30], abs=1.5)


def test_without_bounds_nobody_is_held_back(make_plant: Any) -> None:
    chain = [Operator("a", 1.0), Operator("b", 0.0)]
    plant = make_plant(np.full(100, 80.0), chain, first=1, worker_capacity__b=50.0)
    plant.advance(100)
    assert state(plant, "processed").tolist() == pytest.approx([8000.0, 5000.0])
    assert queued(plant).tolist() == pytest.approx([0.0, 3000.0])


def test_a_hot_instance_holds_back_operators_that_share_nothing_else(make_plant: Any) -> None:
    """Two branches read from one source; only one is slow, and the other is held to the same pace."""
    fork = [Operator("a", 1.0), Operator("slow", 0.0, inputs=("a",)), Operator("quick", 0.0, inputs=("a",))]
    plant = make_plant(np.full(300, 90.0), fork, first=1, buffer_events=10.0, worker_capacity__slow=30.0)
    plant.advance(300)
    rows, _ = plant.last(1)
    assert rows[0, :3, record.THROUGHPUT] == pytest.approx([30.0, 30.0, 30.0])


def test_a_full_reader_shares_its_room_among_those_who_send(make_plant: Any) -> None:
    join = [
        Operator("a", 1.0),
        Operator("b", 1.0, inputs=(OUTSIDE,)),
        Operator("c", 0.0, inputs=("a", "b")),
    ]
    values = {"source_share__a": 3.0, "source_share__b": 1.0, "buffer_events": 5.0, "worker_capacity__c": 60.0}
    plant = make_plant(np.full(500, 80.0), join, first=1, **values)
    plant.advance(500)
    rows, _ = plant.last(1)
    assert rows[0, 2, record.THROUGHPUT] == pytest.approx(60.0)
    assert rows[0, :2, record.THROUGHPUT].sum() == pytest.approx(60.0)
    assert (rows[0, :2, record.THROUGHPUT] > 15.0).all()


@settings(max_examples=30)
@given(graph=graphs(), instances=st.lists(st.integers(1, 10), min_size=6, max_size=6), seed=st.integers(0, 99))
def test_the_capacity_is_the_load_that_the_busiest_instance_just_carries(
    make_plant: Any, graph: tuple[Operator, ...], instances: list[int], seed: int
) -> None:
    plant = make_plant(np.ones(3), graph, first=1, seed=seed, speed_spread=0.3, key_count=40)
    for operator in range(len(graph)):
        plant.ask(operator, instances[operator])
    plant.advance(3)
    rows, _ = plant.last(1)
    carried = []
    for o, factor in enumerate(plant.topology.factors):
        its = plant._machinery.instances[o, : plant.deployment.crews[o].serving]
        assert its["share"].sum() == pytest.approx(1.0)
        busiest = max(share / (100.0 * speed) for share, speed in zip(its["share"], its["speed"], strict=True))
        assert rows[0, o, record.CAPACITY] == pytest.approx(1 / busiest)
        carried.append(1 / (busiest * factor) if factor else math.inf)
    assert rows[0, -1, record.CAPACITY] == pytest.approx(min(carried))


def test_more_instances_never_lower_the_capacity(make_plant: Any) -> None:
    """Where events go evenly; hashed keys may fall less luckily on more instances."""
    plant = make_plant(np.ones(100), first=1, scaling_exponent=0.9)
    capacities = []
    for instances in range(1, 31):
        for operator in range(3):
            plant.ask(operator, instances)
        plant.advance(1)
        capacities.append(plant.last(1)[0][0, -1, record.CAPACITY])
    assert capacities == sorted(capacities)
    assert capacities[9] == pytest.approx(100 * 10**0.9 / 5)


def test_demand_is_the_fewest_instances_of_each_operator_that_carry_the_load(make_plant: Any) -> None:
    loads = np.array([0.0, 19.0, 20.5, 100.0, 590.0])
    graph = [Operator("split", 5.0), Operator("count", 0.0, keyed=True)]
    plant = make_plant(loads, graph, first=1, key_count=200, seed=4)
    for step, load in enumerate(loads):
        for o, factor in enumerate((1.0, 5.0)):
            fleet = plant.fleets[o]
            enough = (n for n in range(1, fleet.limit + 1) if 100.0 / fleet.shares(n).max() >= load * factor)
            assert plant.demand[o, step] == next(enough, fleet.limit)
    assert plant.fleets[1].shares(4).max() > 0.26, "the keys are skewed"
    assert plant.demand[0].tolist() == [1, 1, 1, 1, 6]


@pytest.mark.parametrize(("load", "bound"), [(0.6, 1e-9), (1.3, 0.002)])
def test_a_finer_step_changes_means_by_little(make_plant: Any, load: float, bound: float) -> None:
    """Below capacity nothing depends on the step; in overload, with a rescale and its pause, 0.2 % at most."""
    curve = np.full(7200, load * 20.0)
    means = []
    for step_s in (60, 30, 1):
        plant = make_plant(curve, first=1, step_s=step_s, pause_s=20.0, reconfigure_s=60.0)
        for second in range(0, 7200, 60):
            if load > 1 and second == 3600:
                for operator in range(3):
                    plant.ask(operator, 3)
            plant.advance(60 // step_s)
        rows, _ = plant.last(7200 // step_s)
        columns = [record.THROUGHPUT, record.MEAN, record.CPU, record.BACKLOG]
        means.append(np.nanmean(rows[:, -1][:, columns], axis=0))
    np.testing.assert_allclose(means[1], means[0], rtol=bound)
    np.testing.assert_allclose(means[2], means[0], rtol=bound)
    assert load < 1 or means[0][3] > 10_000


def test_work_is_linear_in_steps_and_instances(make_plant: Any) -> None:
    def visits(steps: int, instances: int) -> int:
        plant = make_plant(np.ones(steps), first=instances)
        plant.advance(steps)
        return int(plant._machinery.state["visits"][0])

    assert visits(100, 10) == 10 * visits(10, 10) == 10 * visits(100, 1)
    assert visits(100, 1) == 100 * 3 * 3, "three passes over three operators"
