"""The SPEC RG metrics against sums written out second by second."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from analysis import elasticity

pytestmark = pytest.mark.spark

Step = tuple[int | None, int]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Demand and supply of each second, as steps of a few seconds; demand is unknown now and then."""
    pieces = draw(
        st.lists(
            st.tuples(st.integers(1, 5), st.one_of(st.none(), st.integers(0, 6)), st.integers(0, 6)),
            min_size=1,
            max_size=12,
        )
    )
    return [(demand, supply) for length, demand, supply in pieces for _ in range(length)]


def by_hand(seconds: list[Step]) -> dict[str, float] | None:
    """The definitions, added up one second after the other."""
    known = [(demand, supply) for demand, supply in seconds if demand is not None]
    if not known:
        return None
    length = len(known)
    over = under = time_over = time_under = 0.0
    for demand, supply in known:
        relative_to = demand if demand > 0 else 1
        if supply > demand:
            over += (supply - demand) / relative_to
            time_over += 1
        elif supply < demand:
            under += (demand - supply) / relative_to
            time_under += 1
    changes = 0
    for (demand_before, supply_before), (demand, supply) in pairwise(seconds):
        if demand is not None and demand_before is not None:
            changes += (supply != supply_before) - (demand != demand_before)
    return {
        "accuracy_over": over / length,
        "accuracy_under": under / length,
        "timeshare_over": time_over / length,
        "timeshare_under": time_under / length,
        "jitter": 3600 * changes / length,
    }


def by_spark(spark: SparkSession, runs: list[list[Step]]) -> dict[str, dict[str, Any]]:
    rows = [(str(run), time, *second) for run, seconds in enumerate(runs) for time, second in enumerate(seconds)]
    rows.reverse()  # a table has no order
    frame = spark.createDataFrame(rows, "run_id string, time_s int, demand_workers int, workers_ready int")
    found = elasticity.with_changes(frame).groupBy("run_id").agg(*elasticity.metrics()).collect()
    return {row["run_id"]: {name: row[name] for name in elasticity.NAMES} for row in found}


# Few examples of many runs each, and no shrinking: a query costs more than the rows in it.
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps(), min_size=20, max_size=60))
def test_the_metrics_are_the_definitions(spark: SparkSession, runs: list[list[Step]]) -> None:
    found = by_spark(spark, runs)
    for run, seconds in enumerate(runs):
        expected = by_hand(seconds)
        if expected is None:
            assert set(found[str(run)].values()) == {None}
        else:
            assert found[str(run)] == pytest.approx(expected)


def test_an_example_by_arithmetic(spark: SparkSession) -> None:
    """Ten seconds: four fit, four lack 1 of 4, two have 2 too many over 2; supply changes once, demand twice."""
    example: list[Step] = [(3, 3)] * 4 + [(4, 3)] * 4 + [(2, 4)] * 2
    found = by_spark(spark, [example])["0"]
    assert found == pytest.approx(
        {
            "accuracy_over": 2 * (2 / 2) / 10,
            "accuracy_under": 4 * (1 / 4) / 10,
            "timeshare_over": 0.2,
            "timeshare_under": 0.4,
            "jitter": -1 / 10 * 3600,
        }
    )


def test_a_perfect_autoscaler_scores_zero(spark: SparkSession) -> None:
    found = by_spark(spark, [[(demand, demand) for demand in (1, 1, 2, 5, 3, 3)]])["0"]
    assert all(math.isclose(value, 0, abs_tol=1e-12) for value in found.values())
