"""Profiling: what a policy wants tried before its run, in the same place, with the same job and seed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autoscalers.model import JOB, Floats, Observation, Profiling, Trial
from experiments.recorder import Recorder
from infra.faults import Incident
from infra.model import Assignment, Columns, Place, Target


@dataclass(frozen=True, slots=True)
class Tried:
    """One trial, as the archive keeps it (experiments/schema.py), and as the policy gets to see it."""

    row: dict[str, Any]
    observation: Observation

    @property
    def latency_s(self) -> float:
        return float(self.row["latency_mean_s"])


def profile(place: Place, assignment: Assignment, wanted: Profiling, recorder: Recorder) -> list[Observation]:
    """Carry the trials out, one scale-out after the other; what was observed, for `Autoscaler.warm_start`."""
    tried = [
        trial
        for workers in wanted.scale_outs
        for part in (_rising, _overloaded)
        for trial in part(place, replace(assignment, initial_workers=workers), wanted)
    ]
    recorder.profiling([trial.row for trial in tried])
    return [trial.observation for trial in tried]


def _rising(place: Place, assignment: Assignment, wanted: Profiling) -> Iterator[Tried]:
    """Level by level, until the scale-out no longer follows; a worker dies at the end of the first level."""
    levels = range(1, max(2, int(wanted.overload / wanted.load_step + _ROUNDING) + 1))
    may_fail = place.refused_fault(_DEATH) is None and wanted.failure_s > 0
    failure_s = wanted.failure_s if may_fail else 0
    loads = float(assignment.curve.max()) * wanted.load_step * np.array(levels)
    lengths = [wanted.level_s + failure_s, *([wanted.level_s] * (len(levels) - 1))]
    death = Incident(wanted.level_s, _DEATH, until_s=wanted.level_s, workers=1, seed=assignment.seed)
    with _deployed(place, assignment, np.repeat(loads, lengths), (death,) if may_fail else ()) as trials:
        first = trials.attempt("load", wanted.level_s, wanted.window_s)
        yield first
        if may_fail:
            yield trials.attempt("failure", failure_s, failure_s)
        for _ in levels[1:]:
            level = trials.attempt("load", wanted.level_s, wanted.window_s)
            yield level
            if not level.latency_s <= wanted.slower * first.latency_s:  # without any output there is no latency
                return


def _overloaded(place: Place, assignment: Assignment, wanted: Profiling) -> Iterator[Tried]:
    """More than it can take, from the start."""
    load = np.full(wanted.overload_s, wanted.overload * float(assignment.curve.max()))
    with _deployed(place, assignment, load) as trials:
        yield trials.attempt("overload", wanted.overload_s, wanted.window_s)


class _Trials:
    """One deployment at one scale-out."""

    def __init__(self, target: Target, workers: int) -> None:
        self._target = target
        self._workers = workers

    def attempt(self, trial: Trial, seconds: int, window_s: int) -> Tried:
        """Let the job settle, then observe it for the rest of the time."""
        began_s = self._target.time_s
        settling = self._pass(seconds - window_s)
        self._target.observe()
        measured = self._pass(window_s)
        observation = _kept(self._target.observe(), trial)
        row = {
            "workers": self._workers,
            "trial": trial,
            "time_s": began_s,
            "seconds": float(seconds),
            "load": _mean(measured["workload"]),
            "worker_seconds": sum(
                _mean(part["workers_running"]) * length
                for part, length in ((settling, seconds - window_s), (measured, window_s))
                if length
            ),
            "throughput": _mean(measured["seen_throughput"]),
            "latency_mean_s": _mean(measured["seen_latency_s"]),
            "backlog": float(measured["backlog"][-1]),
        }
        return Tried(row, observation)

    def _pass(self, seconds: int) -> Columns:
        if seconds > 0:
            self._target.advance(seconds)
        rows = self._target.drain().metrics
        whole = np.asarray(rows.get("operator", JOB)) == JOB
        return {name: np.asarray(rows[name])[whole] if whole.ndim else np.asarray(rows[name]) for name in _COLUMNS}


@contextmanager
def _deployed(
    place: Place, assignment: Assignment, curve: Floats, faults: tuple[Incident, ...] = ()
) -> Iterator[_Trials]:
    """The run's own faults wait for the run."""
    trial = replace(assignment, curve=curve.astype(np.float64), faults=faults)
    with place.provision(trial) as cluster, cluster.deploy() as target:
        yield _Trials(target, trial.initial_workers or 0)


def _kept(seen: Observation, trial: Trial) -> Observation:
    """A copy that outlives the deployment: places use their buffers again, and may compute host metrics when asked."""
    return replace(
        seen,
        workload=seen.workload.copy(),
        operators=copy.deepcopy(dict(seen.operators)),
        regions=dict(seen.regions),
        host={name: np.array(values) for name, values in seen.host.items()},
        trial=trial,
    )


def _mean(values: Any) -> float:
    """Of what was measured; NaN if nothing was."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    return float(known.mean()) if known.size else float("nan")


_COLUMNS = ("workload", "workers_running", "seen_throughput", "seen_latency_s", "backlog")
_DEATH = "crash"
_ROUNDING = 1e-9
