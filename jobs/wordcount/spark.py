"""WordCount on Spark: `python -m jobs.wordcount.spark --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs import structured
from jobs.runtime import Deployment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEY = ("word",)


def counts(spark: SparkSession, records: DataFrame, deployment: Deployment) -> DataFrame:
    """Running counts of words."""
    del spark, deployment
    from pyspark.sql import functions

    words = records.select(
        functions.explode(functions.split("value", " ")).alias("word"),
        functions.unix_millis("timestamp").alias("event_time"),
    )
    return words.groupBy("word").agg(
        functions.count("*").alias("count"), functions.max("event_time").alias("event_time")
    )


if __name__ == "__main__":
    structured.main("wordcount", counts, KEY)
