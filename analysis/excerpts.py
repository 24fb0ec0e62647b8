"""Long runs more closely: the first and the last days, and how a policy's own figures settle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
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

#: Notes that end so are costs.
COST = "_cost"
#: A mean is near another if it differs by no more than this share of it.
SETTLED = 0.1

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


def notes(spark: SparkSession, runs: Sequence[RunRecord]) -> DataFrame:
    """The figures that policies noted with their decisions: sum and number in each bucket of time."""
    durations = pd.Series({run.run_id: run.duration_s for run in runs})
    start = (fn.floor(fn.col("time_s") / fn.col("width")) * fn.col("width")).cast("double")
    rows = read(spark, "decisions", runs, ["run_id", "time_s", "notes"])
    return (
        rows.select("run_id", "time_s", fn.explode("notes").alias("note", "value"))
        .join(labels(spark, widths(runs, durations)), "run_id")
        .groupBy("experiment", "run_id", "note", start.alias("time_s"))
        .agg(fn.sum("value").alias("total"), fn.count("value").cast("double").alias("n"))
    )


def running_means(found: pd.DataFrame) -> pd.DataFrame:
    """The mean of each note from the start of the run up to the end of each bucket, from what `notes` found."""
    ordered = found.sort_values(["run_id", "note", "time_s"], ignore_index=True)
    so_far = ordered.groupby(["run_id", "note"])[["total", "n"]].cumsum()
    return ordered.assign(mean=so_far["total"] / so_far["n"])[["experiment", "run_id", "note", "time_s", "mean"]]


def learning_times(means: pd.DataFrame) -> pd.DataFrame:
    """By run, from when on the means so far of all costs that it noted stay near those at its end."""
    latest: dict[str, float] = {}
    for (run, note), noted in means.groupby(["run_id", "note"]):
        if str(note).endswith(COST):
            latest[str(run)] = max(latest.get(str(run), 0.0), _settled_s(noted))
    return pd.DataFrame({"run_id": list(latest), "learning_time": list(latest.values())})


def _settled_s(noted: pd.DataFrame) -> float:
    means = noted["mean"].to_numpy()
    off = np.flatnonzero(np.abs(means - means[-1]) > SETTLED * abs(means[-1]))
    return float(noted["time_s"].iloc[off[-1] + 1]) if off.size else 0.0
