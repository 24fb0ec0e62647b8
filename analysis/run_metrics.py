"""The figures of each run (analysis/catalogue.py), from its seconds, decisions and events."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as fn

from analysis import elasticity
from analysis.catalogue import METRICS
from analysis.cost import Objectives, cost
from analysis.errors import AnalysisError
from analysis.percentiles import Percentiles
from analysis.runs import RunRecord, read, seconds

def run_metrics(
    spark: SparkSession, runs: Sequence[RunRecord], objectives: Objectives, percentiles: Percentiles
) -> pd.DataFrame:
    """A row a run (index: run id) and a column a metric; what a run has no value for is NaN.

    Beside the catalogue's metrics there is `span_s`, the seconds from the start to the last row.
    """
    durations = pd.Series({run.run_id: run.duration_s for run in runs}, name="duration_s")
    frames = (
        _from_seconds(spark, runs, objectives, percentiles),
        _from_decisions(
            read(spark, "decisions", runs, ["run_id", "time_s", "before", "applied", "took_ms"]), percentiles
        ),
        _from_events(read(spark, "events", runs, ["run_id", "time_s", "kind"])),
    )
    table = pd.concat([durations, *(frame.toPandas().set_index("run_id") for frame in frames)], axis=1)
    for run in runs:
        if not table.at[run.run_id, "span_s"] > 0:
            raise AnalysisError(f'run {run.run_id}: metrics.parquet has no row of it for the operator "job"')
    return _finish(table.loc[durations.index].astype("float64"), objectives)


def _from_seconds(
    spark: SparkSession, runs: Sequence[RunRecord], objectives: Objectives, percentiles: Percentiles
) -> DataFrame:
    columns = ["run_id", "time_s", "throughput", "backlog", "workers_running", *elasticity.COLUMNS]
    columns += ["latency_mean_s", "latency_p50_s", "latency_p95_s", "latency_p99_s"]
    rows = elasticity.with_changes(seconds(spark, runs, columns))
    throughput, latency = fn.col("throughput"), fn.col("latency_mean_s").cast("double")
    return rows.groupBy("run_id").agg(
        fn.count_if(fn.lit(True)).alias("seconds"),
        (fn.max("time_s") + 1).alias("span_s"),
        fn.sum("workers_running").alias("worker_seconds"),
        fn.avg("workers_running").alias("mean_workers"),
        fn.try_divide(fn.sum(latency * throughput), fn.sum(fn.when(latency.isNotNull(), throughput))).alias(
            "latency_mean"
        ),
        percentiles.of("latency_mean_s", 0.5).alias("latency_p50"),
        percentiles.of("latency_p95_s", 0.95).alias("latency_p95"),
        percentiles.of("latency_p99_s", 0.99).alias("latency_p99"),
        fn.avg(violated(objectives).cast("int")).alias("slo_violation_share"),
        fn.max("backlog").alias("backlog_max"),
        fn.avg("throughput").alias("throughput"),
        *elasticity.metrics(),
    )


def violated(objectives: Objectives) -> Column:
    """Whether a second breaks an objective; null if there is none.

    A second without output has no latency, and breaks every bound on latency.
    """
    broken: Column | None = None
    for name, bound in objectives.bounds.items():
        # Latencies are stored with single precision: so is their bound, or 0.1 s would exceed 0.1 s.
        limit = fn.lit(bound) if name == "backlog" else fn.lit(bound).cast("float")
        exceeds = fn.coalesce(fn.col(name) > limit, fn.lit(name != "backlog"))
        broken = exceeds if broken is None else broken | exceeds
    return fn.lit(None).cast("boolean") if broken is None else broken


def _from_decisions(rows: DataFrame, percentiles: Percentiles) -> DataFrame:
    """A decision may name several targets, a row each: it is one action, and took its time once."""
    decisions = rows.groupBy("run_id", "time_s").agg(
        fn.bool_or(~fn.col("applied").eqNullSafe(fn.col("before"))).alias("changed"),
        fn.max("took_ms").alias("took_ms"),
    )
    return decisions.groupBy("run_id").agg(
        fn.count_if("changed").alias("scaling_actions"), percentiles.of("took_ms", 0.99).alias("decision_ms_p99")
    )


def _from_events(rows: DataFrame) -> DataFrame:
    """Outages and recoveries.

    A run is either down or not: a start while it is down, or an end while it is not, changes nothing.
    Each `recovered` closes an episode that the earliest rescale or failure since the last one began.
    """
    kind, time = fn.col("kind"), fn.col("time_s")
    # Events of the same instant keep the order in which they were written.
    in_order = Window.partitionBy("run_id").orderBy("time_s", "position")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    outage = fn.when(kind.isin("outage_start", "outage_end"), kind)
    outage_before = fn.last(outage, ignorenulls=True).over(earlier)
    marked = rows.withColumn("position", fn.monotonically_increasing_id()).select(
        "run_id",
        fn.when(kind == "recovered", time).alias("recovered"),
        fn.when(kind.isin("rescale_start", "failure"), time).alias("disturbed"),
        fn.when((kind == "outage_start") & ~outage_before.eqNullSafe(fn.lit("outage_start")), time).alias("down"),
        fn.when((kind == "outage_end") & outage_before.eqNullSafe(fn.lit("outage_start")), time).alias("up"),
        fn.count_if(kind == "recovered").over(earlier).alias("episode"),
    )
    episodes = marked.groupBy("run_id", "episode").agg(
        (fn.max("recovered") - fn.min("disturbed")).alias("recovery_s"),
        fn.sum("down").alias("down"),
        fn.sum("up").alias("up"),
        (fn.count("down") - fn.count("up")).alias("open"),
    )
    return episodes.groupBy("run_id").agg(
        fn.avg("recovery_s").alias("recovery_time"),
        fn.coalesce(fn.sum("up"), fn.lit(0)).alias("up"),
        fn.coalesce(fn.sum("down"), fn.lit(0)).alias("down"),
        fn.sum("open").alias("open"),
    )


def _finish(table: pd.DataFrame, objectives: Objectives) -> pd.DataFrame:
    """What follows from a run's own figures: downtime to the end of the run, cost, and zero where nothing happened."""
    happened = table[["up", "down", "open", "scaling_actions"]].fillna(0)
    violated_s = (table["slo_violation_share"] * table["seconds"]).fillna(0)
    return table.assign(
        downtime=happened["up"] - happened["down"] + happened["open"] * table["duration_s"],
        scaling_actions=happened["scaling_actions"],
        cost=[cost(*spent, objectives) for spent in zip(table["worker_seconds"], violated_s, strict=True)],
    )[[*METRICS, "span_s"]]
