"""Long runs are shown more closely at both ends, and what policies note is averaged from the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis import excerpts
from analysis.excerpts import FIRST, LAST, learning_times, notes, running_means


@pytest.fixture
def short_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds are an excerpt, and forty a long run."""
    monkeypatch.setattr(excerpts, "EXCERPT_S", 10)
    monkeypatch.setattr(excerpts, "LONG_S", 40)


@pytest.mark.usefixtures("short_days")
def test_the_first_and_the_last_days_of_long_runs(spark: SparkSession, archive: Any) -> None:
    columns = {"workload": range(50), "latency_mean_s": [0.5] * 50, "workers_running": [3] * 50, "nodes": range(50)}
    long = archive.run("long", columns)
    short = archive.run("short", {name: list(values)[:30] for name, values in columns.items()}, experiment="other")
    spans = pd.Series({"long": 50.0, "short": 30.0})
    found = excerpts.excerpts(spark, [long, short], spans).toPandas().sort_values(["part", "time_s"])
    assert set(found["experiment"]) == {"experiment"}
    first, last = (found[found["part"] == part] for part in (FIRST, LAST))
    assert first["time_s"].tolist() == list(range(10))
    assert last["time_s"].tolist() == list(range(40, 50))
    assert last["nodes"].tolist() == list(range(40, 50))


def test_notes_are_averaged_from_the_start_run_by_run(spark: SparkSession, archive: Any) -> None:
    def decision(time_s: float, target: str, cost: float | None) -> dict[str, Any]:
        return {"time_s": time_s, "target": target, "notes": None if cost is None else [("region_cost", cost)]}

    rows = [decision(0.0, "job", None), decision(1.0, "a", 3.0), decision(1.0, "b", None), decision(2.0, "job", 1.0)]
    runs = [archive.run(name, {"workload": [1.0] * 4}, decisions=rows) for name in ("noted", "repeated")]
    found = running_means(notes(spark, runs).toPandas())
    means = [["region_cost", 1.0, 3.0], ["region_cost", 2.0, 2.0]]
    assert found[["note", "time_s", "mean"]].values.tolist() == means * 2
    assert found["run_id"].tolist() == ["noted"] * 2 + ["repeated"] * 2


def test_a_policy_has_learned_once_all_its_costs_stay_near_what_they_end_at() -> None:
    def costs(run: str, note: str, *means: float) -> pd.DataFrame:
        return pd.DataFrame({"run_id": run, "note": note, "time_s": 60.0 * np.arange(len(means)), "mean": means})

    found = learning_times(
        pd.concat(
            [
                costs("one", "region_cost", 3.0, 1.0, 1.2, 1.05, 1.0),
                costs("one", "operator_cost", 1.0, 1.0, 1.0, 1.0, 1.0),
                costs("one", "capacity", 9.0, 9.0, 9.0, 9.0, 1.0),
                costs("two", "operator_cost", 1.05, 1.0),
                costs("three", "capacity", 2.0, 1.0),
            ]
        )
    )
    assert found.to_dict("list") == {"run_id": ["one", "two"], "learning_time": [180.0, 0.0]}


def test_no_notes_are_no_rows(spark: SparkSession, archive: Any) -> None:
    run = archive.run("silent", {"workload": [1.0]}, decisions=[{"time_s": 0.0, "target": "job"}])
    means = running_means(notes(spark, [run]).toPandas())
    assert means.empty
    assert learning_times(means).empty
