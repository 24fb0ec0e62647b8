"""Numbers as people write them, there and back."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from workloads.portion import parse_level, parse_moment, parse_span
from workloads.units import (
    Duration,
    Quantity,
    Share,
    format_duration,
    format_quantity,
    format_share,
    parse_count,
    parse_duration,
    parse_flag,
    parse_positive,
    parse_positive_rate,
    parse_quantity,
    parse_rate,
    parse_share,
    parse_whole_seconds,
    shown,
)

NEVER_NUMBERS = [True, False, None, [], [1], {}, {"a": 1}, object(), "", " ", "abc", "1..2", "--5", "0x10"]
NOT_FINITE = [math.nan, math.inf, -math.inf, "nan", "inf", "-inf", "1e999", 10**400]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("15m", 900),
        ("6h", 21_600),
        ("2d", 172_800),
        ("1h30m", 5_400),
        ("1h 30m", 5_400),
        ("1d2h3m4s5ms", 93_784.005),
        ("250ms", 0.25),
        ("1.5h", 5_400),
        (".5m", 30),
        ("2m5ms", 120.005),
        (" 7 s ", 7),
        ("42", 42),
        (42, 42),
        (0.5, 0.5),
        (np.float64(3), 3),
        (np.int32(3), 3),
        (0, 0),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds, rel=1e-12)
    assert type(parse_duration(text)) is float


@pytest.mark.parametrize("value", [*NEVER_NUMBERS, *NOT_FINITE, "6x", "6H", "30m1h", "1h1h", "s", "1 0s", "h1", "5 km"])
def test_what_is_not_a_duration(value):
    with pytest.raises(ValueError, match=r"is not a duration; write e\.g\. 90s, 15m, 6h or 2d"):
        parse_duration(value)


def test_the_message_quotes_what_was_written():
    with pytest.raises(ValueError, match=r'^"6x" is not a duration; write e.g. 90s, 15m, 6h or 2d$'):
        parse_duration("6x")
    with pytest.raises(ValueError, match=r"^true is not a duration"):
        parse_duration(True)


@pytest.mark.parametrize("value", [-1, "-5s", "-1h30m"])
def test_negative_durations_only_where_they_make_sense(value):
    with pytest.raises(ValueError, match="negative"):
        parse_duration(value)
    assert parse_duration(value, signed=True) < 0


def test_a_sign_covers_the_whole_duration():
    assert parse_duration("-1h30m", signed=True) == -5_400


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("60k", 6e4),
        ("60K", 6e4),
        ("1.5M", 1.5e6),
        ("2G", 2e9),
        ("3T", 3e12),
        ("7", 7),
        (7, 7),
        ("1e3", 1e3),
        ("2 k", 2e3),
    ],
)
def test_quantities(text, number):
    assert parse_quantity(text) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize("value", [*NEVER_NUMBERS, *NOT_FINITE, "60,000", "60m", "60kk", "5%", "k"])
def test_what_is_not_a_quantity(value):
    with pytest.raises(ValueError, match=r"is not a quantity; write e\.g\."):
        parse_quantity(value)


@pytest.mark.parametrize("value", [-1, "-60k", -0.5])
def test_quantities_are_not_negative(value):
    with pytest.raises(ValueError, match="is negative"):
        parse_quantity(value)


@pytest.mark.parametrize(
    ("text", "share"), [("80%", 0.8), ("0%", 0), ("12.5 %", 0.125), (0.8, 0.8), ("0.8", 0.8), (1, 1)]
)
def test_shares(text, share):
    assert parse_share(text) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("value", [*NEVER_NUMBERS, *NOT_FINITE, 80, "101%", -0.1, "-5%", "%"])
def test_what_is_not_a_share(value):
    with pytest.raises(ValueError, match=r"is not a share from 0% to 100%; write e\.g\. 80% or 0\.8"):
        parse_share(value)


def test_a_share_may_exceed_the_whole_where_that_is_said():
    assert parse_share("150%", largest=2) == 1.5
    with pytest.raises(ValueError, match="from 0% to 200%"):
        parse_share("250%", largest=2)


def test_bounds():
    assert parse_rate("1T") == 1e12
    with pytest.raises(ValueError, match="more than 1T events/s"):
        parse_rate("2T")
    with pytest.raises(ValueError, match="no load at all"):
        parse_positive_rate(0)
    with pytest.raises(ValueError, match="not a whole number of seconds"):
        parse_whole_seconds("250ms")
    with pytest.raises(ValueError, match="shorter than 1s"):
        parse_whole_seconds(0)
    with pytest.raises(ValueError, match="longer than 366d"):
        parse_whole_seconds("367d")
    assert parse_whole_seconds("366d") == 366 * 86_400


@pytest.mark.parametrize("value", [*NEVER_NUMBERS, *NOT_FINITE, 0, -1])
def test_what_is_not_positive(value):
    with pytest.raises(ValueError, match="not a number above 0"):
        parse_positive(value)
    with pytest.raises(ValueError, match="not a whole number from 1"):
        parse_count(value)


@pytest.mark.parametrize("value", [0, 1, "true", None, "yes"])
def test_flags_are_booleans(value):
    with pytest.raises(ValueError, match="neither true nor false"):
        parse_flag(value)


def test_only_a_percent_sign_makes_a_level_relative():
    assert parse_level("50%").of(1_000) == 500
    assert parse_level(0.5).of(1_000) == 0.5
    assert parse_level("2k").of(1_000) == 2_000
    assert parse_moment("25%").of(3_600) == 900
    assert parse_moment("90s").of(3_600) == 90
    assert [str(parse_level("12.5%")), str(parse_level("2k")), str(parse_moment("90s"))] == ["12.5%", "2k", "1m30s"]
    assert parse_moment(0).of(10) == 0
    for nothing in (0, "0s", "0%"):
        with pytest.raises(ValueError, match="no time at all"):
            parse_span(nothing)


@given(st.floats(0, 1e9))
def test_a_duration_reads_back(seconds):
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, rel=1e-9, abs=5.1e-4)


@given(st.integers(0, 10**9))
def test_whole_seconds_read_back_exactly(seconds):
    assert parse_duration(format_duration(seconds)) == seconds
    assert parse_duration(format_duration(-seconds), signed=True) == -seconds


@given(st.floats(0, 1e15))
def test_a_quantity_reads_back(value):
    assert parse_quantity(format_quantity(value)) == pytest.approx(value, rel=5.1e-4)


@given(st.integers(0, 1000))
def test_a_share_reads_back(permille):
    assert parse_share(format_share(permille / 1000)) == pytest.approx(permille / 1000, rel=1e-9)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.9996, "1m"), (0.9999, "1s"), (0.9994, "999.4ms"), (0.001, "1ms"), (3600, "1h"), (-90, "-1m30s")],
)
def test_formatted_durations_carry_over(seconds, text):
    assert format_duration(seconds) == text


@given(st.one_of(st.text(max_size=200), st.integers(), st.floats(), st.lists(st.integers())))
def test_a_shown_value_is_one_short_line(value):
    assert len(shown(value)) <= 42
    assert shown(value).isprintable()


def test_the_types_validate_in_a_model():
    class Settings(BaseModel):
        every: Duration
        rate: Quantity
        target: Share

    settings = Settings.model_validate({"every": "1m", "rate": "2k", "target": "80%"})
    assert (settings.every, settings.rate, settings.target) == (60.0, 2_000.0, 0.8)
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"every": "6x", "rate": True, "target": 80})
    assert [error["loc"] for error in caught.value.errors()] == [("every",), ("rate",), ("target",)]
