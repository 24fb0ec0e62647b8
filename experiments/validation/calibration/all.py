"""Every constant that the data can tell, in one list."""

from __future__ import annotations

from experiments.validation.calibration.capacity import capacity
from experiments.validation.calibration.catch_up import savepoint_outages, warm_up
from experiments.validation.calibration.delays import delays
from experiments.validation.calibration.estimate import Estimate
from experiments.validation.calibration.job import job
from experiments.validation.calibration.noise import drift, readings
from experiments.validation.calibration.quiet import cpu, lag, latency
from experiments.validation.calibration.settling import settling
from experiments.validation.sources import Data


def calibrate(data: Data) -> list[Estimate]:
    """From runs of the calibration job alone."""
    runs = [run for run in data.runs if run.calibrated]
    return [
        *job(data.daedalus),
        *capacity(runs),
        *cpu(runs, data.minutes),
        *latency(runs),
        *lag(runs),
        *delays(runs),
        *settling(runs),
        *warm_up(runs),
        *savepoint_outages(runs),
        *drift(runs),
        *readings(data.daedalus),
    ]
