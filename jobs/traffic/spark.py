"""Traffic monitoring on Spark: `python -m jobs.traffic.spark --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs import structured
from jobs.runtime import Deployment
from jobs.traffic.vehicles import LATITUDE, LONGITUDE, METRES_A_DEGREE, METRES_A_DEGREE_EAST, RADIUS_M, fleet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEY = ("vehicle", "window_start")
FIELDS = ("vehicle", "event_time", "lat", "lon", "speed")


def speeds(spark: SparkSession, records: DataFrame, deployment: Deployment) -> DataFrame:
    """Average speed of each vehicle near the point of interest, in tumbling windows of ten seconds."""
    del deployment
    from pyspark.sql import functions
    from pyspark.sql.functions import col

    known = [(plate, kind.name, kind.limit) for plate, kind in fleet().items()]
    vehicles = spark.createDataFrame(known, "vehicle string, kind string, speed_limit long")
    north = (col("lat").cast("double") - LATITUDE) * METRES_A_DEGREE
    east = (col("lon").cast("double") - LONGITUDE) * METRES_A_DEGREE_EAST
    near = (
        structured.parsed(records, *FIELDS)
        .where(north * north + east * east <= RADIUS_M * RADIUS_M)
        .withColumns({name: col(name).cast("bigint") for name in ("event_time", "speed")})
        .withColumn("occurred", functions.timestamp_millis("event_time"))
        .withWatermark("occurred", structured.WATERMARK)
    )
    windows = near.groupBy(functions.window("occurred", "10 seconds"), "vehicle").agg(
        (functions.sum("speed").cast("double") / functions.count("*")).alias("average_speed"),
        functions.count("*").alias("events"),
        functions.max("event_time").alias("event_time"),
    )
    return windows.join(functions.broadcast(vehicles), "vehicle").select(
        "vehicle",
        functions.unix_millis("window.start").alias("window_start"),
        "average_speed",
        "events",
        "event_time",
        "kind",
        (col("average_speed") > col("speed_limit")).alias("speeding"),
    )


if __name__ == "__main__":
    structured.main("traffic", speeds, KEY)
