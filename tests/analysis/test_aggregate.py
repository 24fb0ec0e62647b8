"""A campaign from its runs to its tables."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from analysis import results
from analysis.aggregate import Objectives, RunRecord, aggregate
from analysis.catalogue import METRICS
from analysis.errors import AnalysisError
from experiments.schema import RESULT_TABLES

TABLES = ("summary", "tests", "run_summary", "series", "latency_cdf", "actions")
OBJECTIVES = Objectives(latency_p95_s=0.5, worker_hour=0.1, currency="USD")
DECISIONS = [
    {"time_s": 30.0, "target": "job", "before": 1, "applied": 2, "reason": "later"},
    {"time_s": 15.0, "target": "job", "before": 2, "applied": 1, "reason": "earlier"},
]


@pytest.fixture
def campaign(archive: Any, random_seconds: Any) -> list[RunRecord]:
    """Two autoscalers on one load, three repetitions each; the second autoscaler first in the alphabet."""
    return [
        archive.run(
            f"{autoscaler}-{seed}",
            random_seconds(10 * number + seed),
            decisions=DECISIONS,
            events=[(5, "rescale_start"), (5, "outage_start"), (9, "outage_end"), (30, "recovered")],
            experiment=f"yahoo-{autoscaler}",
            autoscaler=autoscaler,
            seed=seed,
        )
        for number, autoscaler in enumerate(["hpa", "daedalus"])
        for seed in range(3)
    ]


@pytest.mark.spark
def test_all_tables_are_written_by_the_schema(spark: SparkSession, campaign: list[RunRecord], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    aggregate(campaign, folder, objectives=OBJECTIVES, suite="smoke")
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.parquet" for name in (*TABLES, "excerpts", "notes")),
        "aggregation.json",
    }
    for name in TABLES:
        assert pq.read_schema(folder / f"{name}.parquet").equals(RESULT_TABLES[name])
        assert not results.read(folder, name).empty
    summary = results.read(folder, "summary")
    assert summary["experiment"].unique().tolist() == ["yahoo-hpa", "yahoo-daedalus"]
    assert set(summary["n"]) == {3}
    assert set(summary.loc[summary["metric"] == "cost", "unit"]) == {"USD"}
    values = results.read(folder, "run_summary")
    by_run = values.pivot_table(index="experiment", columns="metric", values="value", sort=False)
    means = summary.pivot_table(index="experiment", columns="metric", values="mean", sort=False)
    pd.testing.assert_frame_equal(by_run, means)
    not_told = {"decision_ms_p99", "worker_seconds_profiled", "mean_nodes"}
    noted_by_nobody = {"capacity_error", "forecast_error", "recovery_underestimated", "learning_time"}
    assert set(values["metric"]) == set(METRICS) - not_told - noted_by_nobody
    assert by_run["downtime"].tolist() == [4, 4]
    assert by_run["recovery_time"].tolist() == [25, 25]


@pytest.mark.spark
def test_what_is_drawn_is_in_order_and_of_one_run(
    spark: SparkSession, campaign: list[RunRecord], tmp_path: Path
) -> None:
    aggregate(campaign, tmp_path, objectives=OBJECTIVES, suite="smoke")
    drawn = results.read(tmp_path, "series")
    assert drawn.groupby("experiment", sort=False)["run_id"].nunique().to_dict() == {
        "yahoo-hpa": 1,
        "yahoo-daedalus": 1,
    }
    assert all(times.is_monotonic_increasing for _, times in drawn.groupby("experiment")["time_s"])
    values = results.read(tmp_path, "run_summary").query("metric == 'mean_workers'")
    for experiment, repetitions in values.groupby("experiment"):
        median = repetitions.sort_values("value")["run_id"].iloc[1]
        assert set(drawn.loc[drawn["experiment"] == experiment, "run_id"]) == {median}
    actions = results.read(tmp_path, "actions")
    assert actions["reason"].tolist() == ["earlier", "later"] * 2
    cdf = results.read(tmp_path, "latency_cdf")
    assert all(latency.is_monotonic_increasing for _, latency in cdf.groupby("experiment")["latency_s"])


@pytest.mark.spark
def test_how_the_tables_were_made_is_written_beside_them(
    spark: SparkSession, campaign: list[RunRecord], tmp_path: Path
) -> None:
    aggregate(campaign, tmp_path, objectives=OBJECTIVES, suite="smoke")
    facts = results.read_provenance(tmp_path)
    assert (facts["suite"], facts["runs"], facts["rows"]) == ("smoke", 6, 6 * 400)
    assert (facts["percentiles"], facts["rank_error"], facts["latency_cdf_rank_error"]) == ("exact", 0, 0)
    assert facts["spark"] == spark.version
    assert facts["objectives"]["latency_p95_s"] == 0.5
    assert facts["seconds"] > 0


@pytest.mark.spark
def test_one_run_alone_without_objectives(spark: SparkSession, archive: Any, tmp_path: Path) -> None:
    """The least there can be: a repetition, no decision, no event, no latency, no demand."""
    run = archive.run("only", {"throughput": [1.0, 2.0], "backlog": [0.0, 1.0], "workers_running": [1, 1]})
    aggregate([run], tmp_path, objectives=Objectives(), suite="smoke")
    summary = results.read(tmp_path, "summary").set_index("metric")
    assert set(summary["n"]) == {1}
    assert summary[["std", "ci_low", "ci_high"]].isna().all(axis=None)
    assert summary["mean"].to_dict() == pytest.approx(
        {
            "cost": 2 / 3600,
            "worker_seconds": 2,
            "mean_workers": 1,
            "scaling_actions": 0,
            "backlog_max": 1,
            "downtime": 0,
            "throughput": 1.5,
        }
    )
    assert summary.loc["cost", "unit"] == "worker h"
    for empty in ("tests", "latency_cdf", "actions"):
        assert results.read(tmp_path, empty).empty
        assert pq.read_schema(tmp_path / f"{empty}.parquet").equals(RESULT_TABLES[empty])
    assert len(results.read(tmp_path, "series")) == 2


@pytest.mark.spark
def test_folders_may_have_any_name(spark: SparkSession, archive: Any, tmp_path: Path) -> None:
    archive.folder = archive.folder / "a [strange] {name} with * and 100 % ?"
    run = archive.run("only", {"throughput": [1.0], "workers_running": [1]})
    aggregate([run], tmp_path / "results [1]", objectives=Objectives(), suite="smoke")
    assert results.read(tmp_path / "results [1]", "run_summary")["run_id"].unique().tolist() == ["only"]


def test_runs_that_cannot_be_aggregated_are_told_in_one_line(campaign: list[RunRecord], tmp_path: Path) -> None:
    first = campaign[0]

    def refused(runs: list[RunRecord]) -> str:
        with pytest.raises(AnalysisError) as refusal:
            aggregate(runs, tmp_path / "results", objectives=OBJECTIVES, suite="smoke")
        assert "\n" not in str(refusal.value)
        return str(refusal.value)

    assert refused([]) == "there is no finished run to aggregate"
    assert refused([*campaign, first]) == "the run hpa-0 is listed 2 times"
    twin = dataclasses.replace(first, run_id="twin", experiment="another")
    assert refused([*campaign, twin]).startswith("the experiments yahoo-hpa and another share job yahoo")
    (first.folder / "events.parquet").unlink()
    assert refused(campaign).startswith("run hpa-0 has no events.parquet in")
    (first.folder / "events.parquet").write_text("torn")
    assert refused(campaign).startswith("run hpa-0: events.parquet cannot be read")
    assert not (tmp_path / "results").exists()


@pytest.mark.spark
def test_a_torn_table_is_told_in_one_line(spark: SparkSession, campaign: list[RunRecord], tmp_path: Path) -> None:
    path = campaign[0].folder / "decisions.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"?" * 200 + content[204:])
    with pytest.raises(AnalysisError, match=r"^[^\n]*decisions\.parquet[^\n]*$"):
        aggregate(campaign, tmp_path, objectives=OBJECTIVES, suite="smoke")
