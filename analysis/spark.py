"""The Spark session: one a process, quiet, leaving nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from analysis.errors import AnalysisError

LOCAL = "local[*]"
OLDEST_JAVA = 17

#: Compile quickly and collect simply: an aggregation lives for seconds, on few cores.
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

_gateway: Any = None


@contextmanager
def session(master: str | None = None, *, memory: str = "1g") -> Iterator[SparkSession]:
    """The process's Spark session; whoever enters first starts it, and stops it on leaving.

    `master` is what Spark calls it: local[*] (the default), spark://host:port or k8s://url.
    A session that is already there is used as it is, so that contexts nest.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="tidebed-spark-", ignore_cleanup_errors=True) as scratch:
        spark = _start(master or LOCAL, memory, Path(scratch))
        try:
            yield spark
        finally:
            spark.stop()


def is_local(spark: SparkSession) -> bool:
    return spark.sparkContext.master.startswith("local")


def _start(master: str, memory: str, scratch: Path) -> SparkSession:
    local = master.startswith("local")
    conf = SparkConf()
    conf.setMaster(master).setAppName("tidebed")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": _QUICK_START,
    }
    if local:
        # One machine: no other needs to reach the driver, and two hundred shuffle partitions are too many.
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(scratch),
            "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
            # Paths are listed one by one: below this number without a job of its own.
            "spark.sql.sources.parallelPartitionDiscovery.threshold": "4096",
        }
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf.setAll(list(settings.items()))
    _launch(conf)
    try:
        return SparkSession(SparkContext(conf=conf, gateway=_gateway))
    except Exception as error:  # py4j raises its own family: whatever it is, one line says it.
        raise AnalysisError(f"Spark does not start on {master}: {_last_line(str(error))}") from error


def _launch(conf: SparkConf) -> None:
    """Start the Java side once a process, with its chatter in a file instead of on the console."""
    global _gateway
    if _gateway is not None:
        return
    chatter: IO[bytes] = tempfile.TemporaryFile(prefix="tidebed-spark-")
    try:
        _gateway = launch_gateway(conf, popen_kwargs={"stdout": chatter, "stderr": chatter})
    except (PySparkException, OSError) as error:
        chatter.seek(0)
        raise AnalysisError(_why_java_failed(chatter.read().decode(errors="replace"))) from error
    finally:
        chatter.close()  # Java keeps its own handle.


def _why_java_failed(chatter: str) -> str:
    """One line out of what the launcher printed.

    >>> _why_java_failed("/opt/spark/bin/spark-class: line 71: /none/bin/java: No such file or directory")
    'Spark needs Java 17 or newer, and none was found (JAVA_HOME, then PATH)'
    """
    needs = f"Spark needs Java {OLDEST_JAVA} or newer"
    if "UnsupportedClassVersionError" in chatter:
        return f"{needs}, and the one found is older (JAVA_HOME, then PATH)"
    if "JAVA_HOME is not set" in chatter or "bin/java: No such file" in chatter or "java: not found" in chatter:
        return f"{needs}, and none was found (JAVA_HOME, then PATH)"
    return f"Spark does not start: {_last_line(chatter)}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
