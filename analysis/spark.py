"""The Spark session: one a process, quiet, leaving nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession

from analysis.errors import AnalysisError

LOCAL = "local[*]"
OLDEST_JAVA = 17

#: Compile quickly and collect simply: an aggregation lives for seconds, on few cores.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def session(master: str | None = None, *, memory: str = "1g") -> Iterator[SparkSession]:
    """The process's Spark session; whoever enters first starts it, and stops it on leaving.

    `master` is what Spark calls it: local[*] (the default), spark://host:port or k8s://url.
    A session that is already there is used as it is, so that contexts nest.
    """
    try:
        running = SparkSession.active()
    except PySparkException:
        running = None
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="tidebed-spark-", ignore_cleanup_errors=True) as scratch:
        spark = _start(master or LOCAL, memory, Path(scratch))
        try:
            yield spark
        finally:
            spark.stop()


def collect(*frames: DataFrame) -> list[pd.DataFrame]:
    """Compute small results and bring them here, at the same time: few of them keep the cores busy alone."""
    with ThreadPoolExecutor(max_workers=len(frames)) as pool:
        return list(pool.map(lambda frame: frame.toPandas(), frames))


def _start(master: str, memory: str, scratch: Path) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Percentiles gather the values of a group: in order of groups only one is in memory at a time.
        "spark.sql.execution.useObjectHashAggregateExec": "false",
    }
    if master.startswith("local"):
        # One machine: no other has to reach the driver, and two hundred partitions of a shuffle are too many.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(scratch),
            "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
            # Below this number of files Spark looks at them without a job of its own.
            "spark.sql.sources.parallelPartitionDiscovery.threshold": "4096",
        }
    conf = SparkConf().setMaster(master).setAppName("tidebed").setAll(list(settings.items()))
    gateway = _Java.start(conf)
    try:
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except Exception as error:  # Java's exceptions arrive as py4j's, of many kinds: one line tells any of them.
        raise AnalysisError(f"Spark does not start on {master}: {_last_line(str(error))}") from error


class _Java:
    """The Java side of Spark: one a process, since PySpark holds no more, whatever the session."""

    gateway: ClassVar[Any] = None

    @classmethod
    def start(cls, conf: SparkConf) -> Any:
        """Start it unless it runs, with its chatter in a file instead of on the console."""
        if cls.gateway is None:
            launch: Callable[..., Any] = launch_gateway
            with tempfile.TemporaryFile(prefix="tidebed-spark-") as chatter:
                try:
                    cls.gateway = launch(conf, popen_kwargs={"stdout": chatter, "stderr": chatter})
                except (PySparkException, OSError) as error:
                    chatter.seek(0)
                    raise AnalysisError(_why_java_failed(chatter.read().decode(errors="replace"))) from error
        return cls.gateway


def _why_java_failed(chatter: str) -> str:
    """One line out of what the launcher printed.

    >>> _why_java_failed("spark-class: line 97: /opt/jdk/bin/java: No such file or directory")
    'Spark needs Java 17 or newer, and none was found (JAVA_HOME, then PATH)'
    """
    needs = f"Spark needs Java {OLDEST_JAVA} or newer"
    if "UnsupportedClassVersionError" in chatter:
        return f"{needs}, and the one found is older (JAVA_HOME, then PATH)"
    if "JAVA_HOME is not set" in chatter or "bin/java: No such file" in chatter:
        return f"{needs}, and none was found (JAVA_HOME, then PATH)"
    return f"Spark does not start: {_last_line(chatter)}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
