"""How long the aggregation of a campaign takes, and how much memory, as its archive grows.

    python -m benchmarks.aggregation

Writes synthetic archives of one and ten million rows of metrics (runs of six hours, a row a second),
aggregates each in a process of its own with a Spark of its own, and prints wall time, session start
included, and the largest resident memory of that process and its children together. If the time grows
no faster than the rows, the growth is at most 1.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.aggregate import Objectives, RunRecord, aggregate
from analysis.results import read_provenance
from experiments.schema import RUN_TABLES

RUN_S = 6 * 3600
REPETITIONS = 5
SIZES = (1_000_000, 10_000_000)
OBJECTIVES = Objectives(latency_p95_s=1.0, worker_hour=0.0612, violation_minute=0.01, currency="USD")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One aggregation."""

    rows: int
    runs: int
    seconds: float
    peak_mb: float
    percentiles: str


def main(sizes: Sequence[int] = SIZES) -> dict[str, float]:
    """Measure every size."""
    with tempfile.TemporaryDirectory(prefix="tidebed-benchmark-") as folder:
        measurements = [_measure(rows, Path(folder) / str(rows)) for rows in sizes]
    smallest, largest = measurements[0], measurements[-1]
    growth = (largest.seconds / smallest.seconds) / (largest.rows / smallest.rows)
    figures: dict[str, float] = {}
    for found in measurements:
        name = f"{found.rows:,} rows ({found.runs} runs, percentiles {found.percentiles})"
        figures[f"{name}: s"] = found.seconds
        figures[f"{name}: peak MB"] = found.peak_mb
    figures["growth of time over growth of rows (at most 1 is linear)"] = growth
    return figures


def write_archive(folder: Path, rows: int, *, duration_s: int = RUN_S) -> list[RunRecord]:
    """A synthetic archive of at least this many rows of metrics; one run at a time is in memory."""
    return [_write_run(folder, index, duration_s) for index in range(math.ceil(rows / duration_s))]


def _write_run(folder: Path, index: int, duration_s: int) -> RunRecord:
    experiment, seed = divmod(index, REPETITIONS)
    run = RunRecord(
        run_id=f"run-{index:05}",
        folder=folder / f"run-{index:05}",
        experiment=f"experiment-{experiment:04}",
        job="yahoo",
        workload=f"advertising-{experiment // 6}",
        autoscaler=f"autoscaler-{experiment % 6}",
        place="simulated",
        seed=seed,
        duration_s=duration_s,
    )
    run.folder.mkdir(parents=True)
    for table, columns in {
        "metrics": _metrics(index, duration_s),
        "decisions": _decisions(duration_s),
        "events": _events(duration_s),
    }.items():
        schema = RUN_TABLES[table]
        rows = len(columns["time_s"])
        nothing = pa.nulls(rows)
        arrays = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
        arrays["run_id"] = pa.repeat(run.run_id, rows)
        content = pa.table({name: arrays.get(name, nothing) for name in schema.names}).cast(schema)
        pq.write_table(content, run.folder / f"{table}.parquet")
    return run


def _metrics(seed: int, duration_s: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    time_s = np.arange(duration_s)
    workload = 30_000 * (1.2 + np.sin(2 * np.pi * time_s / duration_s)) + rng.normal(0, 500, duration_s)
    demand = np.ceil(workload / 5_000)
    workers = np.repeat(np.ceil(workload[::60] / 5_000) + rng.integers(-1, 3, len(workload[::60])), 60)[:duration_s]
    latency = rng.lognormal(-2, 0.8, duration_s)
    latency[time_s % 900 < 10] = np.nan
    return {
        "time_s": time_s,
        "operator": np.repeat("job", duration_s),
        "workload": workload,
        "throughput": workload + rng.normal(0, 200, duration_s),
        "backlog": rng.exponential(5_000, duration_s),
        "latency_mean_s": latency,
        "latency_p50_s": 0.9 * latency,
        "latency_p95_s": 2.5 * latency,
        "latency_p99_s": 4.0 * latency,
        "workers_wanted": workers,
        "workers_running": workers,
        "workers_ready": workers,
        "capacity": 5_000 * workers,
        "demand_workers": demand,
        "cpu": rng.uniform(0.3, 0.95, duration_s),
        "memory": rng.uniform(0.3, 0.6, duration_s),
        "nodes": np.full(duration_s, 4),
    }


def _decisions(duration_s: int) -> dict[str, Any]:
    time_s = np.arange(0.0, duration_s, 60)
    before = np.arange(len(time_s)) // 4 % 7 + 2
    return {
        "time_s": time_s,
        "target": np.repeat("job", len(time_s)),
        "before": before,
        "wanted": np.roll(before, -1),
        "applied": np.roll(before, -1),
        "reason": np.repeat("CPU 90 % is above its target", len(time_s)),
        "took_ms": np.linspace(0.1, 3, len(time_s)),
    }


def _events(duration_s: int) -> dict[str, Any]:
    kinds = {"rescale_start": 0.0, "outage_start": 0.0, "outage_end": 10.0, "rescale_end": 10.0, "recovered": 95.0}
    starts = np.arange(0.0, duration_s - 100, 900)
    return {
        "time_s": np.add.outer(starts, list(kinds.values())).ravel(),
        "kind": list(kinds) * len(starts),
        "target": ["job"] * len(kinds) * len(starts),
    }


def _measure(rows: int, folder: Path) -> Measurement:
    runs = write_archive(folder / "runs", rows)
    (folder / "runs.json").write_text(json.dumps([asdict(run) | {"folder": str(run.folder)} for run in runs]))
    started = time.monotonic()
    child = subprocess.Popen([sys.executable, "-m", "benchmarks.aggregation", str(folder)])
    peak = 0
    while child.poll() is None:
        peak = max(peak, sum(_resident_bytes(pid) for pid in _family(child.pid)))
        time.sleep(0.1)
    seconds = time.monotonic() - started
    if child.returncode != 0:
        raise SystemExit(f"the aggregation of {rows} rows failed")
    facts = read_provenance(folder / "results")
    return Measurement(facts["rows"], facts["runs"], seconds, peak / 1e6, facts["percentiles"])


def _family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                yield from _family(int(child))
        except OSError:  # ended in the meantime
            continue


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _aggregate(folder: Path) -> None:
    runs = json.loads((folder / "runs.json").read_text())
    records = [RunRecord(**(run | {"folder": Path(run["folder"])})) for run in runs]
    aggregate(records, folder / "results", objectives=OBJECTIVES, suite="benchmark")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _aggregate(Path(sys.argv[1]))
    else:
        for name, value in main().items():
            print(f"{name:60} {value:12,.2f}")
