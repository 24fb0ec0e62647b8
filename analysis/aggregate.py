"""From the runs of a campaign to its result tables: Spark reduces the rows, small statistics compare the runs."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from analysis import results as tables
from analysis.cost import Objectives
from analysis.excerpts import excerpts, learning_times, notes, running_means
from analysis.percentiles import Percentiles
from analysis.run_metrics import figures, from_decisions, from_events, from_notes, from_seconds
from analysis.runs import RunRecord, check
from analysis.series import QUANTILES, actions, latency, latency_cdf, representatives, series
from analysis.spark import collect, session
from analysis.summary import pairwise_tests, run_summary, summary

__all__ = ["Objectives", "RunRecord", "aggregate"]


def aggregate(
    runs: Sequence[RunRecord],
    results: Path,
    *,
    objectives: Objectives,
    suite: str,
    spark_master: str | None = None,
) -> None:
    """Write summary, tests, run_summary and what the report draws of these runs to the folder `results`.

    Only figures per run, downsampled series and quantiles reach this process; the rows stay in Spark.
    `aggregation.json` beside the tables tells how they were made.
    """
    started = time.monotonic()
    rows = check(runs)
    within_runs = Percentiles.for_groups_of(max(rows.values()))
    distribution = Percentiles.for_groups_of(_most_per_experiment(runs, rows), *QUANTILES)
    with session(spark_master, rows=sum(rows.values())) as spark:
        *parts, noted, latencies = collect(
            from_seconds(spark, runs, objectives, within_runs),
            from_decisions(spark, runs),
            from_notes(spark, runs),
            from_events(spark, runs),
            notes(spark, runs),
            latency(spark, runs, distribution),
        )
        so_far = running_means(noted)
        found = figures(runs, [*parts, learning_times(so_far)], objectives)
        chosen = representatives(runs, found["mean_workers"])
        span_s = found["span_s"]
        over_time, changes, closer = collect(
            series(spark, chosen, span_s),
            actions(spark, chosen, span_s),
            excerpts(spark, chosen, span_s),
        )
        version = spark.version
    values = run_summary(runs, found)
    for table, content in {
        "run_summary": values,
        "summary": summary(runs, values, suite=suite, cost_unit=objectives.cost_unit),
        "tests": pairwise_tests(runs, values),
        "series": _in_order(runs, over_time, "time_s"),
        "excerpts": _in_order(runs, closer, "part", "time_s"),
        "notes": _in_order(runs, so_far[so_far["run_id"].isin([run.run_id for run in chosen])], "note", "time_s"),
        "actions": _in_order(runs, changes, "time_s", "target"),
        "latency_cdf": _in_order(runs, latency_cdf(latencies), "quantile"),
    }.items():
        tables.write(results, table, content)
    facts = {
        "suite": suite,
        "runs": len(runs),
        "rows": sum(rows.values()),
        "percentiles": "exact" if within_runs.exact else "approximate",
        "rank_error": within_runs.rank_error,
        "latency_cdf_rank_error": distribution.rank_error,
        "objectives": dataclasses.asdict(objectives),
        "spark": version,
        "seconds": round(time.monotonic() - started, 3),
    }
    tables.write_provenance(results, facts)


def _most_per_experiment(runs: Sequence[RunRecord], rows: Mapping[str, int]) -> int:
    totals: Counter[str] = Counter()
    for run in runs:
        totals[run.experiment] += rows[run.run_id]
    return max(totals.values())


def _in_order(runs: Sequence[RunRecord], table: pd.DataFrame, *within: str) -> pd.DataFrame:
    """Experiments in the order of the runs, since Spark returns them in any."""
    position = {experiment: index for index, experiment in enumerate(dict.fromkeys(run.experiment for run in runs))}
    ordered = table.assign(position=table["experiment"].map(position))
    return ordered.sort_values(["position", *within], ignore_index=True)
