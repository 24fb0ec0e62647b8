"""How like a recorded trace a generated workload is: python -m benchmarks.likeness SHAPE TRACE.csv.gz"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import workloads
from workloads.trace import load_trace

MINUTE = 60


def features(curve: np.ndarray) -> dict[str, float]:
    """What a scaler feels of a workload, whatever its size."""
    minutes = curve[: curve.size // MINUTE * MINUTE].reshape(-1, MINUTE).mean(axis=1) / curve.max()
    power = np.abs(np.fft.rfft(minutes - minutes.mean())) ** 2
    slow = np.fft.rfftfreq(minutes.size, MINUTE) <= 1 / 3600
    return {
        "mean / peak": float(minutes.mean()),
        "median / peak": float(np.median(minutes)),
        "p95 / peak": float(np.quantile(minutes, 0.95)),
        "when it peaks, share of the run": float(minutes.argmax() / minutes.size),
        "steepest rise a minute / peak": float(np.diff(minutes).max()),
        "steepest fall a minute / peak": float(-np.diff(minutes).min()),
        "share of variance slower than an hour": float(power[slow].sum() / power.sum()),
        "time above half of the peak": float((minutes > 0.5).mean()),
    }


def main(shape: str, path: str) -> None:
    trace = load_trace(Path(path))
    recorded = trace.curve(trace.length_s)
    spec = {"shape": shape, "peak": float(recorded.max()), "low": float(recorded.min())}
    generated = workloads.parse(spec, Path()).curve(recorded.size)
    table = Table(title=f"{shape} against {Path(path).name}", title_justify="left")
    for heading in ("", "recorded", "generated"):
        table.add_column(heading, justify="right" if heading else "left")
    for (name, one), other in zip(features(recorded).items(), features(generated).values(), strict=True):
        table.add_row(name, f"{one:.3f}", f"{other:.3f}")
    likeness = float(np.corrcoef(recorded, generated)[0, 1])
    table.add_row("correlation, second by second", "", f"{likeness:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
