"""Writes a run's tables as they come, so that memory does not grow with the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from autoscalers.model import JOB, Decision
from experiments.schema import RUN_TABLES
from infra.model import Applied, Recording

#: Quick, and small enough: stronger levels cost more time than the simulation itself.
_COMPRESSION = "lz4"


class Recorder:
    """The four Parquet files of one run."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._run_id = run_id
        self._writers = {
            name: pq.ParquetWriter(folder / f"{name}.parquet", schema, compression=_COMPRESSION)
            for name, schema in RUN_TABLES.items()
        }
        self._decisions: dict[str, list[Any]] = {name: [] for name in RUN_TABLES["decisions"].names[1:]}

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush_decisions()
        for writer in self._writers.values():
            writer.close()

    def decision(self, time_s: float, applied: list[Applied], decision: Decision, took_ms: float) -> None:
        notes = list(decision.notes.items()) or None
        for part in applied:
            row = (time_s, part.target, part.before, part.wanted, part.applied, decision.reason, took_ms, notes)
            for column, value in zip(self._decisions.values(), row, strict=True):
                column.append(value)

    def record(self, rows: Recording) -> None:
        self._write("metrics", rows.metrics)
        self._write("instances", rows.instances)
        self._write("events", rows.events)
        self._flush_decisions()

    def _flush_decisions(self) -> None:
        self._write("decisions", self._decisions)
        for column in self._decisions.values():
            column.clear()

    def _write(self, table: str, columns: Mapping[str, Any]) -> None:
        schema = RUN_TABLES[table]
        rows = len(next(iter(columns.values()), ()))
        if rows == 0:
            return
        arrays = [
            _repeated(self._run_id if field.name == "run_id" else JOB, rows, field.type)
            if field.name not in columns
            else _array(columns[field.name], field.type)
            for field in schema
        ]
        self._writers[table].write_table(pa.Table.from_arrays(arrays, schema=schema))


def _repeated(value: str, rows: int, kind: pa.DataType) -> pa.Array:
    """One value for every row, without making it once a row."""
    indices = pa.array(np.zeros(rows, dtype=np.int16))
    return pa.DictionaryArray.from_arrays(indices, pa.array([value])).cast(kind)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    """NaN means "not known", which Parquet calls null."""
    return pa.array(values, type=kind, from_pandas=True)
