"""What Daedalus's measurements tell of the jobs themselves: a worker's capacity, its CPU, and how keys fall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autoscalers.model import Floats
from experiments.validation.calibration.estimate import Estimate, constant
from experiments.validation.daedalus import Daedalus
from infra.simulated.fleet import Fleet
from jobs.model import Profile
from jobs.wordcount.profile import FLINK_REACTIVE as WORDCOUNT
from jobs.yahoo.profile import FLINK_REACTIVE as YAHOO

#: A worker that is this busy takes what it can.
BUSY = 0.95
#: Above this load the CPU of the evaluation's static fleet grows no more, though its throughput does.
BENDS = 300_000.0
_WORKERS = 12
#: Falls of the keys whose mean is held against what was measured.
_FALLS = 100


def job(measured: Daedalus | None) -> list[Estimate]:
    if measured is None:
        return []
    return [*_yahoo(measured), *_wordcount(measured), *_static_fleet(measured), *_latency(measured)]


def _yahoo(measured: Daedalus) -> list[Estimate]:
    where, profile = "job yahoo", YAHOO
    busy = measured.ramp_throughput[measured.ramp_cpu > BUSY]
    _, idle = np.polyfit(measured.ramp_throughput, measured.ramp_cpu, 1)
    rates = measured.twelve_throughput.reshape(-1, _WORKERS)
    hottest = measured.twelve_cpu.reshape(-1, _WORKERS).max(axis=1)
    capacity = float(busy.mean())
    skew = float((rates.max(axis=1) / rates.mean(axis=1)).mean())
    exponent = float(np.log(rates.sum(axis=1).max() * skew / capacity) / np.log(_WORKERS))
    uneven = _variation(rates.mean(axis=0))
    keys = _found(lambda keys: -_of_falls(_variation, profile, _WORKERS, key_count=round(keys)), -uneven, 50, 5000)
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
        constant(
            where,
            "key_count",
            round(keys),
            profile,
            rates.shape[0],
            f"their shares' variation, {uneven:.3f}: even keys",
        ),
        constant(where, "cpu_idle", idle, profile, measured.ramp_cpu.size, "line of CPU over throughput, one worker"),
        constant(where, "cpu_full", float(hottest.mean()), profile, hottest.size, f"hottest of {_WORKERS} workers"),
    ]


def _wordcount(measured: Daedalus) -> list[Estimate]:
    """From two workers under a sine."""
    if not measured.two_cpu.size:
        return []
    where, profile = "job wordcount", WORDCOUNT
    rates, cpu = measured.two_throughput.reshape(2, -1), measured.two_cpu.reshape(2, -1)
    speeds = np.array([np.polyval(np.polyfit(x, y, 1), 1.0) for x, y in zip(cpu, rates, strict=True)])
    idle = float(np.mean([np.polyfit(y, x, 1)[1] for x, y in zip(cpu, rates, strict=True)]))
    busier = _busier(rates.mean(axis=1))
    skew = _found(lambda skew: _of_falls(_busier, profile, 2, key_skew=skew), busier, 0.0, 1.0)
    both, n = " and ".join(f"{speed / 1e3:.0f}" for speed in speeds), cpu.shape[1]
    return [
        constant(where, "worker_capacity", speeds.mean(), profile, n, "two workers, lines to full CPU: mean"),
        constant(where, "speed_spread", speeds.std(ddof=1) / speeds.mean(), profile, n, f"the same: {both} k events/s"),
        constant(where, "key_skew", skew, profile, n, f"the busier took {busier:.3f} of the mean"),
        constant(where, "cpu_idle", idle, profile, n, "line of CPU over throughput: mean of two workers"),
    ]


def _static_fleet(measured: Daedalus) -> list[Estimate]:
    """CPU of the evaluation itself. No profile is made from it; benchmarks/counterfactuals.py is."""
    rising = (measured.static_load > 0.0) & (measured.static_load < BENDS)
    if not rising.any():
        return []
    slope, idle = np.polyfit(measured.static_load[rising] / _WORKERS, measured.static_cpu[rising], 1)
    full = idle + slope * YAHOO["worker_capacity"] * _WORKERS ** (YAHOO["scaling_exponent"] - 1.0)
    where, n = "yahoo, evaluation's static fleet", int(rising.sum())
    how = f"CPU over load below {BENDS / 1e3:.0f} k events/s"
    return [
        constant(where, "cpu_idle", idle, YAHOO, n, f"{how}: at no load"),
        constant(where, "cpu_full", full, YAHOO, n, f"{how}: carried on to the capacity of {_WORKERS} workers"),
    ]


def _latency(measured: Daedalus) -> list[Estimate]:
    """Of the evaluation's cluster, which no profile is made from either: at how many workers it would hold is open."""
    keeps_up = measured.ramp_latency_s[: (measured.ramp_cpu > BUSY).argmax()]
    if not keeps_up.size:
        return []
    where, how = "yahoo, evaluation's cluster", "median latency of one worker below 95 % CPU"
    return [constant(where, "latency_base_s", float(np.median(keeps_up)), YAHOO, keeps_up.size, how)]


def _variation(shares: Floats) -> float:
    return float(shares.std() / shares.mean())


def _busier(shares: Floats) -> float:
    return float(shares.max() / shares.mean())


def _of_falls(unevenness: Callable[[Floats], float], profile: Profile, workers: int, **constants: float) -> float:
    """Mean over falls of the keys on workers, as the plant lets them fall."""
    changed = profile.changed("tried", constants)
    fleets = (Fleet(changed, workers, np.random.default_rng(seed)) for seed in range(_FALLS))
    return float(np.mean([unevenness(fleet.shares(workers)) for fleet in fleets]))


def _found(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where a rising function has a value, to a thousandth of the range."""
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return (low + high) / 2
