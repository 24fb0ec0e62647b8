"""The session: one a process, quiet, and plain about what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from analysis.spark import _why_java_failed, session

ROOT = Path(__file__).parents[2]

USE = """
import sys
from analysis.errors import AnalysisError
from analysis.spark import session
try:
    for _ in range(2):
        with session("local[1]") as spark:
            print(spark.range(7).count(), spark.conf.get("spark.sql.session.timeZone"))
except AnalysisError as error:
    sys.exit(str(error))
"""


def use_spark(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp")} | environment
    (folder / "tmp").mkdir()
    (folder / "work").mkdir()
    return subprocess.run(
        [sys.executable, "-c", USE], cwd=folder / "work", env=known, capture_output=True, text=True, check=False
    )


@pytest.mark.spark
def test_contexts_nest_in_one_session(spark: SparkSession) -> None:
    with session() as again, session("spark://elsewhere:7077") as once_more:
        assert again is spark
        assert once_more is spark
    assert spark.range(3).count() == 3


@pytest.mark.spark
def test_a_session_says_nothing_leaves_nothing_and_can_be_had_again(tmp_path: Path) -> None:
    done = use_spark(tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "7 UTC\n7 UTC\n")
    assert list((tmp_path / "work").iterdir()) == []
    assert [path.name for path in (tmp_path / "tmp").iterdir() if not path.name.startswith("hsperfdata")] == []


def test_without_java_one_line_says_so(tmp_path: Path) -> None:
    done = use_spark(tmp_path, JAVA_HOME=str(tmp_path / "nothing"))
    assert done.stderr == "Spark needs Java 17 or newer, and none was found (JAVA_HOME, then PATH)\n"
    assert done.returncode == 1


def test_an_old_java_is_told_apart_from_other_trouble() -> None:
    old = "Exception in thread main java.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main"
    assert _why_java_failed(old) == "Spark needs Java 17 or newer, and the one found is older (JAVA_HOME, then PATH)"
    assert _why_java_failed("noise\nError: out of memory\n\n") == "Spark does not start: Error: out of memory"
    assert _why_java_failed("") == "Spark does not start: no reason given"
