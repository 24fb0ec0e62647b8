"""The figures of each run (analysis/catalogue.py), from its seconds, decisions and events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as fn

from analysis import elasticity
from analysis.catalogue import METRICS
from analysis.cost import Objectives, cost
from analysis.errors import AnalysisError
from analysis.percentiles import Percentiles
from analysis.profiling import with_profiling
from analysis.runs import RunRecord, read, seconds, step_s

#: The percentiles of a run: metric, the column of metrics.parquet, and the share.
_LATENCIES = (
    ("latency_p50", "latency_mean_s", 0.5),
    ("latency_p95", "latency_p95_s", 0.95),
    ("latency_p99", "latency_p99_s", 0.99),
)

#: The notes that are held against what happened.
_JUDGED = ("capacity", "forecast_wape", "recovery_s", "recovery_predicted_s")

#: The events that tell of outages, and of what a run has to recover from; of nodes there may be many more.
_OUTAGES = ("outage_start", "outage_end")
_EPISODES = ("rescale_start", "failure", "recovered")

#: Decisions about the nodes of a region name it after this.
REGION = "region:"


def from_seconds(
    spark: SparkSession, runs: Sequence[RunRecord], objectives: Objectives, within_runs: Percentiles
) -> DataFrame:
    """What metrics.parquet tells about each run.

    Beside the metrics these are `rows`, the rows of the run, and `last_row_s`, when the last of them begins. Sums and
    rates count a row as a second: `figures` knows how long it is.
    """
    columns = {"run_id", "time_s", "throughput", "backlog", "workers_running", "nodes", "latency_mean_s"}
    columns |= {*elasticity.COLUMNS, *objectives.bounds, *(column for _, column, _ in _LATENCIES)}
    rows = elasticity.with_changes(seconds(spark, runs, sorted(columns)))
    throughput, latency = fn.col("throughput"), fn.col("latency_mean_s").cast("double")
    processed = fn.sum(fn.when(latency.isNotNull(), throughput))
    percentiles = {name: replace(within_runs, shares=(share,)) for name, _, share in _LATENCIES}
    return (
        rows.groupBy("run_id")
        .agg(
            fn.count(fn.lit(1)).alias("rows"),
            fn.max("time_s").alias("last_row_s"),
            fn.sum("workers_running").alias("worker_seconds"),
            fn.avg("workers_running").alias("mean_workers"),
            fn.avg("nodes").alias("mean_nodes"),
            fn.try_divide(fn.sum(latency * throughput), processed).alias("latency_mean"),
            fn.avg(fn.col("latency_p95_s").cast("double")).alias("latency_p95_mean"),
            fn.max("latency_p95_s").cast("double").alias("latency_max"),
            fn.avg(violated(objectives).cast("int")).alias("slo_violation_share"),
            fn.max("backlog").alias("backlog_max"),
            fn.avg("throughput").alias("throughput"),
            *elasticity.metrics(),
            *(percentiles[name].gather(column).alias(name) for name, column, _ in _LATENCIES),
        )
        .withColumns({name: percentile.pick_one(name) for name, percentile in percentiles.items()})
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


def from_decisions(spark: SparkSession, runs: Sequence[RunRecord]) -> DataFrame:
    """What decisions.parquet tells about each run that decided.

    A decision may name several targets, a row each: it is one action, and took its time once.
    """
    p99 = Percentiles((0.99,))
    rows = read(spark, "decisions", runs, ["run_id", "time_s", "target", "before", "applied", "took_ms"])
    changes = ~fn.col("applied").eqNullSafe(fn.col("before"))
    decisions = rows.groupBy("run_id", "time_s").agg(
        fn.bool_or(changes).alias("changed"),
        fn.bool_or(changes & ~fn.col("target").startswith(REGION)).alias("reconfigured"),
        fn.max("took_ms").alias("took_ms"),
    )
    return (
        decisions.groupBy("run_id")
        .agg(
            fn.count_if("changed").alias("scaling_actions"),
            fn.avg(fn.col("reconfigured").cast("int")).alias("reconfigured_share"),
            p99.gather("took_ms").alias("decision_ms_p99"),
        )
        .withColumn("decision_ms_p99", p99.pick_one("decision_ms_p99"))
    )


def from_notes(spark: SparkSession, runs: Sequence[RunRecord]) -> DataFrame:
    """How right a policy's own figures (`autoscalers.model.Decision.notes`) were, of each run that noted any.

    An estimate of the capacity is compared with the true capacity in the second before the decision.
    """
    judged = fn.arrays_overlap(fn.map_keys("notes"), fn.array(*map(fn.lit, _JUDGED)))
    noted = read(spark, "decisions", runs, ["run_id", "time_s", "notes"]).where(judged)
    decisions = noted.groupBy("run_id", "time_s").agg(fn.first("notes").alias("notes"))
    true = seconds(spark, runs, ["run_id", "time_s", "capacity"]).withColumnRenamed("time_s", "second")
    just_before = (true["run_id"] == decisions["run_id"]) & (true["second"] == fn.ceil(decisions["time_s"]) - 1)
    rows = fn.broadcast(decisions).join(true, just_before, "left").select(decisions["run_id"], "notes", "capacity")

    def note(name: str) -> Column:
        return fn.col("notes")[name]

    return rows.groupBy("run_id").agg(
        fn.median(fn.abs(fn.try_divide(note("capacity"), fn.col("capacity")) - 1)).alias("capacity_error"),
        fn.median(note("forecast_wape")).alias("forecast_error"),
        fn.avg((note("recovery_s") > note("recovery_predicted_s")).cast("int")).alias("recovery_underestimated"),
    )


def from_events(spark: SparkSession, runs: Sequence[RunRecord]) -> DataFrame:
    """What events.parquet tells about each run in which something happened: outages and recoveries.

    A run is either down or not: a start while it is down, or an end while it is not, changes nothing.
    Each `recovered` closes an episode that the earliest rescale or failure since the last one began.
    Sums of when the run went down and came up, and whether it is still down, make the downtime later.
    """
    kind, time = fn.col("kind"), fn.col("time_s")
    rows = read(spark, "events", runs, ["run_id", "time_s", "kind"]).where(kind.isin(*_OUTAGES, *_EPISODES))
    # Events of the same instant keep the order in which they were written.
    in_order = Window.partitionBy("run_id").orderBy("time_s", "position")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    outage_before = fn.last(fn.when(kind.isin(*_OUTAGES), kind), ignorenulls=True).over(earlier)
    was_down = outage_before.eqNullSafe(fn.lit("outage_start"))
    marked = rows.withColumn("position", fn.monotonically_increasing_id()).select(
        "run_id",
        fn.when(kind == "recovered", time).alias("recovered"),
        fn.when(kind.isin("rescale_start", "failure"), time).alias("disturbed"),
        fn.when((kind == "outage_start") & ~was_down, time).alias("down"),
        fn.when((kind == "outage_end") & was_down, time).alias("up"),
        fn.count_if(kind == "recovered").over(earlier).alias("episode"),
    )
    episodes = marked.groupBy("run_id", "episode").agg(
        (fn.max("recovered") - fn.min("disturbed")).alias("recovery_s"),
        fn.sum("down").alias("down"),
        fn.sum("up").alias("up"),
        (fn.count("down") - fn.count("up")).alias("still_down"),
    )
    return episodes.groupBy("run_id").agg(
        fn.avg("recovery_s").alias("recovery_time"),
        *(fn.sum(name).alias(name) for name in ("down", "up", "still_down")),
    )


def figures(runs: Sequence[RunRecord], parts: Sequence[pd.DataFrame], objectives: Objectives) -> pd.DataFrame:
    """A row a run (index: run id) and a column a metric, and `span_s`; what a run has no value for is NaN.

    The parts are what the queries above found, and what else there is about each run.
    """
    durations = pd.Series({run.run_id: run.duration_s for run in runs}, name="duration_s")
    table = pd.concat([durations, *(part.set_index("run_id").astype("float64") for part in parts)], axis=1)
    table = table.loc[durations.index]
    row_s = pd.Series({run.run_id: step_s(run) for run in runs})
    empty = table.index[table["rows"].isna()]
    if len(empty):
        raise AnalysisError(f'run {empty[0]}: metrics.parquet has no row of this run for the operator "job"')
    happened = table[["up", "down", "still_down", "scaling_actions"]].fillna(0)
    violated_s = (table["slo_violation_share"] * table["rows"] * row_s).fillna(0)
    worker_seconds = table["worker_seconds"] * row_s
    node_seconds = table["mean_nodes"] * table["rows"] * row_s
    return table.assign(
        span_s=table["last_row_s"] + row_s,
        worker_seconds=worker_seconds,
        worker_seconds_profiled=with_profiling(runs, worker_seconds),
        jitter=table["jitter"] / row_s,
        downtime=happened["up"] - happened["down"] + happened["still_down"] * table["duration_s"],
        scaling_actions=happened["scaling_actions"],
        cost=[cost(*spent, objectives) for spent in zip(worker_seconds, node_seconds, violated_s, strict=True)],
    ).reindex(columns=[*METRICS, "span_s"])
