"""The finished runs of a campaign, and their tables as Spark frames."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession, types
from pyspark.sql import functions as fn

from analysis.errors import AnalysisError
from experiments.schema import RUN_TABLES

#: The rows of metrics.parquet that describe the job as a whole.
WHOLE_JOB = "job"

_SPARK_TYPES: dict[pa.DataType, types.DataType] = {
    pa.string(): types.StringType(),
    pa.bool_(): types.BooleanType(),
    pa.int16(): types.ShortType(),
    pa.int32(): types.IntegerType(),
    pa.int64(): types.LongType(),
    pa.float32(): types.FloatType(),
    pa.float64(): types.DoubleType(),
}


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One finished run: what it was, and where its tables lie."""

    run_id: str
    folder: Path
    experiment: str
    job: str
    workload: str
    autoscaler: str
    """The label the suite gives the autoscaler."""
    place: str
    seed: int
    duration_s: float

    @property
    def setting(self) -> tuple[str, str, str]:
        """What autoscalers are compared within."""
        return self.job, self.workload, self.place


def step_s(run: RunRecord) -> float:
    """Seconds that each row of the run's metrics stands for: what its run.json says, otherwise one."""
    try:
        said = json.loads((run.folder / "run.json").read_text(encoding="utf-8")).get("step_s", 1.0)
    except FileNotFoundError:
        return 1.0
    except (OSError, ValueError, AttributeError) as error:
        raise AnalysisError(f"run {run.run_id}: run.json cannot be read ({error})") from error
    if not isinstance(said, int | float) or isinstance(said, bool) or not 1 <= said < float("inf"):
        raise AnalysisError(f"run {run.run_id}: step_s in run.json must be seconds, 1 or more, and is {said!r}")
    return float(said)


def check(runs: Sequence[RunRecord]) -> dict[str, int]:
    """Complain in one line about runs that cannot be aggregated together; otherwise the rows of metrics of each."""
    if not runs:
        raise AnalysisError("there is no finished run to aggregate")
    run_id, times = Counter(run.run_id for run in runs).most_common(1)[0]
    if times > 1:
        raise AnalysisError(f"the run {run_id} is listed {times} times")
    experiments: dict[tuple[str, ...], str] = {}
    for run in runs:
        known = experiments.setdefault((*run.setting, run.autoscaler), run.experiment)
        if known != run.experiment:
            raise AnalysisError(
                f"the experiments {known} and {run.experiment} share job {run.job}, workload {run.workload},"
                f" place {run.place} and autoscaler {run.autoscaler}: nothing tells them apart"
            )
    for run in runs:
        step_s(run)
    return {run.run_id: _rows_of_metrics(run) for run in runs}


def read(spark: SparkSession, table: str, runs: Sequence[RunRecord], columns: Sequence[str]) -> DataFrame:
    """These columns of one table of all the runs, in one scan; NaN counts as not measured, like null."""
    schema = spark_schema(RUN_TABLES[table])
    paths = [_path(run, table) for run in runs]
    return spark.read.schema(schema).parquet(*paths).select(*(_measured(schema[name]) for name in columns))


def seconds(spark: SparkSession, runs: Sequence[RunRecord], columns: Sequence[str]) -> DataFrame:
    """The seconds of the runs, a row each (or a row every `step_s` seconds), for the job as a whole."""
    rows = read(spark, "metrics", runs, [*columns, "operator"])
    return rows.where(fn.col("operator") == WHOLE_JOB).drop("operator")


def labels(spark: SparkSession, table: pd.DataFrame) -> DataFrame:
    """A small table about the runs, to be sent to every executor for a join."""
    return fn.broadcast(spark.createDataFrame(table))


def spark_schema(schema: pa.Schema) -> types.StructType:
    """The same columns in Spark's words; dictionary-encoded text is text.

    >>> spark_schema(RUN_TABLES["events"]).simpleString()
    'struct<run_id:string,time_s:double,kind:string,target:string,detail:string>'
    """
    return types.StructType([types.StructField(field.name, _spark_type(field.type)) for field in schema])


def _spark_type(kind: pa.DataType) -> types.DataType:
    if pa.types.is_dictionary(kind):
        return _SPARK_TYPES[kind.value_type]
    if pa.types.is_map(kind):
        return types.MapType(_SPARK_TYPES[kind.key_type], _SPARK_TYPES[kind.item_type])
    return _SPARK_TYPES[kind]


def _measured(field: types.StructField) -> Column:
    column = fn.col(field.name)
    if isinstance(field.dataType, types.FloatType | types.DoubleType):
        column = fn.nanvl(column, fn.lit(None).cast(field.dataType)).alias(field.name)
    return column


def _path(run: RunRecord, table: str) -> str:
    path = str(run.folder.resolve() / f"{table}.parquet")
    # Spark takes these for a pattern, in a folder's name as well.
    return "file://" + re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def _rows_of_metrics(run: RunRecord) -> int:
    """The rows of the run's metrics, once all its tables are known to be there and whole at their end."""
    rows: dict[str, int] = {}
    for table in ("metrics", "decisions", "events"):
        path = run.folder / f"{table}.parquet"
        if not path.is_file():
            raise AnalysisError(f"run {run.run_id} has no {table}.parquet in {run.folder}")
        try:
            rows[table] = pq.read_metadata(path).num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise AnalysisError(f"run {run.run_id}: {table}.parquet cannot be read ({error})") from error
    return rows["metrics"]
