"""The Spark session: one a process, quiet, leaving nothing behind."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pandas as pd
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession

from analysis.errors import AnalysisError

LOCAL = "local[*]"
OLDEST_JAVA = 17

#: Compile quickly and collect simply: most aggregations live for seconds, on few cores.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Those of more rows than this live long enough for better code: 20 million take a quarter less time with it.
MANY_ROWS = 5_000_000
LONG_RUN = "-XX:+UseParallelGC"


@contextmanager
def session(master: str | None = None, *, memory: str = "1g", rows: int = 0) -> Iterator[SparkSession]:
    """The process's Spark session; whoever enters first starts it, and stops it on leaving.

    `master` is what Spark calls it: local[*] (the default), spark://host:port or k8s://url; `rows` is what it is for.
    A session that is already there is used as it is, so that contexts nest.
    """
    try:
        running = SparkSession.active()
    except PySparkException:
        running = None
    if running is not None:
        yield running
        return
    scratch = _scratch()
    scratch.mkdir(mode=0o700)
    try:
        spark = _start(master or LOCAL, memory, LONG_RUN if rows > MANY_ROWS else QUICK_START, scratch)
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def collect(*frames: DataFrame) -> list[pd.DataFrame]:
    """Compute small results and bring them here, at the same time: few of them keep the cores busy alone."""
    with ThreadPoolExecutor(max_workers=len(frames)) as pool:
        return list(pool.map(_collect_one, frames))


def _collect_one(frame: DataFrame) -> pd.DataFrame:
    try:
        table: pd.DataFrame = frame.toArrow().to_pandas()
    except Exception as error:  # Java's exceptions arrive as py4j's or PySpark's, of many kinds.
        raise AnalysisError(f"Spark could not read the archive: {_cause(str(error))}") from error
    return table


@cache
def _scratch() -> Path:
    """A folder for spilled rows: the same for every session, since the Java side settles on one when it starts."""
    return Path(tempfile.gettempdir()) / f"tidebed-spark-{uuid4().hex}"


def _start(master: str, memory: str, java: str, scratch: Path) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": java,
        "spark.sql.session.timeZone": "UTC",
        # Small tables go to Java as they are, instead of through Python workers that would have to be started.
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.pyspark.python": sys.executable,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
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
    except Exception as error:
        raise AnalysisError(f"Spark does not start on {master}: {_cause(str(error))}") from error


class _Java:
    """The Java side of Spark: one a process, since PySpark holds no more, whatever the session."""

    gateway: ClassVar[Any] = None

    @classmethod
    def start(cls, conf: SparkConf) -> Any:
        """Start it unless it runs, with its chatter in a file instead of on the console."""
        if cls.gateway is None:
            logging.getLogger("py4j").setLevel(logging.ERROR)  # it tells every connection it closes
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


def _cause(trace: str) -> str:
    """The line of a Java stack trace that says why: Spark's own, which has a [CONDITION], or else the innermost.

    >>> _cause("An error occurred.\\n: a.b.Failed: no\\n\\tat a.b(C.java)\\nCaused by: a.b.Torn: x.parquet\\n\\tat d")
    'a.b.Torn: x.parquet'
    """
    told = [line.strip(" :") for line in trace.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    reasons = [line.removeprefix("Caused by: ") for line in told] or ["no reason given"]
    return next((reason for reason in reasons if re.search(r"\[[A-Z_.]+\] ", reason)), reasons[-1])


def _last_line(text: str) -> str:
    return ([line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"])[-1]
