"""Each shape against figures worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads import describe, parse, shape_names


def curve(seconds, seed=0, **spec):
    return parse(spec).curve(seconds, seed)


def test_constant():
    assert curve(3, shape="constant", peak="2k").tolist() == [2000.0] * 3


def test_ramp_goes_from_low_to_peak_over_the_run_and_reaches_both_ends():
    assert curve(6, shape="ramp", peak=100, low=0).tolist() == [0, 20, 40, 60, 80, 100]
    assert curve(6, shape="ramp", peak=100, low=0, down=True).tolist() == [100, 80, 60, 40, 20, 0]


def test_ramp_stays_at_the_top():
    assert curve(5, shape="ramp", peak=10, low="50%", over="3s").tolist() == [5, 7.5, 10, 10, 10]


def test_step_changes_at_its_second():
    assert curve(6, shape="step", peak=9, low=1, at="2s").tolist() == [1, 1, 9, 9, 9, 9]
    assert curve(6, shape="step", peak=9, low=1, at="2s", until="3s").tolist() == [1, 1, 9, 1, 1, 1]
    assert curve(8, shape="step", peak=9, low=1, at="25%", until="75%").tolist() == [1, 1, 9, 9, 9, 9, 1, 1]


def test_sine_is_a_sine():
    expected = [55 + 45 * math.sin(2 * math.pi * second / 120) for second in range(300)]
    assert curve(300, shape="sine", peak=100, period="2m") == pytest.approx(expected)
    assert curve(300, shape="sine", peak=100, periods=2.5) == pytest.approx(expected)


def test_sine_runs_twice_by_default_and_share_of_the_run_says_the_same():
    twice = curve(600, shape="sine", peak=100)
    assert twice == pytest.approx(curve(600, shape="sine", peak=100, periods=2))
    assert twice == pytest.approx(curve(600, shape="sine", peak=100, period="50%"))


def test_square_as_in_borkowski():
    rates = curve(2700, shape="square", peak=65, low=1, period="740s")
    changes = np.flatnonzero(np.diff(rates)) + 1
    assert changes.tolist() == [370 * step for step in range(1, 8)]
    assert (rates[0], rates[370]) == (1, 65)


@pytest.mark.parametrize(("duty", "high"), [("0%", 0), ("25%", 250), ("90%", 900), ("100%", 1000)])
def test_square_duty_is_time_at_the_peak(duty, high):
    rates = curve(1000, shape="square", peak=8, low=2, duty=duty, period="100s")
    assert (rates == 8).sum() == high
    assert (rates == 2).sum() == 1000 - high


def test_pyramid_as_in_borkowski():
    rates = curve(2700, shape="pyramid", peak=60, low=0, steps=4, hold="130s")
    levels = rates[::130].tolist()
    assert levels == [0, 15, 30, 45, 60, 45, 30, 15, 0, 15, 30, 45, 60, 45, 30, 15, 0, 15, 30, 45, 60]
    assert np.unique(np.flatnonzero(np.diff(rates)) + 1).tolist() == list(range(130, 2700, 130))


def test_spike_rises_stays_and_decays():
    rates = curve(40, shape="spikes", peak=110, low=10, times=["5s"], rise="4s", width="3s", decay="2s")
    assert rates[:6].tolist() == [10] * 6
    assert rates[5:9].tolist() == [10, 35, 60, 85]
    assert rates[9:12].tolist() == [110] * 3
    assert rates[12:16] == pytest.approx([10 + 100 * math.exp(-n / 2) for n in (1, 2, 3, 4)])


def test_spike_without_rise_or_decay_is_a_block():
    rates = curve(8, shape="spikes", peak=5, low=1, times=["2s"], rise=0, width="3s", decay=0)
    assert rates.tolist() == [1, 1, 5, 5, 5, 1, 1, 1]


def test_a_long_spike_with_a_short_decay_does_not_overflow():
    rates = curve(4000, shape="spikes", peak=5, low=1, times=[0], rise=0, width="1h", decay="1s")
    assert (rates[:3600] == 5).all()
    assert rates[3610] == pytest.approx(1, abs=1e-3)


def test_overlapping_spikes_never_exceed_the_peak():
    rates = curve(60, shape="spikes", peak=5, times=["5s", "7s", "9s"], rise="2s", width="9s", decay="4s")
    assert rates.max() == 5


def test_a_spike_after_the_run_is_not_seen():
    assert curve(60, shape="spikes", peak=5, low=1, times=["2m"], rise=0, width="9s").tolist() == [1] * 60


@given(count=st.integers(1, 12), seed=st.integers(0, 1000))
def test_random_spikes_are_as_many_as_asked_for(count, seed):
    rates = curve(3600, seed, shape="spikes", peak=5, low=1, count=count, rise="1s", width="5s", decay=0)
    starts = np.flatnonzero(np.diff((rates == 5).astype(int)) == 1) + 1
    assert len(starts) == count
    assert (starts // (3600 / count)).astype(int).tolist() == list(range(count))
    assert (rates == 5).sum() == 5 * count


@given(seed=st.integers(0, 1000))
def test_random_spikes_keep_to_their_part_of_the_run_however_tight(seed):
    rates = curve(100, seed, shape="spikes", peak=5, low=1, count=10, rise="1s", width="8s", decay=0)
    assert (rates.reshape(10, 10) == 5).sum(axis=1).tolist() == [8] * 10


def test_random_spikes_are_laid_out_over_the_run_even_if_their_form_is_not():
    form = {"shape": "spikes", "peak": 5, "rise": "1s", "width": "5s", "decay": "2s"}
    random, given_times = parse(form), parse({**form, "times": ["10s"]})
    assert (random.fits_run, given_times.fits_run) == (True, False)
    assert not np.array_equal(random.curve(1000)[:500], random.curve(500))
    assert np.array_equal(given_times.curve(1000)[:500], given_times.curve(500))


def test_varied_spikes_differ_but_the_highest_reaches_the_peak():
    rates = curve(1000, shape="spikes", peak=101, low=1, count=5, vary="50%", rise=0, width="5s", decay=0)
    tops = np.unique(rates)[1:]
    assert len(tops) == 5
    assert tops.max() == 101
    assert tops.min() >= 1 + 50


@given(seed=st.integers(0, 10_000))
def test_random_walk_stays_in_its_band(seed):
    rates = curve(5000, seed, shape="random-walk", peak=100, low=40, memory="10s")
    assert 40 <= rates.min() <= rates.max() <= 100


def test_random_walk_visits_every_level_alike_and_forgets():
    rates = curve(2_000_000, shape="random-walk", peak=1000, low=0, memory="50s")
    counts, _ = np.histogram(rates, bins=10, range=(0, 1000))
    assert counts / len(rates) == pytest.approx(np.full(10, 0.1), abs=0.01)
    centred = rates - rates.mean()
    correlation = [float(np.mean(centred[:-lag] * centred[lag:]) / centred.var()) for lag in (1, 50, 500)]
    assert correlation[0] > 0.97
    assert correlation[1] == pytest.approx(1 / math.e, abs=0.05)
    assert correlation[2] == pytest.approx(0, abs=0.05)


def test_a_day_peaks_at_its_hour_and_has_a_second_hump():
    rates = curve(86_400, shape="daily", peak="60k", day="1d", peak_hour=18.5, second_hour=9)
    assert rates.argmax() == 18.5 * 3600
    assert rates.max() == 60_000
    assert rates.min() == pytest.approx(6_000)
    morning = rates[: 13 * 3600]
    assert morning.argmax() == 9 * 3600
    assert 6_000 + 0.5 * 54_000 < morning.max() < 6_000 + 0.6 * 54_000
    assert rates[13 * 3600 : 14 * 3600].min() < morning.max() - 10_000


def test_a_week_has_a_weekend():
    days = curve(7 * 3600, shape="daily", peak=100, day="1h", weekend="50%").reshape(7, 3600)
    assert days.max(axis=1) == pytest.approx([100] * 5 + [50] * 2)
    assert days[5] == pytest.approx(days[0] / 2)


def test_a_busy_weekend_holds_the_peak():
    days = curve(7 * 3600, shape="daily", peak=100, day="1h", weekend="200%").reshape(7, 3600)
    assert days.max(axis=1) == pytest.approx([50] * 5 + [100] * 2)


def test_a_run_is_a_day_unless_said_otherwise():
    assert curve(3600, shape="daily", peak=100) == pytest.approx(curve(3600, shape="daily", peak=100, day="1h"))
    day = curve(86_400, shape="daily", peak=100, day="24h")
    assert curve(3600, shape="daily", peak=100) == pytest.approx(day[::24])


@pytest.mark.parametrize("name", shape_names())
def test_every_shape_tells_what_it_is_in_one_line(name):
    line = describe(name)
    assert "\n" not in line
    assert "`" not in line
    assert "peak" in line


def test_defaults_are_told_as_people_write_them():
    assert describe("random-walk").endswith("(peak, low: 10%, memory: 10m)")
    assert describe("ramp").endswith("(peak, low: 10%, over: 100%, down: false)")
    assert describe("square").endswith("duty: 50%)")


def test_a_city_has_rush_hours_on_working_days_and_is_up_late_on_saturday():
    week = parse({"shape": "city", "peak": 560, "day": "1d"}).curve(7 * 86_400)
    by_hour = week.reshape(7, 24, 3600).mean(axis=2)
    assert week.max() == 560
    assert week.min() == pytest.approx(0.11 * 560)
    assert by_hour[1, [8, 19]].min() > by_hour[1, [3, 16]].max(), "two rushes"
    assert by_hour[5, 23] > by_hour[6, 23], "Saturday night"
    assert by_hour[6, 1] > by_hour[3, 1], "which goes on after midnight"
