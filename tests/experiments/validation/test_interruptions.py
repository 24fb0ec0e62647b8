"""Outages and recoveries found in series whose course is known."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.validation.interruptions import find, find_by_action, recovery, spells, usual_latency
from experiments.validation.measured import Action

RESCALE = Action(100, "rescale", workers=6, before=4)


def series(outage_s: int, late_s: int, seconds: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Nothing for a while from second 100 on, then latency that falls from 20 s."""
    throughput, latency_s = np.full(seconds, 5_000.0), np.full(seconds, 1.0)
    throughput[100 : 100 + outage_s] = latency_s[100 : 100 + outage_s] = np.nan
    latency_s[100 + outage_s : 100 + outage_s + late_s] = np.linspace(20.0, 2.0, late_s)
    return throughput, latency_s


@given(outage_s=st.integers(1, 60), late_s=st.integers(1, 120))
def test_an_outage_and_its_recovery_are_found_to_the_second(outage_s: int, late_s: int) -> None:
    (one,) = find(*series(outage_s, late_s), (RESCALE,))
    assert (one.begin_s, one.cause, one.normal_before) == (100, "scale out", True)
    assert one.outage_s == outage_s
    assert one.recovery_s == outage_s + late_s
    assert one.peak_s == pytest.approx(19.0)


def test_recovery_waits_until_latency_stays_usual() -> None:
    latency_s = np.array([9.0] * 5 + [1.0] * 9 + [9.0] * 2 + [1.0] * 20)
    assert recovery(latency_s, 0, limit_s=1.5, until=36) == 16
    assert np.isnan(recovery(latency_s, 0, limit_s=1.5, until=25))


def test_an_outage_long_after_an_action_has_no_known_cause() -> None:
    throughput, latency_s = series(5, 10)
    assert [one.cause for one in find(throughput, latency_s, (Action(5, "rescale", 6, 4),))] == ["unknown"]


def test_what_began_late_does_not_count_as_normal() -> None:
    throughput, latency_s = series(5, 10)
    latency_s[80:100] = 30.0
    assert [one.normal_before for one in find(throughput, latency_s, (RESCALE,))] == [False]


def test_without_seconds_a_recovery_counts_from_the_action() -> None:
    _, latency_s = series(0, 40)
    (one,) = find_by_action(latency_s, (RESCALE,))
    assert np.isnan(one.outage_s)
    assert one.recovery_s == 40


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 10))
def test_spells_cover_all_flags_and_stand_apart(flags: list[bool], merged_s: int) -> None:
    found = spells(np.array(flags), merged_s)
    covered = {second for begin, end in found for second in range(begin, end)}
    assert {second for second, up in enumerate(flags) if up} <= covered
    assert all(flags[begin] and flags[end - 1] for begin, end in found)
    assert all(later - end >= merged_s for (_, end), (later, _) in pairwise(found))


def test_the_usual_latency_of_a_run_that_is_late_most_of_the_time_is_its_low_one() -> None:
    assert usual_latency(np.array([1.0] * 30 + [60.0] * 70)) == pytest.approx(1.0)
    assert usual_latency(np.array([1.0] * 95 + [60.0] * 5)) == pytest.approx(1.0)
