"""The Yahoo Streaming Benchmark on Spark: `python -m jobs.yahoo.spark --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs import structured
from jobs.runtime import Deployment
from jobs.yahoo.campaigns import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEY = ("campaign_id", "window_start")
FIELDS = ("ad_id", "event_type", "event_time")


def counts(spark: SparkSession, records: DataFrame, deployment: Deployment) -> DataFrame:
    """Views of ads, counted by campaign in tumbling windows of ten seconds."""
    from pyspark.sql import functions

    table = load(deployment.options.get("redis", ""))
    campaigns = spark.createDataFrame(list(table.items()), "ad_id string, campaign_id string")
    views = (
        structured.parsed(records, *FIELDS)
        .where("event_type = 'view'")
        .withColumn("event_time", functions.col("event_time").cast("bigint"))
        .withColumn("occurred", functions.timestamp_millis("event_time"))
        .withWatermark("occurred", structured.WATERMARK)
        .join(functions.broadcast(campaigns), "ad_id")
    )
    windows = views.groupBy(functions.window("occurred", "10 seconds"), "campaign_id").agg(
        functions.count("*").alias("count"), functions.max("event_time").alias("event_time")
    )
    return windows.select(
        "campaign_id", functions.unix_millis("window.start").alias("window_start"), "count", "event_time"
    )


if __name__ == "__main__":
    structured.main("yahoo", counts, KEY)
