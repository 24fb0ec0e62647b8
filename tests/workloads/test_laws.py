"""Laws of the combinators and modifiers, over recorded curves of any kind."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workloads import examples, parse
from workloads.combine import Product, Sum
from workloads.modify import Clip, Repeat, Shift, Stretch, ToPeak
from workloads.shapes import Constant, Daily, Sine
from workloads.trace import Trace

rates = st.floats(0, 1e9, allow_subnormal=False).map(lambda rate: round(rate, 3))
lengths = st.integers(2, 60)


@st.composite
def recorded(draw, length=None):
    """A trace with a value every second."""
    values = draw(arrays(np.float64, length or draw(lengths), elements=rates))
    return Trace("recorded", np.arange(float(len(values))), values)


@st.composite
def pairs(draw):
    length = draw(lengths)
    return draw(recorded(length)), draw(recorded(length))


def whole(workload):
    return workload.curve(workload.length_s)


def slack_of(trace):
    """Stretching goes through a running total, so a small rate is as exact as the large ones around it."""
    return 1e-9 * (1 + trace.samples.max())


@given(pairs())
def test_a_sum_adds_and_does_not_care_about_order(pair):
    left, right = pair
    assert np.array_equal(whole(Sum((left, right))), left.samples + right.samples)
    assert np.array_equal(whole(Sum((left, right))), whole(Sum((right, left))))


@given(pairs(), st.floats(1e-3, 1e3))
def test_a_scalar_may_come_before_or_after_a_sum(pair, factor):
    left, right = pair
    scalar = Constant(peak=factor)
    before = Sum((Product((left, scalar)), Product((right, scalar))))
    assert whole(Product((Sum((left, right)), scalar))) == pytest.approx(whole(before), rel=1e-12)


@given(recorded())
def test_one_is_neutral(trace):
    assert np.array_equal(whole(Product((trace, Constant(peak=1.0)))), trace.samples)
    assert np.array_equal(whole(Sum((trace,))), trace.samples)


@given(recorded(), st.floats(1e-3, 1e9))
def test_scaled_to_a_peak_the_highest_rate_is_the_peak(trace, peak):
    assume(trace.samples.max() > 0)
    scaled = whole(ToPeak(trace, peak))
    assert scaled.max() == peak
    assert scaled * trace.samples.max() == pytest.approx(trace.samples * peak, rel=1e-9)
    assert whole(ToPeak(ToPeak(trace, 7.0), peak)) == pytest.approx(scaled, rel=1e-9)


def test_nothing_scaled_is_nothing():
    silence = Trace("silence", np.arange(3.0), np.zeros(3))
    assert whole(ToPeak(silence, 5.0)).tolist() == [0, 0, 0]


@given(recorded(), rates, rates)
def test_clip_bounds_and_leaves_the_rest_alone(trace, one, other):
    low, high = sorted((one, other))
    clipped = whole(Clip(trace, low, high))
    inside = (low <= trace.samples) & (trace.samples <= high)
    assert low <= clipped.min() <= clipped.max() <= high
    assert np.array_equal(clipped[inside], trace.samples[inside])
    assert np.array_equal(whole(Clip(Clip(trace, low, high), low, high)), clipped)


def test_clip_bounds_in_order():
    with pytest.raises(ValueError, match="the lower bound 2k is above 1k"):
        Clip(Constant(peak=1.0), 2000, 1000)


@given(recorded(), st.integers(-200, 200), st.integers(-200, 200))
def test_shifts_of_a_trace_add_up_and_come_back(trace, one, other):
    assert np.array_equal(whole(Shift(trace, 0)), trace.samples)
    assert np.array_equal(whole(Shift(Shift(trace, one), other)), whole(Shift(trace, one + other)))
    assert np.array_equal(whole(Shift(trace, trace.length_s)), trace.samples)
    assert sorted(whole(Shift(trace, one))) == sorted(trace.samples)


@given(recorded(), st.integers(-200, 200), st.data())
def test_a_run_shorter_than_a_shifted_trace_takes_its_beginning(trace, later, data):
    seconds = data.draw(st.integers(1, trace.length_s))
    moved = Shift(trace, later)
    expected = [trace.samples[(second - later) % trace.length_s] for second in range(seconds)]
    assert moved.curve(seconds).tolist() == expected
    assert not moved.fits_run


@given(recorded(), st.integers(-200, 200), st.integers(1, 200))
def test_shifts_of_a_cycle_add_up_and_come_back(trace, later, seconds):
    endless = Repeat(trace, trace.length_s)
    moved = Shift(endless, later).curve(seconds)
    assert moved.tolist() == [trace.samples[(second - later) % trace.length_s] for second in range(seconds)]
    assert np.array_equal(Shift(endless, later + trace.length_s).curve(seconds), moved)


@given(st.integers(0, 86_400))
def test_a_shifted_day_is_the_same_day_later(later):
    day = Daily(peak=100.0, day="1h")
    week = day.curve(7 * 3600)
    assert np.allclose(Shift(day, later).curve(7 * 3600), np.roll(week, later), rtol=1e-9)
    assert np.allclose(Shift(day, later).curve(600), np.roll(week, later)[:600], rtol=1e-9)


@given(recorded(), st.integers(1, 300))
def test_repeat_tiles(trace, seconds):
    repeated = Repeat(trace, trace.length_s).curve(seconds)
    assert repeated.tolist() == [trace.samples[second % trace.length_s] for second in range(seconds)]
    again = Repeat(Repeat(trace, trace.length_s), 2 * trace.length_s).curve(seconds)
    assert np.array_equal(again, repeated)


def test_a_trace_cannot_be_repeated_beyond_its_end():
    trace = Trace("short", np.arange(3.0), np.ones(3))
    with pytest.raises(ValueError, match="lasts 3s, so it cannot be repeated every 4s"):
        Repeat(trace, 4)


@given(recorded())
def test_stretched_to_its_own_length_nothing_changes(trace):
    assert np.array_equal(whole(Stretch(trace, trace.length_s)), trace.samples)


@given(recorded(), st.integers(1, 400))
def test_stretch_keeps_the_mean_and_the_bounds(trace, to):
    stretched = Stretch(trace, to)
    assert stretched.length_s == to
    rates, slack = whole(stretched), slack_of(trace)
    assert rates.mean() == pytest.approx(trace.samples.mean(), abs=slack)
    assert trace.samples.min() - slack <= rates.min() <= rates.max() <= trace.samples.max() + slack


@given(recorded(), st.integers(1, 6))
def test_stretched_by_a_whole_factor_each_second_lasts_that_long(trace, factor):
    slow = Stretch(trace, trace.length_s * factor)
    slack = slack_of(trace)
    assert np.allclose(whole(slow), np.repeat(trace.samples, factor), rtol=0, atol=slack)
    assert np.allclose(whole(Stretch(slow, trace.length_s)), trace.samples, rtol=0, atol=slack)


@given(recorded(), st.integers(1, 200), st.integers(1, 300))
def test_a_stretched_cycle_is_the_cycle_of_the_stretched(trace, to, seconds):
    endless = Stretch(Repeat(trace, trace.length_s), to)
    assert (endless.length_s, endless.cycle_s) == (None, to)
    expected = np.resize(whole(Stretch(trace, to)), seconds)
    assert np.allclose(endless.curve(seconds), expected, rtol=0, atol=slack_of(trace))


def test_a_workload_without_a_span_is_laid_out():
    sine = Sine(peak=100.0, periods=2)
    assert np.array_equal(Stretch(sine, 300).curve(100), sine.curve(300)[:100])
    assert Stretch(sine, 300).length_s == 300


def test_sums_end_with_their_shortest_part_and_repeat_with_their_longest_cycle():
    short, long = (Trace("t", np.arange(float(length)), np.ones(length)) for length in (5, 9))
    assert Sum((short, long, Constant(peak=1.0))).length_s == 5
    hourly, daily = Sine(peak=1.0, period="1h"), Daily(peak=1.0, day="1d", weekend=1)
    assert Sum((hourly, daily, Constant(peak=1.0))).cycle_s == 86_400
    assert Sum((hourly, Sine(peak=1.0, period="7m"))).cycle_s is None
    assert Sum((hourly, Sine(peak=1.0))).cycle_s is None
    with pytest.raises(ValueError, match="at least one part"):
        Sum(())


@pytest.mark.parametrize(
    ("name", "cycle"),
    [(name, parse(spec).cycle_s) for name, spec in examples() if parse(spec).cycle_s and not parse(spec).length_s],
)
def test_a_cycle_is_a_cycle(name, cycle):
    rates = parse(dict(examples())[name]).curve(3 * cycle)
    assert rates[cycle:] == pytest.approx(rates[:-cycle], rel=1e-6)
