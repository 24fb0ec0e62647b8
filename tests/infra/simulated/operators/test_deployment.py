"""Instances on nodes: where they go, what they wait for, and what a change of them costs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoscalers.model import RegionView
from infra.simulated.operators import record
from jobs.model import Operator

ONE = [Operator("only", 0.0)]
PAIR = [Operator("a", 1.0), Operator("b", 0.0)]


def happened(plant: Any, *kinds: str) -> list[tuple[float, str, str]]:
    return [(time_s, kind, target) for time_s, kind, target, _ in plant.events if kind in kinds]


def used(plant: Any) -> Counter[int]:
    """Instances on each node, counted from the instances' side."""
    members = [member for crew in plant.deployment.crews for member in crew.members]
    return Counter(id(member.node) for member in members if member.node is not None)


@settings(max_examples=60)
@given(
    placement=st.sampled_from(["near", "home"]),
    seed=st.integers(0, 1000),
    actions=st.lists(
        st.tuples(st.sampled_from(["instances", "nodes", "lose", "crash"]), st.integers(0, 2), st.integers(0, 9)),
        max_size=40,
    ),
)
def test_slots_are_never_exceeded_and_nobody_is_counted_twice(
    make_plant: Any, placement: str, seed: int, actions: list[tuple[str, int, int]]
) -> None:
    values = {"nodes_max": 5, "nodes_initial": 2, "boot_s": 3.0, "reconfigure_s": 2.0, "pause_s": 1.5, "restart_s": 4.0}
    plant = make_plant(
        np.full(len(actions) + 60, 20.0), first=1, seed=seed, regions=("x", "y", "z"), placement=placement, **values
    )
    deployment = plant.deployment
    for kind, which, amount in actions:
        match kind:
            case "instances":
                plant.ask(which, amount + 1)
            case "nodes":
                plant.ask_nodes(which, amount)
            case "lose":
                plant.lose_node(plant.regions[which])
            case "crash":
                plant.crash(plant.topology.names[which], 0)
        plant.advance(1)
        counted = used(plant)
        for pool in deployment.slots.pools:
            assert len(pool) <= 5
            for node in pool.nodes:
                assert node.used == counted.pop(id(node), 0) <= pool.slots
                assert node.running or not node.used
        assert not counted, "nobody is on a node that is gone"
        assert sum(pool.unmet for pool in deployment.slots.pools) == sum(crew.unmet for crew in deployment.crews)
        for crew in deployment.crews:
            assert len(crew.members) >= 1
            assert crew.serving == len(crew.members) or crew.changing
    plant.ask_nodes(0, 5), plant.ask_nodes(1, 5), plant.ask_nodes(2, 5)
    wanted = [crew.wanted for crew in deployment.crews]
    plant.advance(60)
    assert deployment.under_way == 0 or any(crew.unmet for crew in deployment.crews)
    if sum(wanted) <= 30 and placement == "near":
        assert [crew.serving for crew in deployment.crews] == wanted
        assert all(member.ready for crew in deployment.crews for member in crew.members)
        assert deployment.under_way == 0


def test_who_finds_no_slot_waits_and_gets_one_when_a_node_boots(make_plant: Any) -> None:
    plant = make_plant(np.ones(100), ONE, first=2, nodes_initial=1, boot_s=25.0, reconfigure_s=10.0)
    plant.ask(0, 3)
    assert plant.deployment.crews[0].unmet == 1
    plant.ask_nodes(0, 2)
    plant.advance(60)
    assert happened(plant, "unmet", "boot", "rescale_start", "rescale_end") == [
        (0.0, "unmet", "region:here"),
        (25.0, "boot", "region:here"),
        (25.0, "rescale_start", "only"),
        (35.0, "rescale_end", "only"),
    ]
    rows, _ = plant.last(60)
    assert rows[:, 0, record.WANTED].tolist() == [3] * 60
    assert rows[:, 0, record.RUNNING].tolist() == [2] * 25 + [3] * 35
    assert rows[:, 0, record.READY].tolist() == [2] * 35 + [3] * 25
    assert rows[:, -1, record.NODES].tolist() == [2] * 60, "a node is paid for while it boots"


def test_a_slot_that_another_operator_gives_up_is_taken_at_once(make_plant: Any) -> None:
    plant = make_plant(np.ones(100), PAIR, first=2, nodes_initial=2, nodes_max=2, reconfigure_s=10.0)
    plant.ask(1, 3)
    plant.advance(5)
    plant.ask(0, 1)
    plant.advance(30)
    assert [crew.serving for crew in plant.deployment.crews] == [1, 3]
    assert happened(plant, "rescale_end") == [(15.0, "rescale_end", "a"), (25.0, "rescale_end", "b")]


def test_those_who_waited_longest_come_first(make_plant: Any) -> None:
    plant = make_plant(np.ones(100), first=1, nodes_initial=1, nodes_max=9, slots_per_node=3, boot_s=5.0)
    for operator in (2, 0, 1):
        plant.ask(operator, 2)
        plant.advance(1)
    plant.ask_nodes(0, 2)
    plant.advance(10)
    starts = [target for _, _, target in happened(plant, "rescale_start")]
    assert starts == ["count", "split", "filter"]


def test_what_is_no_longer_wanted_no_longer_waits(make_plant: Any) -> None:
    plant = make_plant(np.ones(20), ONE, first=2, nodes_initial=1, nodes_max=1)
    plant.ask(0, 5)
    assert plant.deployment.slots.pools[0].unmet == 3
    plant.ask(0, 3)
    assert plant.deployment.slots.pools[0].unmet == 1
    plant.ask(0, 2)
    assert plant.deployment.slots.pools[0].unmet == 0
    assert plant.deployment.slots.waiting == {}


def test_a_region_tells_the_most_that_waited_since_it_was_asked(make_plant: Any) -> None:
    plant = make_plant(np.ones(20), ONE, first=2, nodes_initial=1, boot_s=1.0)
    pool = plant.deployment.slots.pools[0]
    assert pool.observe() == RegionView(nodes=1, idle=0, unmet=0, slots=2)
    plant.ask(0, 4)
    plant.ask_nodes(0, 2)
    assert pool.observe() == RegionView(nodes=2, idle=0, unmet=2, booting=1, slots=2)
    plant.advance(5)
    assert pool.observe() == RegionView(nodes=2, idle=0, unmet=2, slots=2)
    assert pool.observe() == RegionView(nodes=2, idle=0, unmet=0, slots=2)


def test_only_idle_nodes_can_be_released_and_booting_ones_go_first(make_plant: Any) -> None:
    plant = make_plant(np.ones(50), ONE, first=3, nodes_initial=3, boot_s=10.0)
    pool = plant.deployment.slots.pools[0]
    assert (pool.busy, pool.idle) == (2, 1)
    assert plant.ask_nodes(0, 5) == 5
    assert plant.ask_nodes(0, 3) == 3
    assert all(node.running for node in pool.nodes)
    assert plant.ask_nodes(0, 0) == 2, "two are in use"
    plant.advance(20)
    assert happened(plant, "boot") == []
    assert [detail for _, kind, _, detail in plant.events if kind == "released"] == ["2 nodes", "1 nodes"]
    assert plant.ask_nodes(0, 1000) == 100


def test_a_fuller_node_is_filled_first_and_an_emptier_one_is_left_first(make_plant: Any) -> None:
    plant = make_plant(np.ones(50), PAIR, first=3, slots_per_node=4, nodes_initial=3)
    assert sorted(node.used for node in plant.deployment.slots.pools[0].nodes) == [0, 2, 4]
    plant.ask(1, 2)
    assert sorted(node.used for node in plant.deployment.slots.pools[0].nodes) == [0, 1, 4]
    plant.ask(0, 4)
    assert sorted(node.used for node in plant.deployment.slots.pools[0].nodes) == [0, 2, 4]


def test_near_means_the_least_added_latency(make_plant: Any) -> None:
    """From x, where events are offered, y is nearer than z; the reader follows those it reads from."""
    values = {
        "latency_between_s__x__y": 0.01,
        "latency_between_s__x__z": 0.05,
        "latency_between_s__y__z": 0.02,
        "nodes_max__x": 0,
        "nodes_initial": 1,
        "nodes_max__y": 1,
    }
    plant = make_plant(np.ones(10), PAIR, first=2, regions=("x", "y", "z"), **values)
    a, b = ([member.node.region for member in crew.members] for crew in plant.deployment.crews)
    assert a == [1, 1], "x has no node"
    assert b == [2, 2], "y is nearest to a and full"


def test_home_means_where_the_others_are_and_nowhere_else(make_plant: Any) -> None:
    plant = make_plant(
        np.ones(50), first=2, regions=("x", "y"), placement="home", nodes_initial=1, nodes_max=3, boot_s=2.0
    )
    homes = [[member.node.region for member in crew.members] for crew in plant.deployment.crews]
    assert homes == [[0, 0], [1, 1], [0, 0]]
    plant.ask(1, 3)
    plant.advance(1)
    assert [pool.unmet for pool in plant.deployment.slots.pools] == [0, 1]
    plant.ask_nodes(0, 3)
    plant.advance(5)
    assert plant.deployment.crews[1].unmet == 1, "a node elsewhere is of no use"
    plant.ask_nodes(1, 2)
    plant.advance(5)
    assert plant.deployment.crews[1].serving == 3


def test_an_unknown_placement_is_named(make_plant: Any) -> None:
    with pytest.raises(ValueError, match='unknown placement "far"; there are: near, home'):
        make_plant(np.ones(5), ONE, placement="far")


def test_the_first_instances_carry_the_first_minute(make_plant: Any) -> None:
    plant = make_plant(np.linspace(10.0, 40.0, 120))
    assert [crew.serving for crew in plant.deployment.crews] == [1, 2, 1]


def test_without_a_single_slot_a_job_cannot_start(make_plant: Any) -> None:
    with pytest.raises(ValueError, match='no region has a slot for the operator "b"'):
        make_plant(np.ones(5), PAIR, first=2, nodes_initial=1, nodes_max=1)


def test_a_pause_stops_the_operator_and_events_wait(make_plant: Any) -> None:
    """Asked at 10 s, in effect at 15 s, then 7 s of standstill: 7 s of load wait, and two instances work them off."""
    plant = make_plant(np.full(100, 60.0), ONE, first=1, reconfigure_s=5.0, pause_s=7.0)
    plant.advance(10)
    plant.ask(0, 2)
    plant.advance(90)
    rows, _ = plant.last(100)
    throughput = rows[:, 0, record.THROUGHPUT]
    assert throughput[:15] == pytest.approx(60.0)
    assert throughput[15:22] == pytest.approx(0.0)
    assert np.isnan(rows[15:22, 0, record.MEAN]).all()
    assert rows[21, 0, record.BACKLOG] == pytest.approx(7 * 60)
    assert throughput[22:25] == pytest.approx(200.0)
    assert throughput[25:] == pytest.approx(60.0)
    assert rows[22, 0, record.MEAN] == pytest.approx(0.5 * (2.1 + 1.4) + 0.01 + 0.3 * 0.01 / 1.4, rel=1e-6)
    assert happened(plant, "rescale_start", "outage_start", "outage_end", "rescale_end", "recovered") == [
        (10.0, "rescale_start", "only"),
        (15.0, "outage_start", "only"),
        (22.0, "outage_end", "only"),
        (22.0, "rescale_end", "only"),
        (24.0, "recovered", "job"),
    ]
    assert plant.deployment.last_rescale.downtime_s == 7.0


def test_a_pause_within_a_long_step_is_part_of_it(make_plant: Any) -> None:
    plant = make_plant(np.full(600, 90.0), ONE, first=1, step_s=60, pause_s=20.0)
    plant.advance(1)
    plant.ask(0, 2)
    plant.advance(9)
    rows, _ = plant.last(10)
    assert rows[1, 0, record.CAPACITY] == pytest.approx(200 * 40 / 60)
    assert rows[1, 0, record.THROUGHPUT] == pytest.approx(90.0), "40 s are enough for the whole minute"
    # an event waits 20 s at first, and nothing once two instances have worked off 1800 events at 200 - 90 a second
    assert rows[1, 0, record.MEAN] == pytest.approx(20 * (20 / 0.55) / 2 / 60 + 0.01 + 0.45 * 0.01 / 1.1, rel=1e-6)
    assert rows[2, 0, record.MEAN] == pytest.approx(0.01 + 0.45 * 0.01 / 1.1, rel=1e-6)
    assert happened(plant, "outage_end", "rescale_end") == [(80.0, "outage_end", "only"), (80.0, "rescale_end", "only")]


def test_requests_during_a_change_wait_for_its_end_and_the_last_one_counts(make_plant: Any) -> None:
    plant = make_plant(np.ones(100), ONE, first=3, reconfigure_s=10.0)
    plant.ask(0, 5)
    plant.advance(2)
    plant.ask(0, 9)
    plant.ask(0, 7)
    plant.advance(40)
    details = [detail for _, kind, _, detail in plant.events if kind == "rescale_start"]
    assert details == ["3 to 5 instances", "5 to 7 instances"]
    assert happened(plant, "rescale_start") == [(0.0, "rescale_start", "only"), (10.0, "rescale_start", "only")]


def test_what_waits_is_shared_anew_and_instances_keep_their_column_until_they_leave(make_plant: Any) -> None:
    plant = make_plant(np.full(60, 390.0), ONE, first=3, placement="home", reconfigure_s=10.0, seed=2)
    plant.advance(10)
    members = list(plant.deployment.crews[0].members)
    for index, speed in enumerate((0.2, 0.3, 0.5)):
        plant.slow("only", index, speed)
    plant.ask(0, 2)
    (leaver,) = [member for member in members if member is plant.deployment.crews[0].members[-1]]
    plant.advance(1)
    _, samples = plant.last(1)
    speeds = [member.slowed_to for member in plant.deployment.crews[0].members]
    assert samples[0, 0, :3, record.I_THROUGHPUT] == pytest.approx([100 * speed for speed in speeds])
    before = plant._machinery.instances["backlog"][0, :3].sum()
    plant.advance(9)
    grown = before + 9 * 290
    assert plant._machinery.instances["backlog"][0, :2] == pytest.approx([grown / 2] * 2)
    assert leaver not in plant.deployment.crews[0].members
    assert plant._machinery.instances["backlog"][0, 2:].tolist() == [0.0] * 6


def test_what_waits_goes_with_its_keys(make_plant: Any) -> None:
    plant = make_plant(np.full(20, 900.0), [Operator("only", 0.0, keyed=True)], first=2, key_count=30, seed=3)
    plant.advance(10)
    waiting = plant._machinery.instances["backlog"][0].sum()
    assert waiting > 1000
    plant.ask(0, 5)
    shares = plant.fleets[0].shares(5)
    assert shares.std() > 0.05
    assert plant._machinery.instances["backlog"][0, :5] == pytest.approx(waiting * shares)
