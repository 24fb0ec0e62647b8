"""From the runs of a campaign to its result tables: Spark reduces the rows, small statistics compare the runs."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pandas as pd

from analysis import results as tables
from analysis.catalogue import METRICS
from analysis.cost import Objectives
from analysis.run_metrics import Percentiles, run_metrics
from analysis.runs import RunRecord, check
from analysis.series import actions, latency_cdf, representatives, series
from analysis.spark import session
from analysis.statistics import ALPHA, estimate, holm, welch
from experiments.schema import RESULT_TABLES

__all__ = ["Objectives", "RunRecord", "aggregate"]


def aggregate(
    runs: Sequence[RunRecord],
    results: Path,
    *,
    objectives: Objectives,
    suite: str,
    spark_master: str | None = None,
) -> None:
    """Write summary, tests, run_summary, series, latency_cdf and actions of these runs to the folder `results`.

    Only figures per run, downsampled series and quantiles reach this process; the rows stay in Spark.
    """
    started = time.monotonic()
    rows = check(runs)
    percentiles = Percentiles.for_rows(rows)
    with session(spark_master) as spark:
        figures = run_metrics(spark, runs, objectives, percentiles)
        chosen = representatives(runs, figures["mean_workers"])
        tables.write(results, "series", series(spark, chosen, figures["span_s"]))
        tables.write(results, "actions", actions(spark, chosen))
        tables.write(results, "latency_cdf", latency_cdf(spark, runs, percentiles))
        version = spark.version
    values = run_summary(runs, figures)
    tables.write(results, "run_summary", values)
    tables.write(results, "summary", summary(runs, values, suite=suite, cost_unit=objectives.cost_unit))
    tables.write(results, "tests", pairwise_tests(runs, values))
    tables.write_provenance(
        results,
        {
            "suite": suite,
            "runs": len(runs),
            "rows": rows,
            "percentiles": percentiles.method,
            "rank_error": percentiles.rank_error,
            "objectives": dataclasses.asdict(objectives),
            "spark": version,
            "seconds": round(time.monotonic() - started, 3),
        },
    )


def run_summary(runs: Sequence[RunRecord], figures: pd.DataFrame) -> pd.DataFrame:
    """A row a run and metric, in the order of the runs and of the catalogue; what a run has no value for is left out."""
    rows = (
        (run.run_id, run.experiment, run.seed, metric, float(figures.at[run.run_id, metric]))
        for run in runs
        for metric in METRICS
    )
    table = pd.DataFrame(rows, columns=RESULT_TABLES["run_summary"].names)
    return table.dropna(subset=["value"], ignore_index=True)


def summary(runs: Sequence[RunRecord], values: pd.DataFrame, *, suite: str, cost_unit: str) -> pd.DataFrame:
    """A row an experiment and metric: mean, spread and confidence interval over the repetitions."""
    first = {run.experiment: run for run in reversed(runs)}
    rows = []
    for (experiment, metric), sample in values.groupby(["experiment", "metric"], sort=False)["value"]:
        run = first[experiment]
        unit = cost_unit if metric == "cost" else METRICS[metric].unit
        names = (suite, experiment, run.job, run.workload, run.autoscaler, run.place, metric, unit)
        rows.append((*names, *dataclasses.astuple(estimate(sample))))
    return pd.DataFrame(rows, columns=RESULT_TABLES["summary"].names)


def pairwise_tests(runs: Sequence[RunRecord], values: pd.DataFrame) -> pd.DataFrame:
    """Every pair of autoscalers on the same job, workload and place, metric by metric.

    The pairs of one metric in one such setting are a family for Holm's correction: they answer one
    question together, which of these autoscalers differ in this metric. Metrics that describe rather
    than judge are left out, save throughput, in which all should agree.
    """
    samples = {
        (metric, experiment): sample.to_numpy()
        for (metric, experiment), sample in values.groupby(["metric", "experiment"], sort=False)["value"]
    }
    settings: dict[tuple[str, str, str], dict[str, str]] = {}
    for run in runs:
        settings.setdefault(run.setting, {})[run.autoscaler] = run.experiment
    rows: list[tuple[object, ...]] = []
    for setting, experiments in settings.items():
        for metric in _tested_metrics():
            family = [
                (a, b, samples[metric, experiments[a]], samples[metric, experiments[b]])
                for a, b in combinations(experiments, 2)
                if (metric, experiments[a]) in samples and (metric, experiments[b]) in samples
            ]
            p_values = [welch(left, right) for _, _, left, right in family]
            for (a, b, left, right), p, corrected in zip(family, p_values, holm(p_values), strict=True):
                significant = corrected is not None and corrected < ALPHA
                rows.append((*setting, metric, a, b, left.mean() - right.mean(), p, corrected, significant))
    return pd.DataFrame(rows, columns=RESULT_TABLES["tests"].names)


def _tested_metrics() -> Iterator[str]:
    return (name for name, metric in METRICS.items() if metric.better != "neither" or name == "throughput")
