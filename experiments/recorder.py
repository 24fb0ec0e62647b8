"""Writes a run's tables as they come, so that memory does not grow with the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
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
#: Rows that are gathered before they are written: readers are slow with many small groups of rows.
_GROUP = 20_000


class Recorder:
    """The Parquet files of one run."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._run_id = run_id
        self._writers = {
            name: pq.ParquetWriter(
                folder / f"{name}.parquet", schema, compression=_COMPRESSION, use_dictionary=_repeating(schema)
            )
            for name, schema in RUN_TABLES.items()
        }
        self._gathered: dict[str, list[pa.Table]] = {name: [] for name in RUN_TABLES}
        self._decisions: list[tuple[Any, ...]] = []

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush_decisions()
        for name, writer in self._writers.items():
            self._write_gathered(name)
            writer.close()

    def decision(self, time_s: float, applied: list[Applied], decision: Decision, took_ms: float) -> None:
        """A row for each thing that a decision is about; its notes stand with the first."""
        notes = list(decision.notes.items()) or None
        for part in applied:
            row = (time_s, part.target, part.before, part.wanted, part.applied, decision.reason, took_ms, notes)
            self._decisions.append(row)
            notes = None

    def profiling(self, trials: Sequence[Mapping[str, Any]]) -> None:
        """The trials before the run, and an event that tells how much they took."""
        columns = {name: [trial[name] for trial in trials] for name in RUN_TABLES["profiling"].names[1:]}
        self._add("profiling", columns)
        hours = sum(columns["worker_seconds"]) / 3600
        scale_outs = ", ".join(map(str, dict.fromkeys(columns["workers"])))
        detail = f"{len(trials)} trials with {scale_outs} workers: {hours:.1f} worker-hours"
        self._add("events", {"time_s": [0.0], "kind": ["profiled"], "target": [JOB], "detail": [detail]})

    def record(self, rows: Recording) -> None:
        self._add("metrics", rows.metrics)
        self._add("instances", rows.instances)
        self._add("events", rows.events)
        self._flush_decisions()

    def _flush_decisions(self) -> None:
        columns = zip(*self._decisions, strict=True)
        self._add("decisions", dict(zip(RUN_TABLES["decisions"].names[1:], columns, strict=False)))
        self._decisions.clear()

    def _add(self, table: str, columns: Mapping[str, Any]) -> None:
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
        self._gathered[table].append(pa.Table.from_arrays(arrays, schema=schema))
        if sum(part.num_rows for part in self._gathered[table]) >= _GROUP:
            self._write_gathered(table)

    def _write_gathered(self, table: str) -> None:
        if self._gathered[table]:
            self._writers[table].write_table(pa.concat_tables(self._gathered[table]))
            self._gathered[table].clear()


def _repeating(schema: pa.Schema) -> list[str]:
    """The columns whose values come again and again: all but measured ones, which a dictionary only makes larger."""
    return [field.name for field in schema if not pa.types.is_floating(field.type)]


@lru_cache(maxsize=16)
def _repeated(value: str, rows: int, kind: pa.DataType) -> pa.Array:
    """One value for every row, without making it once a row; pieces of a table are mostly of the same length."""
    indices = pa.array(np.zeros(rows, dtype=np.int16))
    return pa.DictionaryArray.from_arrays(indices, pa.array([value])).cast(kind)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    """NaN means "not known", which Parquet calls null."""
    return pa.array(values, type=kind, from_pandas=True)
