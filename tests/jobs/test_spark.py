"""What the drivers compute, on records that are all there at once."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

from analysis.spark import session
from jobs import runtime
from jobs.runtime import Deployment
from jobs.traffic import events as vehicles
from jobs.traffic import reference as traffic
from jobs.traffic import spark as traffic_on_spark
from jobs.wordcount import events as lines
from jobs.wordcount import reference as wordcount
from jobs.wordcount import spark as wordcount_on_spark
from jobs.yahoo import campaigns
from jobs.yahoo import events as ads
from jobs.yahoo import reference as yahoo
from jobs.yahoo import spark as yahoo_on_spark

pytestmark = pytest.mark.spark

TIMES = 1_800_000_000_000 + np.arange(2_000) * 17


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with session("local[2]") as running:
        yield running


CASES: list[tuple[str, ModuleType, Callable[..., DataFrame], ModuleType, tuple[Any, ...]]] = [
    ("wordcount", lines, wordcount_on_spark.counts, wordcount, ()),
    ("yahoo", ads, yahoo_on_spark.counts, yahoo, (campaigns.embedded(),)),
    ("traffic", vehicles, traffic_on_spark.speeds, traffic, ()),
]


@pytest.mark.parametrize(("job", "events", "transform", "reference", "tables"), CASES, ids=[case[0] for case in CASES])
def test_a_driver_computes_what_the_reference_does(
    spark: SparkSession,
    job: str,
    events: ModuleType,
    transform: Callable[..., DataFrame],
    reference: ModuleType,
    tables: tuple[Any, ...],
) -> None:
    values = runtime.program(job).source(1, 0, 4).batch(len(TIMES), TIMES)
    rows = [
        (value.decode(), datetime.fromtimestamp(time / 1000, UTC))
        for value, time in zip(values, TIMES.tolist(), strict=True)
    ]
    records = spark.createDataFrame(rows, "value string, timestamp timestamp")
    deployment = Deployment(job=job, broker="", input="", output="", group="")
    found = transform(spark, records, deployment).collect()
    expected = reference.expected(map(events.decode, values, TIMES.tolist()), *tables)
    assert reference.collected(json.dumps(row.asDict()).encode() for row in found) == expected
    assert len(found) == len(expected)
