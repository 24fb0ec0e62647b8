"""From raw samples to seconds: what is stale or missing stays unknown."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.local import recording
from infra.local.load import Orders, Schedule
from infra.local.progress import Meter, samples
from infra.local.prometheus import STALE_S, Samples, Series
from infra.local.sight import Sight

RATES = st.lists(st.floats(0, 1e5), min_size=1, max_size=30)


@given(RATES)
def test_a_schedule_grows_to_the_curves_sum(curve: list[float]) -> None:
    schedule = Schedule(curve)
    moments = np.linspace(0, len(curve), 101)
    due = [schedule.due(moment) for moment in moments]
    assert due[0] == 0
    assert due == sorted(due)
    assert schedule.total == pytest.approx(sum(curve), abs=1.0)
    for second, rate in enumerate(curve):
        assert schedule.due(second + 1) - schedule.due(second) == pytest.approx(rate, abs=1.001)


def test_what_comes_at_once_comes_on_top() -> None:
    schedule = Schedule([10, 10, 10], [(1.5, 1000)])
    assert [schedule.due(t) for t in (1.4, 1.5, 3.0)] == [14, 1015, 1030]
    assert schedule.total == 1030


def test_orders_survive_their_file(tmp_path: object) -> None:
    from pathlib import Path

    orders = Orders("yahoo", "127.0.0.1:1", "events", 8, (0, 2), 7, {"load": (1.5, 2.0)}, ((1.0, 5),), 241)
    path = Path(str(tmp_path)) / "orders.json"
    orders.write(path)
    assert Orders.read(path) == orders


@given(st.lists(st.floats(0.5, 1.5), min_size=3, max_size=40), st.floats(1, 1e6))
def test_a_steady_counter_has_a_steady_rate_however_it_was_sampled(gaps: list[float], rate: float) -> None:
    time_s = np.cumsum(gaps)
    series = Series({}, time_s, rate * time_s)
    grid = np.arange(np.ceil(time_s[0]), np.floor(time_s[-1]) - 1)
    assert series.rate(grid) == pytest.approx(np.full(grid.size, rate), rel=1e-6)


def test_a_gap_is_not_known() -> None:
    time_s = np.array([0.0, 1.0, 2.0, 2.0 + 2 * STALE_S, 3.0 + 2 * STALE_S, 4.0 + 2 * STALE_S])
    series = Series({}, time_s, 10.0 * np.arange(6.0))
    rates = series.rate(np.array([0.5, 3.0, 2.5 + 2 * STALE_S]))
    assert rates[[0, 2]] == pytest.approx([10, 10])
    assert np.isnan(rates[1])
    assert np.isnan(series.gauge(np.array([2.0 + 1.9 * STALE_S]))).all()


def test_a_counter_that_began_anew_has_no_rate_there() -> None:
    series = Series({}, np.arange(6.0), np.array([0.0, 100, 200, 0, 100, 200]))
    rates = series.rate(np.arange(5.0))
    assert np.isnan(rates[2])
    assert (rates[[0, 1, 3, 4]] == 100).all()


def test_a_series_that_is_not_there_is_not_known() -> None:
    nothing = Samples().find("tidebed_job_offered_events_total")
    assert np.isnan(nothing.rate(np.arange(3.0))).all()
    assert np.isnan(nothing.gauge(np.arange(3.0))).all()


def test_series_are_found_by_name_and_labels() -> None:
    answer = json.loads(
        '[{"metric": {"__name__": "m", "worker": "1", "job": "x"}, "values": [[1, "2"]]},'
        ' {"metric": {"__name__": "m", "worker": "2", "job": "x"}, "values": [[1, "3"]]}]'
    )
    found = Samples(answer)
    assert found.find("m", worker="2").value.tolist() == [3.0]
    assert len(found.all("m")) == 2
    assert found.find("m", worker="7").value.size == 0


def test_the_text_format_is_read() -> None:
    text = '# HELP a b\nup 1\nm{worker="a b",q="0.5"} 2.5e3\n'
    assert list(samples(text)) == [("up", {}, 1.0), ("m", {"worker": "a b", "q": "0.5"}, 2500.0)]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20))
def test_a_meter_counts_what_is_done_again(positions: list[int]) -> None:
    meter = Meter()
    for position in positions:
        meter.note({0: position})
    assert meter.total == sum(max(0, b - a) for a, b in itertools.pairwise(positions))
    assert meter.total >= positions[-1] - positions[0]


def sight(backlog: list[float], offered: float = 100.0) -> Sight:
    size = len(backlog)
    unknown = np.full(size, np.nan)
    none = np.empty((size, 0))
    return Sight(
        offered=np.full(size, offered),
        processed=unknown,
        backlog=np.array(backlog, dtype=np.float64),
        committed_backlog=unknown,
        latency_mean=unknown,
        latency=dict.fromkeys(("0.5", "0.95", "0.99"), unknown),
        indices=[],
        cpu=none,
        memory=none,
        throughput=none,
        ready=none,
    )


def test_a_recovery_is_when_the_backlog_is_down_for_good() -> None:
    seen = sight([50, 50, 5000, 8000, 100, 4000, 150, 60, 50])
    assert recording.recoveries(np.arange(9), seen, [2.0]) == [(2.0, 6.0)]
    assert recording.recoveries(np.arange(4), sight([50, 50, 5000, 8000]), [2.0]) == []


def test_a_disturbance_that_meets_another_is_over_with_that_one() -> None:
    seen = sight([50, 50, 5000, 8000, 9000, 7000, 4000, 60, 50])
    assert recording.recoveries(np.arange(9), seen, [2.0, 5.0]) == [(2.0, 7.0), (5.0, 7.0)]
    apart = sight([50, 50, 5000, 60, 50, 7000, 4000, 60, 50])
    assert recording.recoveries(np.arange(9), apart, [2.0, 5.0]) == [(2.0, 3.0), (5.0, 7.0)]
    assert recording.recoveries(np.arange(9), apart, [2.0, 5.4]) == [(2.0, 3.0), (5.4, 7.0)]


def test_what_was_not_measured_is_null_in_the_archive() -> None:
    columns = recording.metrics(np.arange(3), sight([1, 2, 3]), np.array([99.0, np.nan, 101.0]), np.ones(3))
    assert columns["workload"].tolist() == [99.0, 100.0, 101.0]
    assert np.isnan(columns["cpu"]).all()
    assert columns["capacity"] == [None] * 3
    assert columns["workers_running"].tolist() == [0, 0, 0]
