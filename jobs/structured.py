"""Spark Structured Streaming: what the drivers of all jobs share.

A driver reads its topic in batches, hands the records to the job, writes what comes back and commits its progress to
the consumer group. State and progress live in the checkpoint; executors come and go without it.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from jobs import arguments
from jobs.exposition import served
from jobs.runtime import Deployment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Transform = Callable[["SparkSession", "DataFrame", Deployment], "DataFrame"]
"""From records (value: string, timestamp) to rows whose columns make an output record; the first ones are its key."""

WATERMARK = "60 seconds"
"""How far partitions may be apart in event time. It costs state, no latency: rows are told as soon as they change."""

EVENTS_A_BATCH = 200_000
"""At most, so that a long backlog is worked off in steps that show progress and make use of new executors."""

_CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.showConsoleProgress": "false",
}
_POLL_S = 0.2


def main(job: str, transform: Transform, key: tuple[str, ...], argv: list[str] | None = None) -> None:
    """Run until SIGTERM, or until the query fails."""
    parser = arguments.parser(job, transform.__doc__ or "")
    parser.add_argument("--checkpoint", type=Path, required=True, help="directory of the query's state")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark")
    given = parser.parse_args(argv)
    deployment = arguments.deployment(job, given)

    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    spark = _session(job, {**_CONF, **arguments.pairs(given.conf)})
    try:
        rows = transform(spark, _records(spark, deployment), deployment)
        query = (
            _output(rows, key)
            .writeStream.format("kafka")
            .outputMode("update")
            .option("kafka.bootstrap.servers", deployment.broker)
            .option("topic", deployment.output)
            .option("checkpointLocation", str(given.checkpoint))
            .trigger(processingTime=f"{round(deployment.checkpoint_s * 1000)} milliseconds")
            .start()
        )
        progress = Progress(spark, deployment, query.runId)
        with served(given.metrics_port, progress.figures):
            while query.isActive and not stop.wait(_POLL_S):
                progress.update(query.lastProgress)
        query.stop()
        if fault := query.exception():
            raise fault
    finally:
        spark.stop()


def parsed(records: DataFrame, *fields: str) -> DataFrame:
    """Fields of JSON records, as strings. Unlike `from_json` it is not done once more for every filter on a field."""
    from pyspark.sql.functions import json_tuple

    return records.select(json_tuple("value", *fields).alias(*fields))


def _session(job: str, conf: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(job)
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _records(spark: SparkSession, deployment: Deployment) -> DataFrame:
    from pyspark.sql import functions

    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", deployment.broker)
        .option("subscribe", deployment.input)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", EVENTS_A_BATCH)
        .load()
        .select(functions.col("value").cast("string"), "timestamp")
    )
    if not deployment.work_ns:
        return records
    spark.udf.registerJavaFunction("work", "tidebed.spark.Work", "string")
    worked = functions.call_function("work", "value", functions.lit(deployment.work_ns).cast("bigint"))
    return records.withColumn("value", worked)


def _output(rows: DataFrame, key: tuple[str, ...]) -> DataFrame:
    from pyspark.sql.functions import struct, to_json

    return rows.select(to_json(struct(*key)).alias("key"), to_json(struct("*")).alias("value"))


class Progress:
    """What a query has done: told to the consumer group, and to whoever reads the metrics."""

    def __init__(self, spark: SparkSession, deployment: Deployment, group: str) -> None:
        from confluent_kafka import Consumer

        self._tracker = spark.sparkContext.statusTracker()
        self._store: Any = spark.sparkContext._jsc.sc().statusStore()  # no other interface knows events by executor
        self._group = group
        self._consumer = Consumer(
            {"bootstrap.servers": deployment.broker, "group.id": deployment.group, "enable.auto.commit": False}
        )
        self._batch = self._job = -1
        self._figures: dict[str, float] = {}

    def figures(self) -> dict[str, float]:
        return dict(self._figures)

    def update(self, last: Any) -> None:
        """After a batch that was not seen yet."""
        if last is None or last["batchId"] == self._batch:
            return
        self._batch = last["batchId"]
        self._figures["tidebed_job_batch_seconds"] = last["durationMs"].get("triggerExecution", 0) / 1000
        self._commit(last["sources"][0]["endOffset"])
        self._count_events()

    def _commit(self, ends: Any) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        positions = json.loads(ends) if isinstance(ends, str) else ends or {}
        offsets = [
            TopicPartition(topic, int(partition), offset)
            for topic, partitions in positions.items()
            for partition, offset in partitions.items()
        ]
        with suppress(KafkaException):  # only who watches the lag misses it, and the next batch tells more
            self._consumer.commit(offsets=offsets, asynchronous=False)

    def _count_events(self) -> None:
        """What each executor has read, in the jobs since the last time."""
        jobs = sorted(job for job in self._tracker.getJobIdsForGroup(self._group) if job > self._job)
        for job in jobs:
            info = self._tracker.getJobInfo(job)
            for stage in info.stageIds if info else ():
                for executor, events in self._events(stage):
                    name = f'tidebed_executor_events_total{{executor="{executor}"}}'
                    self._figures[name] = self._figures.get(name, 0) + events
            self._job = job

    def _events(self, stage: int) -> Iterator[tuple[str, int]]:
        """By executor; when one was lost, part of the stage was tried again."""
        info = self._tracker.getStageInfo(stage)
        for attempt in range(info.currentAttemptId + 1 if info else 0):
            entries = self._store.executorSummary(stage, attempt).iterator()
            while entries.hasNext():
                entry = entries.next()
                yield entry._1(), entry._2().inputRecords()
