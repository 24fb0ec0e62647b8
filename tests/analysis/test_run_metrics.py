"""Each figure of a run against an independent calculation, and where there is nothing to calculate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis.catalogue import METRICS
from analysis.cost import Objectives
from analysis.errors import AnalysisError
from analysis.excerpts import learning_times, notes, running_means
from analysis.percentiles import Percentiles
from analysis.run_metrics import figures, from_decisions, from_events, from_notes, from_seconds
from analysis.runs import RunRecord
from analysis.spark import collect

pytestmark = pytest.mark.spark

FLAT = {
    "throughput": [100.0] * 10,
    "backlog": [0.0] * 10,
    "latency_mean_s": [0.5] * 10,
    "latency_p95_s": [1.0] * 10,
    "latency_p99_s": [2.0] * 10,
    "workers_running": [2] * 10,
    "workers_ready": [2] * 10,
    "demand_workers": [2] * 10,
    "nodes": [1] * 10,
}


@pytest.fixture
def figures_of(spark: SparkSession) -> Any:
    def calculate(*runs: RunRecord, objectives: Objectives | None = None) -> pd.DataFrame:
        wanted = objectives or Objectives()
        *parts, noted = collect(
            from_seconds(spark, runs, wanted, Percentiles()),
            from_decisions(spark, runs),
            from_notes(spark, runs),
            from_events(spark, runs),
            notes(spark, runs),
        )
        return figures(runs, [*parts, learning_times(running_means(noted))], wanted)

    return calculate


def rescale(
    before: int, applied: int, time_s: float = 0.0, target: str = "job", took_ms: float = 1.0
) -> dict[str, Any]:
    return {"time_s": time_s, "target": target, "before": before, "applied": applied, "took_ms": took_ms}


def test_the_figures_of_many_runs_at_once(archive: Any, random_seconds: Any, figures_of: Any) -> None:
    objectives = Objectives(latency_p95_s=0.4, backlog=2500, worker_hour=0.5, violation_minute=0.1)
    data = {f"run{seed}": random_seconds(seed) for seed in range(5)}
    runs = [archive.run(run_id, seconds) for run_id, seconds in data.items()]
    found = figures_of(*runs, objectives=objectives)
    assert found.index.tolist() == list(data)
    for run_id, seconds in data.items():
        table = pd.DataFrame(seconds)
        p95 = table["latency_p95_s"].astype("float64")
        broken = p95.isna() | (p95 > 0.4) | (table["backlog"] > 2500)
        heard = table[table["latency_mean_s"].notna()]
        expected = {
            "worker_seconds": table["workers_running"].sum(),
            "mean_workers": table["workers_running"].mean(),
            "latency_mean": np.average(heard["latency_mean_s"].astype(float), weights=heard["throughput"]),
            "latency_p50": np.median(heard["latency_mean_s"].astype(float)),
            "latency_p95": np.quantile(p95.dropna(), 0.95),
            "latency_p99": np.quantile(table["latency_p99_s"].dropna().astype(float), 0.99),
            "latency_p95_mean": p95.mean(),
            "latency_max": p95.max(),
            "slo_violation_share": broken.mean(),
            "backlog_max": table["backlog"].max(),
            "throughput": table["throughput"].mean(),
            "cost": table["workers_running"].sum() / 3600 * 0.5 + broken.sum() / 60 * 0.1,
            "span_s": len(table),
        }
        assert 0 < expected["slo_violation_share"] < 1
        assert found.loc[run_id, list(expected)].to_dict() == pytest.approx(expected, rel=1e-6)


def test_runs_too_long_to_sort_have_nearly_the_same_percentiles(
    spark: SparkSession, archive: Any, random_seconds: Any
) -> None:
    seconds = random_seconds(1, length=3000)
    (found,) = collect(from_seconds(spark, [archive.run("long", seconds)], Objectives(), Percentiles(exact=False)))
    ordered = np.sort([value for value in seconds["latency_p95_s"] if value is not None])
    rank = np.searchsorted(ordered, found["latency_p95"].item()) / len(ordered)
    assert rank == pytest.approx(0.95, abs=1e-4 + 1 / len(ordered))


def test_a_quiet_run_has_zeros_and_gaps(archive: Any, figures_of: Any) -> None:
    """No decisions, no events, no objectives: nothing happened is 0, nothing to tell is absent."""
    found = figures_of(archive.run("quiet", FLAT)).loc["quiet"]
    assert found[["downtime", "scaling_actions", "jitter", "accuracy_over"]].tolist() == [0, 0, 0, 0]
    absent = found.index[found.isna()].tolist()
    assert sorted(absent) == [
        "capacity_error",
        "decision_ms_p99",
        "forecast_error",
        "learning_time",
        "reconfigured_share",
        "recovery_time",
        "recovery_underestimated",
        "slo_violation_share",
        "worker_seconds_profiled",
    ]
    assert found["cost"] == pytest.approx(20 / 3600)


def test_unknown_demand_leaves_out_elasticity_alone(archive: Any, figures_of: Any) -> None:
    found = figures_of(archive.run("real", FLAT | {"demand_workers": [None] * 10})).loc["real"]
    assert found[["accuracy_over", "accuracy_under", "timeshare_over", "timeshare_under", "jitter"]].isna().all()
    assert found["mean_workers"] == 2


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_run_without_output_breaks_every_latency_objective(archive: Any, figures_of: Any, nothing: Any) -> None:
    silence = {name: [nothing] * 10 for name in FLAT if name.startswith("latency")} | {"throughput": [0.0] * 10}
    run = archive.run("silent", FLAT | silence)
    found = figures_of(run, objectives=Objectives(latency_p50_s=100.0)).loc["silent"]
    assert found["slo_violation_share"] == 1
    assert found[["latency_mean", "latency_p50", "latency_p95", "latency_p99"]].isna().all()
    assert found["throughput"] == 0
    assert figures_of(run, objectives=Objectives(backlog=5)).loc["silent", "slo_violation_share"] == 0


def test_a_bound_that_is_just_kept_is_kept(archive: Any, figures_of: Any) -> None:
    """0.1 in single precision is more than 0.1 in double precision."""
    run = archive.run("edge", FLAT | {"latency_p95_s": [0.1] * 9 + [0.1001]})
    assert figures_of(run, objectives=Objectives(latency_p95_s=0.1)).loc["edge", "slo_violation_share"] == 0.1


def test_rows_of_single_operators_do_not_count(archive: Any, figures_of: Any) -> None:
    others = pd.DataFrame(FLAT).assign(operator="count", time_s=range(10), workers_running=99, backlog=1e9)
    found = figures_of(archive.run("topology", FLAT, others=others)).loc["topology"]
    assert (found["mean_workers"], found["backlog_max"]) == (2, 0)


def test_a_decision_for_several_targets_is_one_action(archive: Any, figures_of: Any) -> None:
    decisions = [
        rescale(2, 3, 0, "split", took_ms=5),
        rescale(1, 4, 0, "count", took_ms=5),
        rescale(3, 3, 15, "split", took_ms=1),
        rescale(1, 2, 30, "region:eu", took_ms=2),
    ]
    found = figures_of(archive.run("two", FLAT, decisions=decisions)).loc["two"]
    assert found["scaling_actions"] == 2
    assert found["decision_ms_p99"] == pytest.approx(np.quantile([5, 1, 2], 0.99))


def test_downtime(archive: Any, figures_of: Any) -> None:
    start, end = "outage_start", "outage_end"
    cases: dict[str, tuple[float, list[tuple[float, str]]]] = {
        "two outages": (5.5, [(10, start), (14, end), (20, start), (21.5, end)]),
        "open at the end": (14, [(10, start), (14, end), (90, start)]),
        "down is down": (4, [(10, start), (12, start), (14, end), (16, end)]),
        "an end without a start": (4, [(5, end), (10, start), (14, end)]),
        "one after the other": (6, [(10, start), (14, end), (14, start), (16, end)]),
        "no time at all": (0, [(10, start), (10, end), (12, "boot")]),
        "no outage": (0, [(50, "boot")]),
        "written late": (4, [(14, end), (10, start)]),
    }
    runs = [archive.run(name, FLAT, events=events, duration_s=100.0) for name, (_, events) in cases.items()]
    assert figures_of(*runs)["downtime"].to_dict() == {name: expected for name, (expected, _) in cases.items()}


def test_recovery_time(archive: Any, figures_of: Any) -> None:
    rescaled, failed, back = "rescale_start", "failure", "recovered"
    cases: dict[str, tuple[float, list[tuple[float, str]]]] = {
        "the mean of two": ((30 + 10) / 2, [(10, rescaled), (40, back), (60, failed), (70, back)]),
        "from the first of several": (30, [(10, rescaled), (20, failed), (30, rescaled), (40, back)]),
        "not yet back at the end": (30, [(10, rescaled), (40, back), (60, rescaled)]),
        "back from nothing": (30, [(5, back), (10, failed), (40, back), (45, back)]),
        "all at once": (7.5, [(10, rescaled), (10, back), (10, rescaled), (25, back)]),
        "never back": (-1, [(10, rescaled)]),
    }
    runs = [archive.run(name, FLAT, events=events) for name, (_, events) in cases.items()]
    found = figures_of(*runs)["recovery_time"].fillna(-1).to_dict()
    assert found == {name: expected for name, (expected, _) in cases.items()}


def test_events_of_runs_are_kept_apart(archive: Any, figures_of: Any) -> None:
    one = archive.run("one", FLAT, events=[(1, "rescale_start"), (1, "outage_start")], duration_s=10.0)
    two = archive.run("two", FLAT, events=[(5, "outage_end"), (6, "recovered")], duration_s=10.0)
    found = figures_of(one, two)
    assert found["downtime"].tolist() == [9, 0]
    assert found["recovery_time"].isna().all()


def test_a_run_whose_metrics_are_anothers_is_named(archive: Any, figures_of: Any) -> None:
    run = archive.run("mine", FLAT)
    archive.write(run.folder, "yours", "metrics", pd.DataFrame(FLAT).assign(time_s=range(10), operator="job"))
    with pytest.raises(AnalysisError, match=r"^run mine: metrics\.parquet has no row of this run"):
        figures_of(run)


def test_every_metric_of_the_catalogue_is_calculated(archive: Any, figures_of: Any) -> None:
    noted = {"capacity": 90.0, "forecast_wape": 0.1, "recovery_s": 5.0, "recovery_predicted_s": 6.0, "a_cost": 1.0}
    run = archive.run(
        "full",
        {**FLAT, "capacity": [100.0] * 10},
        decisions=[{**rescale(1, 2, time_s=4.0), "notes": list(noted.items())}],
        events=[(1, "failure"), (3, "recovered")],
        duration_s=10.0,
    )
    archive.write(run.folder, "full", "profiling", pd.DataFrame({"worker_seconds": [30.0]}))
    found = figures_of(run, objectives=Objectives(latency_p95_s=1.0))
    assert found[list(METRICS)].notna().all(axis=None)


def test_profiling_counts_beside_the_run(archive: Any, figures_of: Any) -> None:
    curious, other = archive.run("curious", FLAT), archive.run("other", FLAT)
    archive.write(curious.folder, "curious", "profiling", pd.DataFrame({"worker_seconds": [30.0, 12.5]}))
    found = figures_of(curious, other)
    assert (found["worker_seconds_profiled"] - found["worker_seconds"]).tolist() == [42.5, 0.0]
    assert found["worker_seconds"].nunique() == 1


def test_where_nobody_profiles_nothing_is_said_about_it(archive: Any, figures_of: Any) -> None:
    run = archive.run("plain", FLAT)
    archive.write(run.folder, "plain", "profiling", pd.DataFrame({"worker_seconds": []}))
    assert figures_of(run)["worker_seconds_profiled"].isna().all()


def test_a_broken_table_of_profiling_is_named(archive: Any, figures_of: Any) -> None:
    run = archive.run("broken", FLAT)
    (run.folder / "profiling.parquet").write_text("not parquet")
    with pytest.raises(AnalysisError, match=r"^run broken: profiling\.parquet cannot be read"):
        figures_of(run)


def test_what_a_policy_noted_is_judged_by_the_truth(archive: Any, figures_of: Any) -> None:
    """Capacity by the second before the decision, recoveries by how often they took longer than predicted."""
    seconds = {**FLAT, "capacity": [100.0] * 5 + [200.0] * 5}
    notes = [
        {"capacity": 110.0, "forecast_wape": 0.02, "recovery_s": 50.0, "recovery_predicted_s": 60.0},
        {"capacity": 150.0, "forecast_wape": 0.04, "recovery_s": 70.0, "recovery_predicted_s": 60.0},
    ]
    decisions = [
        {**rescale(2, 2, time_s=time_s), "notes": list(noted.items())}
        for time_s, noted in zip((5.0, 8.0), notes, strict=True)
    ]
    found = figures_of(archive.run("noted", seconds, decisions=decisions)).loc["noted"]
    assert found["capacity_error"] == pytest.approx((0.10 + 0.25) / 2)
    assert found["forecast_error"] == pytest.approx(0.03)
    assert found["recovery_underestimated"] == pytest.approx(0.5)
