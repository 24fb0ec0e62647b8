"""Replaying a measured run: its load and what was done to it drive the plant, which answers with its own behaviour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Floats
from experiments.validation import monitoring
from experiments.validation.clusters import Cluster
from experiments.validation.measured import Action, Measured
from infra.simulated import layout
from infra.simulated.plant import Plant
from jobs.model import Profile

#: Beyond every fleet in the data.
_LIMIT = 64


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """The simulated counterpart of a measured run, seen through the same monitoring."""

    throughput: Floats
    latency_s: Floats
    workers: Floats
    cpu: Floats
    lag: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Truth:
    rows: Floats
    restarts: tuple[int, ...]
    """Seconds in which the job took up work again."""
    stalls: tuple[tuple[int, int], ...]
    """Spells between a failure and its detection: gauges show what they showed."""


def replay(run: Measured, cluster: Cluster, seed: int) -> Replay:
    """Drive the plant with what was measured; only the plant is free."""
    truth = _drive(cluster.profile, run.workload, run.first_workers, run.actions, seed)
    workers = truth.rows[:, layout.READY].astype(np.int64)
    consumed = truth.rows[:, layout.THROUGHPUT]
    latency_s = truth.rows[:, layout.MEAN].copy()
    rate = monitoring.consumed_rate(consumed, truth.restarts)
    down = np.isnan(latency_s)
    rate[down] = np.nan
    stalled = np.zeros(run.seconds, dtype=np.bool_)
    for begin, end in truth.stalls:
        stalled[begin:end] = True
    rate, latency_s = monitoring.frozen(rate, stalled), monitoring.frozen(latency_s, stalled)
    lag = np.full(run.seconds, np.nan)
    if cluster.partitions is not None and cluster.lag_base_s is not None:
        events = truth.rows[:, layout.BACKLOG] + cluster.lag_base_s.value * run.workload
        lag = monitoring.highest(np.where(down, np.nan, events / cluster.partitions.value), truth.restarts)
    if run.scrape_period_s > 1:
        rate = _scraped(rate, workers, run, seed, add=True)
        latency_s = _scraped(latency_s, workers, run, seed, add=False)
    return Replay(rate, latency_s, workers.astype(np.float64), truth.rows[:, layout.CPU].copy(), lag)


def _scraped(values: Floats, workers: NDArray[np.int64], run: Measured, seed: int, *, add: bool) -> Floats:
    return monitoring.scraped(values, workers, run.scrape_period_s, seed, add=add)


def _drive(profile: Profile, load: Floats, workers: int, actions: tuple[Action, ...], seed: int) -> _Truth:
    plant = Plant(profile, load, workers, _LIMIT, seed)
    noticed_s = round(profile.delays["detection_s"].median)
    restarts: list[int] = []
    stalls: list[tuple[int, int]] = []

    def pass_until(second: int, *, steady: bool = False) -> None:
        while plant.second < second and not (steady and plant.steady):
            _, happened = plant.advance(second - plant.second, stop_at_end=steady)
            restarts.extend(int(one.time_s) for one in happened if one.code == layout.OUTAGE_END)

    for action in actions:
        pass_until(action.time_s)
        pass_until(load.size, steady=True)  # an action that comes in the middle of another waits for it
        if plant.second >= load.size:
            break
        if action.kind == "failure":
            stalls.append((plant.second, plant.second + noticed_s))
            plant.crash()
        else:
            plant.rescale(action.workers, boot_s=0.0)
    pass_until(load.size)
    return _Truth(plant.rows[: plant.filled].copy(), tuple(restarts), tuple(stalls))


def steady_cpu(throughput: Floats, workers: Floats, cluster: Cluster, seed: int) -> Floats:
    """CPU in minutes of steady load, whose order does not matter."""
    found = np.empty(throughput.size)
    for count in np.unique(workers):
        same = np.flatnonzero(workers == count)
        load = np.repeat(throughput[same], _MINUTE_S)
        plant = Plant(cluster.profile, load, round(float(count)), _LIMIT, seed)
        plant.advance(load.size)
        found[same] = plant.rows[: plant.filled, layout.CPU].reshape(-1, _MINUTE_S).mean(axis=1)
    return found


_MINUTE_S = 60
