from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from analysis.percentiles import EXACT_UP_TO, Percentiles

pytestmark = pytest.mark.spark

SHARES = (0.0, 0.01, 0.5, 0.95, 0.999, 1.0)
GROUPS = st.lists(
    st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), min_size=1, max_size=30), min_size=5, max_size=30
)


def taken(spark: SparkSession, groups: list[list[float | None]], percentiles: Percentiles) -> list[list[float] | None]:
    rows = [(index, value) for index, values in enumerate(groups) for value in values]
    frame = spark.createDataFrame(rows, "group int, value double").groupBy("group")
    picked = frame.agg(percentiles.gather("value").alias("value")).select(
        "group", percentiles.pick("value").alias("value")
    )
    found = {row["group"]: row["value"] for row in picked.collect()}
    return [found[index] for index in range(len(groups))]


@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(GROUPS)
def test_exact_ones_are_numpys(spark: SparkSession, groups: list[list[float | None]]) -> None:
    for values, found in zip(groups, taken(spark, groups, Percentiles(SHARES)), strict=True):
        known = [value for value in values if value is not None]
        if known:
            assert found == pytest.approx(np.quantile(known, SHARES), rel=1e-9, abs=1e-6)
        else:
            assert found is None


def test_approximate_ones_keep_to_their_rank_error(spark: SparkSession) -> None:
    values = np.random.default_rng(3).lognormal(0, 2, 30_000)
    percentiles = Percentiles(SHARES, exact=False)
    (found,) = taken(spark, [values.tolist()], percentiles)
    assert found is not None
    ordered = np.sort(values)
    ranks = np.searchsorted(ordered, found) / len(ordered)
    assert ranks == pytest.approx(SHARES, abs=percentiles.rank_error + 1 / len(ordered))
    assert percentiles.rank_error == 1e-4


def test_approximate_ones_of_nothing_are_null(spark: SparkSession) -> None:
    assert taken(spark, [[None, None]], Percentiles(SHARES, exact=False)) == [None]


def test_only_huge_groups_are_approximated() -> None:
    assert Percentiles.for_groups_of(EXACT_UP_TO).exact
    assert Percentiles.for_groups_of(EXACT_UP_TO).rank_error == 0
    assert not Percentiles.for_groups_of(EXACT_UP_TO + 1).exact
