"""What the report draws: one run of each experiment over time, its actions, and the latency of all runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from analysis.percentiles import Percentiles
from analysis.runs import RunRecord, labels, read, seconds, step_s

#: A picture is at most this many points wide.
MOST_BUCKETS = 720

#: How a bucket of seconds becomes one point. Rates and workers keep their area; peaks stay visible.
_BUCKET = {
    "workload": fn.avg,
    "throughput": fn.avg,
    "capacity": fn.avg,
    "backlog": fn.max,
    "latency_p95_s": fn.max,
    "workers_running": fn.avg,
    "workers_ready": fn.avg,
    "demand_workers": fn.avg,
    "cpu": fn.avg,
}

#: Shares at which the latency distribution is kept: the tail, which objectives are about, ten times as densely.
QUANTILES: tuple[float, ...] = tuple(
    np.unique(
        np.concatenate(
            [
                np.arange(0, 90) / 100,
                np.arange(900, 990) / 1000,
                np.arange(9900, 10000, 5) / 10000,
                [0.001, 0.005, 0.999, 1.0],
            ]
        )
    ).tolist()
)


def bucket_width(span_s: float, row_s: float = 1.0) -> int:
    """Seconds a bucket, so that the run fits into the most buckets allowed and each holds as many rows as the others.

    >>> bucket_width(720), bucket_width(721), bucket_width(6 * 3600)
    (1, 2, 30)
    >>> bucket_width(3600, row_s=60), bucket_width(100_000 * 60, row_s=60)
    (60, 8340)
    """
    return round(max(1, math.ceil(span_s / row_s / MOST_BUCKETS)) * row_s)


def representatives(runs: Iterable[RunRecord], mean_workers: pd.Series[float]) -> list[RunRecord]:
    """Of each experiment the repetition with the median of mean workers.

    Of an even number it is the lower of the middle two; among equals the lowest seed comes first.
    """
    repetitions: dict[str, list[RunRecord]] = {}
    for run in runs:
        repetitions.setdefault(run.experiment, []).append(run)
    chosen = []
    for alike in repetitions.values():
        alike.sort(key=lambda run: (mean_workers[run.run_id], run.seed))
        chosen.append(alike[(len(alike) - 1) // 2])
    return chosen


def widths(chosen: Sequence[RunRecord], span_s: pd.Series[float]) -> pd.DataFrame:
    """Of each run its experiment and how wide its buckets are."""
    return pd.DataFrame(
        [(run.run_id, run.experiment, bucket_width(span_s[run.run_id], step_s(run))) for run in chosen],
        columns=["run_id", "experiment", "width"],
    )


def series(spark: SparkSession, chosen: Sequence[RunRecord], span_s: pd.Series[float]) -> DataFrame:
    """The chosen runs over time; a bucket is named by its first second."""
    start = (fn.floor(fn.col("time_s") / fn.col("width")) * fn.col("width")).cast("double")
    return (
        seconds(spark, chosen, ["run_id", "time_s", *_BUCKET])
        .join(labels(spark, widths(chosen, span_s)), "run_id")
        .groupBy("experiment", "run_id", start.alias("time_s"))
        .agg(*(how(name).alias(name) for name, how in _BUCKET.items()))
    )


def actions(spark: SparkSession, chosen: Sequence[RunRecord], span_s: pd.Series[float]) -> DataFrame:
    """What the decisions of the chosen runs changed.

    Of each bucket it is the first that added and the first that removed something, with how many there were like it.
    """
    told = ["time_s", "target", "before", "applied", "reason"]
    changed = ~fn.col("applied").eqNullSafe(fn.col("before"))
    rows = read(spark, "decisions", chosen, ["run_id", *told]).where(changed)
    adds = fn.coalesce(fn.col("applied"), fn.lit(0)) > fn.coalesce(fn.col("before"), fn.lit(0))
    return (
        rows.join(labels(spark, widths(chosen, span_s)), "run_id")
        .groupBy("experiment", "run_id", fn.floor(fn.col("time_s") / fn.col("width")), adds)
        .agg(fn.min(fn.struct(*told)).alias("first"), fn.count(fn.lit(1)).cast("int").alias("n"))
        .select("experiment", "run_id", "first.*", "n")
    )


def latency(spark: SparkSession, runs: Sequence[RunRecord], percentiles: Percentiles) -> DataFrame:
    """The distribution of the seconds' p95 latency over all runs of an experiment, as an array of quantiles.

    The p95 of a second is what objectives are mostly stated in, and unlike the mean it shows what the
    unlucky events saw. Seconds without output have no latency and are not in it.
    """
    experiments = pd.DataFrame([(run.run_id, run.experiment) for run in runs], columns=["run_id", "experiment"])
    return (
        seconds(spark, runs, ["run_id", "latency_p95_s"])
        .join(labels(spark, experiments), "run_id")
        .groupBy("experiment")
        .agg(percentiles.gather("latency_p95_s").alias("latency_s"))
        .select("experiment", percentiles.pick("latency_s").alias("latency_s"))
    )


def latency_cdf(found: pd.DataFrame) -> pd.DataFrame:
    """A row an experiment and quantile, from what `latency` found; experiments that never had output are left out."""
    found = found.dropna(subset=["latency_s"])
    found["quantile"] = [QUANTILES for _ in found.index]
    return found.explode(["quantile", "latency_s"], ignore_index=True)
