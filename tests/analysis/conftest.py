"""Small archives, and one Spark session for all tests that need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from analysis.runs import RunRecord
from analysis.spark import session
from experiments.schema import RUN_TABLES


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with session("local[2]") as running:
        yield running


class Archive:
    """Writes runs the way the archive keeps them; what is not given is null."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self,
        run_id: str,
        seconds: Mapping[str, Sequence[Any]],
        *,
        decisions: Sequence[Mapping[str, Any]] = (),
        events: Sequence[tuple[float, str]] = (),
        others: pd.DataFrame | None = None,
        **about: Any,
    ) -> RunRecord:
        """`seconds` are columns of metrics for the whole job, one value a second; `others` further rows of metrics."""
        metrics = pd.DataFrame(seconds)
        metrics = metrics.assign(time_s=np.arange(len(metrics)), operator="job")
        if others is not None:
            metrics = pd.concat([metrics, others])
        folder = self.folder / run_id
        folder.mkdir(parents=True)
        self.write(folder, run_id, "metrics", metrics)
        self.write(folder, run_id, "decisions", pd.DataFrame(decisions))
        self.write(folder, run_id, "events", pd.DataFrame(list(events), columns=["time_s", "kind"]))
        known = {
            "experiment": "experiment",
            "job": "yahoo",
            "workload": "sine",
            "autoscaler": "hpa",
            "place": "simulated",
            "seed": 0,
            "duration_s": float(len(pd.DataFrame(seconds))),
        }
        return RunRecord(run_id=run_id, folder=folder, **(known | about))

    @staticmethod
    def write(folder: Path, run_id: str, table: str, rows: pd.DataFrame) -> None:
        schema = RUN_TABLES[table]
        columns = {}
        for field in schema:
            # Not through from_pandas: a NaN that was measured as NaN stays one in the file.
            known = field.name in rows.columns and len(rows) > 0
            values = rows[field.name].astype(object).tolist() if known else [None] * len(rows)
            kind = pa.string() if pa.types.is_dictionary(field.type) else field.type
            columns[field.name] = pa.array([run_id] * len(rows) if field.name == "run_id" else values, type=kind)
        pq.write_table(pa.table(columns).cast(schema), folder / f"{table}.parquet")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "runs")


def random_seconds(seed: int, length: int = 400) -> dict[str, Any]:
    """A run with everything that happens: seconds without output, boots, steps of demand."""
    rng = np.random.default_rng(seed)
    latency = rng.lognormal(-2, 1, length).astype("float32")
    silent = rng.random(length) < 0.1
    demand = np.repeat(rng.integers(1, 6, length // 20 + 1), 20)[:length]
    ready = np.repeat(rng.integers(1, 6, length // 25 + 1), 25)[:length]
    return {
        "workload": rng.uniform(100, 200, length),
        "throughput": np.where(silent, 0.0, rng.uniform(50, 250, length)),
        "backlog": rng.exponential(1000, length),
        **{
            f"latency_{name}_s": [
                None if quiet else float(np.float32(factor) * value)
                for quiet, value in zip(silent, latency, strict=True)
            ]
            for name, factor in {"mean": 1.0, "p50": 0.8, "p95": 2.0, "p99": 3.0}.items()
        },
        "workers_running": ready + rng.integers(0, 2, length),
        "workers_ready": ready,
        "demand_workers": demand,
        "capacity": 50.0 * ready,
        "cpu": rng.random(length).astype("float32"),
    }


@pytest.fixture(name="random_seconds")
def random_seconds_fixture() -> Any:
    return random_seconds
