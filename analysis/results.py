"""The result tables of a campaign: Parquet on disk, pandas in hand, the archive's schema in between."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError
from experiments.schema import RESULT_TABLES

#: How the tables of a campaign were made, beside the tables.
PROVENANCE = "aggregation.json"


def path_of(results: Path, table: str) -> Path:
    """Where a table lies.

    >>> path_of(Path("results"), "summary").as_posix()
    'results/summary.parquet'
    """
    if table not in RESULT_TABLES:
        raise AnalysisError(f'there is no result table "{table}"; known: {", ".join(RESULT_TABLES)}')
    return results / f"{table}.parquet"


def exists(results: Path, table: str) -> bool:
    return path_of(results, table).is_file()


def write(results: Path, table: str, rows: pd.DataFrame) -> None:
    """Write a table with exactly the columns and types of the schema; readers see the old file or the whole new one."""
    path = path_of(results, table)
    schema = RESULT_TABLES[table]
    missing = [name for name in schema.names if name not in rows.columns]
    if missing:
        raise AnalysisError(f"the table {table} lacks the column {missing[0]}")
    content = pa.Table.from_pandas(rows[schema.names], schema=schema, preserve_index=False)
    # pandas' own description of the frame is of no use to other readers.
    content = content.replace_schema_metadata(schema.metadata)
    _replace(path, lambda partial: pq.write_table(content, partial))


def read(results: Path, table: str) -> pd.DataFrame:
    """A table as pandas; whole numbers stay whole, what is absent is NaN or None."""
    path = path_of(results, table)
    if not path.is_file():
        raise AnalysisError(f"{path} is not there: aggregate the campaign first")
    try:
        content = pq.read_table(path, schema=RESULT_TABLES[table])
    except (pa.ArrowInvalid, OSError) as error:
        raise AnalysisError(f"{path} cannot be read: {_first_line(error)}") from error
    frame: pd.DataFrame = content.to_pandas()
    return frame


def write_provenance(results: Path, facts: Mapping[str, Any]) -> None:
    text = json.dumps(facts, indent=2) + "\n"
    _replace(results / PROVENANCE, lambda partial: partial.write_text(text, encoding="utf-8"))


def read_provenance(results: Path) -> dict[str, Any]:
    """How the tables were made; empty where that is not recorded."""
    path = results / PROVENANCE
    if not path.is_file():
        return {}
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def _replace(path: Path, fill: Callable[[Path], object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        fill(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
