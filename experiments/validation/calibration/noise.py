"""How much a capacity drifts, and how far a reading is off."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from autoscalers.model import Floats
from experiments.validation.calibration.estimate import Estimate, constant
from experiments.validation.calibration.quiet import quiet
from experiments.validation.clusters import CLUSTERS
from experiments.validation.daedalus import Daedalus
from experiments.validation.measured import Measured

MINUTE_S = 60
#: Minutes up to this far apart are compared.
LAGS = 5


def white(values: Floats) -> float:
    """Standard deviation of the noise that is new in each value, whatever the slow course beneath it.

    Second differences of white noise have six times its variance; those of a smooth course vanish.

    >>> round(white(np.random.default_rng(1).normal(0.0, 0.5, 100_000) + np.linspace(0.0, 90.0, 100_000)), 2)
    0.5
    """
    return float(np.sqrt(np.mean(np.diff(values, 2) ** 2) / 6.0))


def minutes_cost(run: Measured, idle: float, exponent: float) -> Floats:
    """Logarithm of the CPU that an event took, a value a minute, less what the load explains; NaN if not quiet."""
    calm = quiet(run) & np.isfinite(run.cpu) & (run.throughput > 0.0)
    whole = run.seconds // MINUTE_S * MINUTE_S
    by_minute = {
        name: _means(np.where(calm, values, np.nan)[:whole])
        for name, values in (("cpu", run.cpu - idle), ("rate", run.throughput / run.workers**exponent))
    }
    cost = np.log(np.where(by_minute["cpu"] > 0.0, by_minute["cpu"], np.nan) / by_minute["rate"])
    known = np.isfinite(cost)
    if np.count_nonzero(known) < 2 * LAGS:
        return np.full(cost.size, np.nan)
    return np.asarray(cost - np.polyval(np.polyfit(by_minute["rate"][known], cost[known], 1), by_minute["rate"]))


def _means(values: Floats) -> Floats:
    """Of each minute that is quiet for the most part."""
    minutes = values.reshape(-1, MINUTE_S)
    known = np.isfinite(minutes)
    enough = known.sum(axis=1) > 0.9 * MINUTE_S
    found = np.full(minutes.shape[0], np.nan)
    found[enough] = np.nanmean(minutes[enough], axis=1)
    return found


def drift(runs: Iterable[Measured]) -> list[Estimate]:
    """How the cost of an event strays over minutes: what it shares with the minute before is no reading error."""
    profile = CLUSTERS["demeter"].profile
    shared: list[list[float]] = [[] for _ in range(LAGS)]
    n = 0
    for run in runs:
        if run.source != "Demeter" or run.system not in _STEADY:
            continue
        cost = minutes_cost(run, profile["cpu_idle"], profile["scaling_exponent"])
        n += int(np.isfinite(cost).sum())
        for lag in range(LAGS):
            products = cost[lag + 1 :] * cost[: -lag - 1]
            shared[lag] += products[np.isfinite(products)].tolist()
    if not n:
        return []
    covariance = np.array([np.mean(products) for products in shared])
    slope, start = np.polyfit(MINUTE_S * np.arange(1, LAGS + 1), np.log(covariance), 1)
    how = "CPU an event takes in quiet minutes, and how alike minutes are that follow each other"
    return [
        constant("all engines", "capacity_noise", float(np.exp(0.5 * start)), profile, n, how),
        constant("all engines", "capacity_noise_time_s", float(-1.0 / slope), profile, n, "as above"),
    ]


#: The operator's runs are hardly ever quiet.
_STEADY = frozenset({"baseline", "reactive"})


def readings(measured: Daedalus | None) -> list[Estimate]:
    """A worker whose load grows slowly: what its readings jump by is noise."""
    if measured is None:
        return []
    profile = CLUSTERS["phoebe"].profile
    slope, idle = np.polyfit(measured.ramp_throughput, measured.ramp_cpu, 1)
    off = measured.ramp_cpu - (idle + slope * measured.ramp_throughput)
    busy = measured.ramp_throughput > np.median(measured.ramp_throughput)
    rate = white(measured.ramp_throughput[busy]) / float(measured.ramp_throughput[busy].mean())
    n = measured.ramp_cpu.size
    return [
        constant(
            "all engines", "cpu_noise", float(off.std()), profile, n, "CPU off its line over throughput, one worker"
        ),
        constant("all engines", "throughput_noise", rate, profile, n, "jumps of throughput, one worker"),
    ]
