"""Cuts the extracts that come with Tidebed out of the full data: python -m experiments.validation.cut DATA

Two hours of two runs, the interruptions of two more and the quiet minutes of another two, rounded to what their
readings can tell. Only sources whose licence allows it: Phoebe and Demeter, both Apache-2.0.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.errors import UserError
from experiments.validation import demeter, phoebe
from experiments.validation.sources import EXTRACTS
from experiments.validation.tables import columns, rows, value

#: Run, first second, last second: rescales and failures of a test run, and of one that was calibrated on.
_PHOEBE = ("cars_phoebe_4", 3600, 10800)
_DEMETER = ("1_reactive35_ADS_24_small", 0, 7200)
#: Runs of which only the interruptions are kept, and those of which the quiet minutes are.
_INTERRUPTED = ("1_reactive35_CARS_24", "1_operator35_CARS_24")
_QUIET = ("1_baseline_CARS_24", "1_operator35_CARS_24")
#: Of the quiet minutes every fourth.
_EVERY = 4


def cut(data: Path, target: Path) -> None:
    """Write the extracts anew."""
    name, begin, end = _PHOEBE
    (target / phoebe.FOLDER).mkdir(parents=True, exist_ok=True)
    _series(data / phoebe.FOLDER, target / phoebe.FOLDER, name, begin, end, phoebe.COLUMNS)
    _events(data / phoebe.FOLDER, target / phoebe.FOLDER, phoebe.EVENTS, {name: (begin, end)})
    name, begin, end = _DEMETER
    (target / demeter.FOLDER).mkdir(parents=True, exist_ok=True)
    _series(data / demeter.FOLDER, target / demeter.FOLDER, name, begin, end, demeter.COLUMNS)
    whole = dict.fromkeys(_INTERRUPTED, (0, sys.maxsize))
    _events(data / demeter.FOLDER, target / demeter.FOLDER, demeter.ALL_OF_EVENTS, {name: (begin, end), **whole})
    minutes = [
        row for row in rows(data / demeter.FOLDER / demeter.MINUTES_FILE, demeter.MINUTES) if row["run"] in _QUIET
    ]
    _write(target / demeter.FOLDER / demeter.MINUTES_FILE, demeter.MINUTES, minutes[::_EVERY])


def _series(source: Path, target: Path, name: str, begin: int, end: int, names: Sequence[str]) -> None:
    found = columns(source / f"{name}.parquet", names)
    inside = (found["t"] >= begin) & (found["t"] < end)
    table = pa.table({key: _rounded(key, found[key][inside]) for key in names})
    pq.write_table(table, target / f"{name}.parquet", compression="zstd", compression_level=19)


def _rounded(name: str, values: np.ndarray) -> pa.Array:
    """Whole numbers, but for CPU."""
    kept = np.round(values, 3 if name == "cpu_load" else 0).astype(np.float32)
    return pa.array(kept, mask=np.isnan(kept))


def _events(source: Path, target: Path, names: Sequence[str], windows: dict[str, tuple[int, int]]) -> None:
    file = source / "events.csv"
    kept = [
        row
        for row in rows(file, names)
        if row["run"] in windows and windows[row["run"]][0] <= value(row, "t", file) < windows[row["run"]][1]
    ]
    _write(target / "events.csv", names, kept)


def _write(file: Path, names: Sequence[str], table: Sequence[dict[str, str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as open_file:
        writer = csv.DictWriter(open_file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _short(text) for key, text in row.items()} for row in table)


def _short(text: str) -> str:
    """Five digits of a number; words as they are.

    >>> _short("19966.81779974229"), _short("0.34086800294612796"), _short("failure"), _short("24.0")
    ('19967', '0.34087', 'failure', '24')
    """
    try:
        return f"{float(text):.5g}" if "e" not in f"{float(text):.5g}" else f"{float(text):.0f}"
    except ValueError:
        return text


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m experiments.validation.cut DATA")
    try:
        cut(Path(sys.argv[1]), EXTRACTS)
    except UserError as fault:
        sys.exit(str(fault))
