"""Recorded load from a CSV file with the columns `t_seconds` and `rate`, plain or gzipped.

A sample is the rate from its time on; between samples the rate moves in a straight line, and the last one holds for
one usual step (the median). So 21,600 rows at 0, 1, 2, ... s are a trace of 6 h. A run takes the trace from its
first row on. A run longer than the trace is an error, unless the spec says `repeat: true` or `stretch: ...`: to go
on with the last value would invent a load that was never recorded.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, TextIO

import numpy as np

from workloads.model import Floats, Timeline, Workload, WorkloadError
from workloads.units import LARGEST_RATE, LONGEST_S, format_duration, format_quantity, printable, shown

TIME, RATE = "t_seconds", "rate"
#: Traces kept in memory: the experiments of a suite share theirs.
_KEPT: Final = 8


@dataclass(frozen=True, eq=False)
class Trace(Workload):
    """Samples of a recorded load, from 0 s on."""

    source: str
    times: Floats = field(repr=False)
    """Seconds, increasing, the first one 0."""
    samples: Floats = field(repr=False)
    """Events/s."""

    @property
    def length_s(self) -> int:
        return int(self.times[-1] + np.median(np.diff(self.times)))

    def rates(self, timeline: Timeline) -> Floats:
        return np.interp(timeline.seconds, self.times, self.samples)


def load_trace(path: Path) -> Trace:
    """Read a trace; a WorkloadError names the file and the line that is wrong."""
    try:
        status = path.stat()
    except OSError as error:
        raise WorkloadError(f"cannot read {printable(str(path))}: {_why(error)}") from None
    except ValueError:
        raise WorkloadError(f"{shown(str(path))} is not a path") from None
    return _load(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=_KEPT)
def _load(path: Path, _changed_ns: int, _size: int) -> Trace:
    """The file as it was when it last changed."""
    try:
        with path.open("rb") as file:
            raw = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
            table = np.array(list(_samples(path, text)))
    except (OSError, EOFError, zlib.error) as error:
        raise WorkloadError(f"cannot read {printable(str(path))}: {_why(error)}") from None
    except UnicodeDecodeError:
        raise WorkloadError(f"{path} is not a text file") from None
    if len(table) < 2:
        raise WorkloadError(f"{path} holds {len(table)} samples; a trace needs at least two")
    times, samples = table[:, 0] - table[0, 0], table[:, 1].copy()
    trace = Trace(str(path), times, samples)
    if not 1 <= trace.length_s <= LONGEST_S:
        lasts = format_duration(times[-1])
        raise WorkloadError(f"{path} covers {lasts}; a trace lasts from 1s to {format_duration(LONGEST_S)}")
    for array in (times, samples):
        array.flags.writeable = False  # shared by all who load this file
    return trace


def _samples(path: Path, file: TextIO) -> Iterator[tuple[float, float]]:
    """(time, rate) of each row."""
    reader = csv.reader(file)
    try:
        header = [name.strip() for name in next(reader, [])]
        for column in (TIME, RATE):
            if column not in header:
                raise WorkloadError(f'{path}, line 1: there is no column "{column}"; the header is {TIME},{RATE}')
        time_at, rate_at = header.index(TIME), header.index(RATE)
        before = -math.inf
        for row in reader:
            if not row:
                continue
            where = f"{path}, line {reader.line_num}"
            time = _figure(row, time_at, f"{where}: {TIME}")
            rate = _figure(row, rate_at, f"{where}: {RATE}")
            if time <= before:
                raise WorkloadError(f"{where}: {TIME} {time:g} does not come after {before:g}")
            if not 0 <= rate <= LARGEST_RATE:
                valid = f"from 0 to {format_quantity(LARGEST_RATE)} events/s"
                raise WorkloadError(f"{where}: {RATE} {rate:g} is not {valid}")
            before = time
            yield time, rate
    except csv.Error as error:
        raise WorkloadError(f"{path}, line {reader.line_num}: {error}") from None


def _figure(row: list[str], column: int, what: str) -> float:
    if column >= len(row):
        raise WorkloadError(f"{what} is missing")
    try:
        value = float(row[column])
    except ValueError:
        raise WorkloadError(f"{what} {shown(row[column])} is not a number") from None
    if not math.isfinite(value):
        raise WorkloadError(f"{what} {shown(row[column])} is not a finite number")
    return value


def _why(error: Exception) -> str:
    """The reason alone, in plain words."""
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case gzip.BadGzipFile() | EOFError() | zlib.error():
            return "it is not a complete gzip file"
        case OSError(strerror=str(reason)):
            return reason.lower()
        case _:
            return str(error)
