"""What Daedalus's measurements tell of the job itself: a worker's capacity, its CPU, and how keys fall."""

from __future__ import annotations

import numpy as np

from experiments.validation.calibration.estimate import Estimate, constant
from experiments.validation.daedalus import Daedalus
from jobs.yahoo.profile import FLINK_REACTIVE

#: A worker that is this busy takes what it can.
BUSY = 0.95
_WORKERS = 12


def job(measured: Daedalus | None) -> list[Estimate]:
    if measured is None:
        return []
    where, profile = "job yahoo", FLINK_REACTIVE
    busy = measured.ramp_throughput[measured.ramp_cpu > BUSY]
    _, idle = np.polyfit(measured.ramp_throughput, measured.ramp_cpu, 1)
    rates = measured.twelve_throughput.reshape(-1, _WORKERS)
    hottest = measured.twelve_cpu.reshape(-1, _WORKERS).max(axis=1)
    capacity = float(busy.mean())
    skew = float((rates.max(axis=1) / rates.mean(axis=1)).mean())
    exponent = float(np.log(rates.sum(axis=1).max() * skew / capacity) / np.log(_WORKERS))
    return [
        constant(where, "worker_capacity", capacity, profile, busy.size, "throughput of one worker above 95 % CPU"),
        constant(
            where,
            "scaling_exponent",
            exponent,
            profile,
            rates.shape[0],
            f"most of {_WORKERS} workers, times their skew, over one",
        ),
        constant(where, "cpu_idle", idle, profile, measured.ramp_cpu.size, "line of CPU over throughput, one worker"),
        constant(where, "cpu_full", float(hottest.mean()), profile, hottest.size, f"hottest of {_WORKERS} workers"),
    ]
