"""Runs whose rows are further apart than a second have the same figures as if every second had its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from analysis import results
from analysis.aggregate import aggregate
from analysis.cost import Objectives
from analysis.errors import AnalysisError
from analysis.percentiles import Percentiles
from analysis.run_metrics import figures, from_decisions, from_events, from_notes, from_seconds
from analysis.runs import RunRecord, check, step_s
from analysis.series import MOST_BUCKETS, bucket_width, series
from analysis.spark import collect

STEP_S = 60
OBJECTIVES = Objectives(latency_p95_s=0.4, backlog=2500, worker_hour=0.5, violation_minute=0.1)
#: Percentiles over rows depend, a little, on how often each value stands there.
SAME = [
    *("cost", "worker_seconds", "mean_workers", "latency_mean", "slo_violation_share", "backlog_max", "downtime"),
    *("recovery_time", "throughput", "accuracy_over", "accuracy_under", "timeshare_over", "timeshare_under", "jitter"),
    "span_s",
]


def by_the_minute(archive: Any, run_id: str, minutes: dict[str, Any], **about: Any) -> RunRecord:
    run = archive.run(run_id, minutes, **about)
    rows = pd.DataFrame(minutes)
    archive.write(run.folder, run_id, "metrics", rows.assign(time_s=STEP_S * np.arange(len(rows)), operator="job"))
    (run.folder / "run.json").write_text(json.dumps({"step_s": STEP_S}))
    return run


def by_the_second(archive: Any, run_id: str, minutes: dict[str, Any], **about: Any) -> RunRecord:
    return archive.run(run_id, {name: np.repeat(values, STEP_S) for name, values in minutes.items()}, **about)


@pytest.mark.spark
def test_a_row_a_minute_or_sixty_alike_are_the_same_run(spark: SparkSession, archive: Any, random_seconds: Any) -> None:
    events = [
        (60, "rescale_start"),
        (61, "outage_start"),
        (75.5, "outage_end"),
        (300, "recovered"),
        (900, "outage_start"),
    ]
    about = {"events": events, "duration_s": 400.0 * STEP_S}
    minutes = random_seconds(3)
    runs = [by_the_minute(archive, "minutes", minutes, **about), by_the_second(archive, "seconds", minutes, **about)]
    parts = collect(
        from_seconds(spark, runs, OBJECTIVES, Percentiles()),
        from_decisions(spark, runs),
        from_notes(spark, runs),
        from_events(spark, runs),
    )
    found = figures(runs, parts, OBJECTIVES)
    assert found.loc["minutes", SAME].to_dict() == pytest.approx(found.loc["seconds", SAME].to_dict())
    assert found.loc["minutes", "span_s"] == 400 * STEP_S
    assert found.loc["minutes", "worker_seconds"] == STEP_S * sum(minutes["workers_running"])
    assert found.loc["minutes", "jitter"] != 0
    assert found.loc["minutes", "slo_violation_share"] > 0


@pytest.mark.spark
def test_buckets_hold_whole_rows(spark: SparkSession, archive: Any, random_seconds: Any) -> None:
    """1500 rows in at most 720 buckets are three a bucket; 100 rows are a bucket each."""
    long, short = random_seconds(1, length=1500), random_seconds(2, length=100)
    runs = [by_the_minute(archive, "long", long), by_the_minute(archive, "short", short, experiment="other")]
    spans = pd.Series({"long": 1500.0 * STEP_S, "short": 100.0 * STEP_S})
    found = series(spark, runs, spans).toPandas().sort_values("time_s")
    drawn = found[found["run_id"] == "long"]
    assert drawn["time_s"].tolist() == list(range(0, 1500 * STEP_S, 3 * STEP_S))
    assert drawn["workload"].to_numpy() == pytest.approx(np.reshape(long["workload"], (-1, 3)).mean(axis=1))
    unchanged = found[found["run_id"] == "short"]
    assert unchanged["time_s"].tolist() == list(range(0, 100 * STEP_S, STEP_S))
    assert unchanged["backlog"].tolist() == pytest.approx(short["backlog"].tolist())


@given(st.integers(1, 200_000), st.sampled_from([1, 5, 60, 300]))
def test_a_bucket_is_a_whole_number_of_rows_and_no_fewer_would_do(rows: int, row_s: int) -> None:
    width = bucket_width(rows * row_s, row_s)
    each, rest = divmod(width, row_s)
    assert rest == 0
    assert -(-rows // each) <= MOST_BUCKETS
    assert each == 1 or -(-rows // (each - 1)) > MOST_BUCKETS


@pytest.mark.spark
def test_a_campaign_may_have_both(spark: SparkSession, archive: Any, random_seconds: Any, tmp_path: Path) -> None:
    minutes = random_seconds(3, length=50)
    runs = [
        by_the_minute(archive, "minutes", minutes, experiment="a", autoscaler="a"),
        by_the_second(archive, "seconds", minutes, experiment="b", autoscaler="b"),
    ]
    aggregate(runs, tmp_path, objectives=OBJECTIVES, suite="both")
    summary = results.read(tmp_path, "summary").pivot_table(index="metric", columns="experiment", values="mean")
    assert summary.loc["cost", "a"] == pytest.approx(summary.loc["cost", "b"])
    assert summary.loc["worker_seconds", "a"] == pytest.approx(summary.loc["worker_seconds", "b"])


def test_the_distance_of_rows_stands_in_run_json(archive: Any) -> None:
    run = archive.run("run", {"throughput": [1.0]})
    assert step_s(run) == 1.0
    (run.folder / "run.json").write_text('{"seed": 3}')
    assert step_s(run) == 1.0
    (run.folder / "run.json").write_text('{"step_s": 60}')
    assert step_s(run) == 60.0


@pytest.mark.parametrize(
    "content", ['{"step_s": 0}', '{"step_s": "a minute"}', '{"step_s": true}', "[1]", "{torn", "\xff"]
)
def test_a_distance_that_is_none_is_told_in_one_line(archive: Any, content: str) -> None:
    run = archive.run("run", {"throughput": [1.0]})
    (run.folder / "run.json").write_text(content, encoding="latin-1")
    with pytest.raises(AnalysisError, match=r"^run run: [^\n]*run\.json[^\n]*$"):
        check([run])
