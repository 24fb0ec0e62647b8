"""Long runs more closely: the first and the last days, and how a policy's own figures settle."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from analysis.runs import RunRecord, labels, read, seconds, step_s
from analysis.series import bucket_width, widths

#: How much of a run is shown at its beginning and at its end.
EXCERPT_S = 5 * 86_400
#: Runs that are shorter than this are seen well enough as a whole.
LONG_S = 4 * EXCERPT_S

FIRST, LAST = "first", "last"

#: How a bucket of seconds becomes one point.
_BUCKET = {"workload": fn.avg, "latency_mean_s": fn.max, "workers_running": fn.avg, "nodes": fn.avg}


def excerpts(spark: SparkSession, chosen: Sequence[RunRecord], span_s: pd.Series[float]) -> DataFrame:
    """The first and the last days of the chosen runs that are long, as finely as a picture can show."""
    rows = [
        (run.run_id, run.experiment, part, start, start + EXCERPT_S, bucket_width(EXCERPT_S, step_s(run)))
        for run in chosen
        if span_s[run.run_id] >= LONG_S
        for part, start in ((FIRST, 0.0), (LAST, float(span_s[run.run_id]) - EXCERPT_S))
    ]
    kinds = "run_id string, experiment string, part string, start double, end double, width int"
    parts = fn.broadcast(spark.createDataFrame(rows, kinds))
    time = fn.col("time_s")
    bucket = (fn.floor((time - fn.col("start")) / fn.col("width")) * fn.col("width") + fn.col("start")).cast("double")
    return (
        seconds(spark, chosen, ["run_id", "time_s", *_BUCKET])
        .join(parts, "run_id")
        .where((time >= fn.col("start")) & (time < fn.col("end")))
        .groupBy("experiment", "run_id", "part", bucket.alias("time_s"))
        .agg(*(how(name).cast("double").alias(name) for name, how in _BUCKET.items()))
    )


def notes(spark: SparkSession, chosen: Sequence[RunRecord], span_s: pd.Series[float]) -> DataFrame:
    """The figures that policies noted with their decisions: sum and number in each bucket of time."""
    start = (fn.floor(fn.col("time_s") / fn.col("width")) * fn.col("width")).cast("double")
    rows = read(spark, "decisions", chosen, ["run_id", "time_s", "notes"]).where(fn.col("notes").isNotNull())
    # a decision about several targets has a row for each, and noted its figures once
    each = rows.dropDuplicates(["run_id", "time_s"]).select(
        "run_id", "time_s", fn.explode("notes").alias("note", "value")
    )
    return (
        each.join(labels(spark, widths(chosen, span_s)), "run_id")
        .groupBy("experiment", "run_id", "note", start.alias("time_s"))
        .agg(fn.sum("value").alias("total"), fn.count("value").cast("double").alias("n"))
    )


def running_means(found: pd.DataFrame) -> pd.DataFrame:
    """The mean of each note from the start of the run up to the end of each bucket, from what `notes` found."""
    ordered = found.sort_values(["experiment", "note", "time_s"], ignore_index=True)
    so_far = ordered.groupby(["experiment", "note"])[["total", "n"]].cumsum()
    return ordered.assign(mean=so_far["total"] / so_far["n"])[["experiment", "run_id", "note", "time_s", "mean"]]
