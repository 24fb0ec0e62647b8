"""Measurements of the Daedalus paper: CPU and throughput of one, two and twelve Flink workers.

Pfister et al. 2024. The data state no licence, so nothing of them is kept in this repository.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autoscalers.model import Floats
from experiments.validation.tables import columns

FOLDER = "daedalus_measured"
_RAMP = "single_worker_ramp.parquet"
_TWELVE = "data_skew_12.parquet"


@dataclass(frozen=True, slots=True, eq=False)
class Daedalus:
    """A worker under a load that grows slowly, and twelve near their maximum."""

    ramp_throughput: Floats
    ramp_cpu: Floats
    twelve_throughput: Floats
    """A value a sample and worker."""
    twelve_cpu: Floats


def read(folder: Path) -> Daedalus:
    ramp = columns(folder / _RAMP, ("throughput", "cpu"))
    twelve = columns(folder / _TWELVE, ("throughput", "cpu"))
    return Daedalus(ramp["throughput"], ramp["cpu"], twelve["throughput"], twelve["cpu"])
