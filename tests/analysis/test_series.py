"""What is drawn is what happened: areas, peaks and quantiles survive the downsampling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from analysis.percentiles import Percentiles
from analysis.runs import RunRecord
from analysis.series import (
    MOST_BUCKETS,
    QUANTILES,
    actions,
    bucket_width,
    latency,
    latency_cdf,
    representatives,
    series,
)


@given(st.integers(1, 10_000_000))
def test_a_run_fits_into_the_most_buckets_and_no_width_less_would_do(span_s: int) -> None:
    width = bucket_width(span_s)
    assert -(-span_s // width) <= MOST_BUCKETS
    assert width == 1 or -(-span_s // (width - 1)) > MOST_BUCKETS


def repetition(experiment: str, seed: int) -> RunRecord:
    return RunRecord(f"{experiment}-{seed}", Path(), experiment, "yahoo", "sine", experiment, "local", seed, 60.0)


def test_the_median_repetition_stands_for_its_experiment() -> None:
    runs = (
        [repetition("a", seed) for seed in range(5)] + [repetition("b", 7)] + [repetition("c", 1), repetition("c", 0)]
    )
    workers = pd.Series(
        {"a-0": 9.0, "a-1": 1.0, "a-2": 4.0, "a-3": 5.0, "a-4": 3.0, "b-7": 2.0, "c-0": 2.0, "c-1": 2.0}
    )
    assert [run.run_id for run in representatives(runs, workers)] == ["a-2", "b-7", "c-0"]


def test_the_quantiles_go_from_end_to_end_and_are_densest_in_the_tail() -> None:
    assert (QUANTILES[0], QUANTILES[-1]) == (0.0, 1.0)
    assert {0.001, 0.5, 0.95, 0.99, 0.999} <= set(QUANTILES)
    assert np.all(np.diff(QUANTILES) > 0)
    assert 150 <= len(QUANTILES) <= 250


@pytest.mark.spark
def test_buckets_keep_areas_and_peaks(spark: SparkSession, archive: Any, random_seconds: Any) -> None:
    long, short = random_seconds(1, length=1500), random_seconds(2, length=100)
    runs = [archive.run("long", long, experiment="x"), archive.run("short", short, experiment="y")]
    found = series(spark, runs, pd.Series({"long": 1500.0, "short": 100.0})).toPandas().sort_values("time_s")
    drawn = found[found["run_id"] == "long"]
    assert drawn["time_s"].tolist() == list(range(0, 1500, 3))
    assert set(drawn["experiment"]) == {"x"}
    table = pd.DataFrame(long)
    table["latency_p95_s"] = table["latency_p95_s"].astype(float)
    buckets = table.groupby(np.arange(1500) // 3)
    for name in ("workload", "throughput", "capacity", "workers_running", "workers_ready", "demand_workers", "cpu"):
        assert drawn[name].to_numpy() == pytest.approx(buckets[name].mean().to_numpy(), rel=1e-6)
    for name in ("backlog", "latency_p95_s"):
        assert drawn[name].to_numpy() == pytest.approx(buckets[name].max().to_numpy(), nan_ok=True)
    assert 3 * drawn["workers_running"].sum() == pytest.approx(table["workers_running"].sum())
    unchanged = found[found["run_id"] == "short"]
    assert unchanged["backlog"].tolist() == pytest.approx(short["backlog"].tolist())


@pytest.mark.spark
def test_the_latency_is_that_of_all_runs_of_an_experiment(
    spark: SparkSession, archive: Any, random_seconds: Any
) -> None:
    data = [random_seconds(seed) for seed in range(3)]
    silent = {"workers_running": [1] * 5}
    runs = [archive.run(f"run{index}", seconds, experiment=f"e{index // 2}") for index, seconds in enumerate(data)]
    runs.append(archive.run("silent", silent, experiment="silent"))
    table = latency_cdf(latency(spark, runs, Percentiles(QUANTILES)).toPandas())
    both = [value for seconds in data[:2] for value in seconds["latency_p95_s"] if value is not None]
    found = table[table["experiment"] == "e0"]
    assert found["quantile"].tolist() == list(QUANTILES)
    assert found["latency_s"].tolist() == pytest.approx(np.quantile(both, QUANTILES).tolist())
    assert set(table["experiment"]) == {"e0", "e1"}


@pytest.mark.spark
def test_actions_are_the_decisions_that_changed_something(
    spark: SparkSession, archive: Any, random_seconds: Any
) -> None:
    decision = {"target": "job", "wanted": 9, "reason": "CPU 90 %"}
    run = archive.run(
        "run",
        random_seconds(1),
        decisions=[
            decision | {"time_s": 0.0, "before": 2, "applied": 2},
            decision | {"time_s": 15.0, "before": 2, "applied": 4},
            decision | {"time_s": 30.0, "before": 4, "applied": 4},
            decision | {"time_s": 45.0, "before": 1, "applied": 2, "target": "region:eu"},
        ],
    )
    found = actions(spark, [run], pd.Series({"run": 60.0})).toPandas().sort_values("time_s")
    assert found[["experiment", "time_s", "target", "before", "applied", "reason", "n"]].to_numpy().tolist() == [
        ["experiment", 15.0, "job", 2, 4, "CPU 90 %", 1],
        ["experiment", 45.0, "region:eu", 1, 2, "CPU 90 %", 1],
    ]


@pytest.mark.spark
def test_of_the_actions_that_fall_on_one_point_the_first_up_and_the_first_down_are_kept(
    spark: SparkSession, archive: Any, random_seconds: Any
) -> None:
    steps = [(0.0, 2, 3), (1.0, 3, 5), (2.0, 5, 4), (9.0, 4, 5), (10.0, 5, 6)]
    decisions = [
        {"target": "job", "wanted": after, "reason": "", "time_s": time_s, "before": before, "applied": after}
        for time_s, before, after in steps
    ]
    run = archive.run("run", random_seconds(1), decisions=decisions)
    found = actions(spark, [run], pd.Series({"run": 7200.0})).toPandas().sort_values("time_s")
    kept = [[0, 2, 3, 3], [2, 5, 4, 1], [10, 5, 6, 1]]
    assert found[["time_s", "before", "applied", "n"]].to_numpy().tolist() == kept
