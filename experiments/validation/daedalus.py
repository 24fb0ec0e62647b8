"""Measurements of the Daedalus paper: CPU and throughput of one, two and twelve Flink workers.

Pfister et al. 2024. The data state no licence, so nothing of them is kept in this repository.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autoscalers.model import Floats
from experiments.validation.tables import columns
from workloads.trace import load_trace

FOLDER = "daedalus_measured"
_RAMP = "single_worker_ramp.parquet"
_TWELVE = "data_skew_12.parquet"
_TWO = "sine_p2.parquet"
_EVALUATION = "ysb_cpu_20.parquet"
_STATIC = "daedalus/flink-static-metrics"
#: The load of that evaluation, beside the folder.
_LOAD = Path("workloads") / "daedalus_advertising_6h_550K_max.csv.gz"


def _nothing() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Daedalus:
    """One worker as its load grows, two under a sine, twelve near their maximum and through an evaluation."""

    ramp_throughput: Floats
    ramp_cpu: Floats
    twelve_throughput: Floats
    """A value a sample and worker."""
    twelve_cpu: Floats
    two_throughput: Floats = field(default_factory=_nothing)
    """All samples of the one worker, then those of the other."""
    two_cpu: Floats = field(default_factory=_nothing)
    static_load: Floats = field(default_factory=_nothing)
    """Of the evaluation's static fleet on Yahoo: events/s, and the mean CPU of its workers."""
    static_cpu: Floats = field(default_factory=_nothing)
    ramp_latency_s: Floats = field(default_factory=_nothing)


def read(folder: Path) -> Daedalus:
    ramp = columns(folder / _RAMP, ("throughput", "cpu", "latency_ms"))
    twelve, two = (columns(folder / file, ("throughput", "cpu")) for file in (_TWELVE, _TWO))
    load, cpu = _static_fleet(folder)
    return Daedalus(
        ramp_throughput=ramp["throughput"],
        ramp_cpu=ramp["cpu"],
        twelve_throughput=twelve["throughput"],
        twelve_cpu=twelve["cpu"],
        two_throughput=two["throughput"],
        two_cpu=two["cpu"],
        static_load=load,
        static_cpu=cpu,
        ramp_latency_s=ramp["latency_ms"] / 1e3,
    )


def _static_fleet(folder: Path) -> tuple[Floats, Floats]:
    """Load and CPU at the same moments; nothing where the load is not at hand."""
    if not (folder.parent / _LOAD).is_file():
        return _nothing(), _nothing()
    trace = load_trace(folder.parent / _LOAD)
    seen = columns(folder / _EVALUATION, ("t_seconds", _STATIC))
    within = seen["t_seconds"] < trace.length_s
    seconds = seen["t_seconds"][within].astype(int)
    return trace.curve(trace.length_s)[seconds], seen[_STATIC][within]
