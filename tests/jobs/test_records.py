"""Rows of bytes: whole columns at once give what one row at a time would."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jobs.records import Layout, choices, column, digits, pick, times

numbers = st.integers(0, 10**6 - 1)


@given(st.lists(st.tuples(st.sampled_from(["ann", "bob", "eve"]), numbers), min_size=1, max_size=50))
def test_rows_are_what_was_put_in(rows: list[tuple[str, int]]) -> None:
    layout = Layout('{"name":"<name>","number":<number>}', name=3, number=6)
    names, values = zip(*rows, strict=True)
    made = layout.rows(len(rows), name=column(names), number=digits(np.array(values), 6))
    assert [tuple(json.loads(row).values()) for row in made] == rows
    assert {len(row) for row in made} == {layout.size}


def test_one_value_can_stand_in_all_rows() -> None:
    layout = Layout("<time>!", time=13)
    assert layout.rows(3, time=times(1_700_000_000_000)) == [b"1700000000000!"] * 3
    assert layout.rows(2, time=times(np.array([10**12, 10**12 + 1]))) == [b"1000000000000!", b"1000000000001!"]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=20), st.floats(0, 1, exclude_max=True))
def test_a_pick_is_one_of_the_choices(weights: list[float], share: float) -> None:
    picked = pick(choices(np.array(weights)), np.array([share]))[0]
    assert 0 <= picked < len(weights)


def test_picks_follow_the_weights() -> None:
    shares = (np.arange(1000) + 0.5) / 1000
    counts = np.bincount(pick(choices(np.array([1.0, 3.0, 6.0])), shares))
    assert counts.tolist() == [100, 300, 600]
