"""What goes wrong with single instances, nodes, the source, the network and the monitoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from infra.simulated import gauges
from infra.simulated.operators import record
from jobs.model import Operator

ONE = [Operator("only", 0.0)]
PAIR = [Operator("a", 1.0), Operator("b", 0.0)]


def kinds(plant: Any) -> list[tuple[float, str]]:
    return [(time_s, kind) for time_s, kind, _, _ in plant.events]


def test_a_crashed_instance_leaves_its_events_waiting_until_it_is_back(make_plant: Any) -> None:
    plant = make_plant(np.full(60, 100.0), ONE, first=2, restart_s=8.0)
    plant.advance(10)
    plant.crash("only", 1)
    plant.advance(50)
    rows, samples = plant.last(60)
    assert rows[10:18, 0, record.THROUGHPUT] == pytest.approx(50.0)
    assert rows[17, 0, record.BACKLOG] == pytest.approx(8 * 50)
    assert rows[:, 0, record.READY].tolist() == [2] * 10 + [1] * 8 + [2] * 42
    assert np.isnan(samples[10:18, 0, 1, record.I_CPU]).all()
    assert not np.isnan(samples[:, 0, 0, record.I_CPU]).any()
    # 50/s to spare: 400 events are gone after 8 s, and fewer than a second's worth wait after 6
    assert kinds(plant) == [(18.0, "restored"), (24.0, "recovered")]
    assert rows[26:, 0, record.BACKLOG] == pytest.approx(0.0)
    (ready, started_s, since_s) = plant.deployment.crews[0].arrays()
    assert ready.tolist() == [True, True]
    assert started_s.tolist() == [0.0, 0.0]
    assert since_s.tolist() == [0.0, 18.0]


def test_a_second_crash_starts_the_restart_anew(make_plant: Any) -> None:
    plant = make_plant(np.ones(60), ONE, first=1, restart_s=8.0)
    plant.crash("only", 0)
    plant.advance(5)
    plant.crash("only", 0)
    plant.advance(40)
    rows, _ = plant.last(45)
    assert rows[:, 0, record.READY].tolist() == [0] * 13 + [1] * 32
    assert plant.deployment.under_way == 0


def test_a_lost_node_takes_its_instances_along_and_they_find_other_slots(make_plant: Any) -> None:
    """Four instances on two nodes and one idle node: the lost two move there."""
    plant = make_plant(np.full(60, 100.0), PAIR, first=2, nodes_initial=3, restart_s=5.0)
    plant.advance(10)
    plant.lose_node("here")
    plant.advance(30)
    rows, _ = plant.last(40)
    assert rows[:, -1, record.NODES].tolist() == [3] * 10 + [2] * 30
    assert rows[:, -1, record.READY].tolist() == [4] * 10 + [2] * 5 + [4] * 25
    assert rows[:, -1, record.RUNNING].tolist() == [4] * 40
    assert sorted(node.used for node in plant.deployment.slots.pools[0].nodes) == [2, 2]


def test_without_another_slot_they_wait_for_a_node(make_plant: Any) -> None:
    plant = make_plant(np.full(80, 50.0), ONE, first=2, nodes_initial=1, boot_s=20.0, restart_s=5.0)
    plant.advance(10)
    plant.lose_node("here")
    assert plant.deployment.slots.pools[0].observe().unmet == 2
    plant.advance(5)
    assert plant.ask_nodes(0, 1) == 1
    plant.advance(60)
    rows, _ = plant.last(75)
    assert rows[:, 0, record.READY].tolist() == [2] * 10 + [0] * 30 + [2] * 35
    assert rows[39, 0, record.BACKLOG] == pytest.approx(30 * 50)
    assert rows[10:40, 0, record.CAPACITY] == pytest.approx(0.0)
    assert kinds(plant)[:2] == [(10.0, "unmet"), (35.0, "boot")]
    assert rows[-1, 0, record.BACKLOG] == pytest.approx(0.0)


def test_instances_that_were_starting_on_a_lost_node_start_anew(make_plant: Any) -> None:
    plant = make_plant(np.ones(60), ONE, first=2, nodes_initial=2, slots_per_node=4, reconfigure_s=10.0)
    plant.ask(0, 4)
    plant.advance(3)
    plant.lose_node("here")
    plant.advance(40)
    crew = plant.deployment.crews[0]
    assert (crew.serving, crew.unmet, crew.changing) == (4, 0, False)
    assert plant.deployment.under_way == 0


def test_losing_a_node_where_there_is_none_changes_nothing(make_plant: Any) -> None:
    plant = make_plant(np.ones(60), ONE, first=1, regions=("here", "there"), nodes_initial__there=0)
    plant.lose_node("there")
    plant.advance(5)
    assert plant.events == []


def test_a_slow_instance_is_slow_until_it_is_not(make_plant: Any) -> None:
    plant = make_plant(np.full(60, 100.0), ONE, first=2)
    plant.slow("only", 0, 0.2)
    plant.advance(10)
    rows, samples = plant.last(1)
    assert samples[0, 0, :2, record.I_THROUGHPUT] == pytest.approx([20.0, 50.0])
    assert samples[0, 0, :2, record.I_CPU] == pytest.approx([1.0, 0.5])
    assert rows[0, 0, record.CAPACITY] == pytest.approx(40.0)
    plant.slow("only", 0, 1.0)
    plant.advance(20)
    assert plant.last(1)[0][0, 0, record.BACKLOG] == pytest.approx(0.0)


def test_a_stalled_source_lets_events_pile_up_outside(make_plant: Any) -> None:
    plant = make_plant(np.full(60, 40.0), ONE, first=1)
    plant.advance(10)
    plant.stall_source(True)
    plant.advance(20)
    rows, _ = plant.last(20)
    assert rows[:, 0, record.THROUGHPUT] == pytest.approx(0.0)
    assert rows[-1, -1, record.BACKLOG] == pytest.approx(800.0)
    assert rows[:, -1, record.WORKLOAD] == pytest.approx(40.0)
    plant.stall_source(False)
    plant.advance(30)
    rows, _ = plant.last(30)
    assert rows[:13, 0, record.THROUGHPUT] == pytest.approx(100.0)
    assert rows[-1, -1, record.BACKLOG] == pytest.approx(0.0)
    # with 60/s to spare, the 800 are fewer than a second's work after 700 / 60 = 11.7 s
    assert kinds(plant) == [(42.0, "recovered")]


def test_a_blind_monitoring_shows_nothing_and_a_stale_one_what_it_saw_last(make_plant: Any) -> None:
    plant = make_plant(np.arange(60.0), PAIR, first=2, throughput_noise=0.01)
    plant.advance(10)
    plant.blind(gauges.MISSING)
    plant.advance(10)
    plant.blind(gauges.STALE)
    plant.advance(10)
    plant.blind(gauges.CLEAR)
    plant.advance(10)
    rows, samples = plant.last(40)
    seen = rows[:, :, record.SEEN_WORKLOAD :]
    assert np.isnan(seen[10:20]).all()
    assert np.isnan(samples[10:20]).all()
    assert (seen[20:30] == seen[9]).all()
    assert (samples[20:30, :, :2] == samples[9, :, :2]).all()
    assert seen[35, -1, 0] == 35.0
    assert rows[:, -1, record.WORKLOAD].tolist() == list(range(40)), "the truth is known all the time"


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda plant: plant.crash("b", 2), '"b" has no instance 2; there are 2, from 0 on'),
        (lambda plant: plant.crash("z", 0), 'unknown operator "z"; there are: a, b'),
        (lambda plant: plant.lose_node("mars"), 'unknown region "mars"; there are: here'),
        (lambda plant: plant.slow("a", 0, 0.0), "cannot have a speed of 0"),
    ],
)
def test_what_is_not_there_cannot_fail(make_plant: Any, act: Any, complaint: str) -> None:
    plant = make_plant(np.ones(5), PAIR, first=2)
    with pytest.raises(ValueError, match=complaint):
        act(plant)
