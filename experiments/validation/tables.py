"""Reading the data sets' files; what is wrong with one is told in a line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from autoscalers.model import Floats
from experiments.errors import UserError


def columns(path: Path, names: Sequence[str]) -> dict[str, Floats]:
    """Numeric columns of a Parquet file; NaN where a value is missing."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as fault:
        raise UserError(f"{path}: not a readable Parquet file ({str(fault).splitlines()[0]})") from fault
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise UserError(f"{path}: no column {', '.join(missing)}; there are: {', '.join(table.column_names)}")
    found = {}
    for name in names:
        try:
            found[name] = np.asarray(table[name].cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as fault:
            raise UserError(f"{path}: column {name} holds {table[name].type}; it must be numbers") from fault
    return found


def rows(path: Path, names: Sequence[str]) -> list[dict[str, str]]:
    """A CSV file by column name."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            found = list(reader)
            header = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise UserError(f"{path}: not a readable CSV file ({fault})") from fault
    missing = [name for name in names if name not in header]
    if missing:
        raise UserError(f"{path}: no column {', '.join(missing)}; there are: {', '.join(header)}")
    return found


def value(row: dict[str, str], name: str, path: Path) -> float:
    """A number of a CSV row; NaN where the field is empty."""
    text = row[name]
    try:
        return float(text) if text else float("nan")
    except ValueError as fault:
        raise UserError(f'{path}: {name} is "{text}"; it must be a number') from fault


def by_run(table: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """Rows under the run they belong to."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in table:
        found.setdefault(row["run"], []).append(row)
    return found
