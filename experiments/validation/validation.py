"""Everything compared: runs, interruptions without series, quiet minutes, and the aims over them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.validation.aims import Aim, Case, aims
from experiments.validation.clusters import CLUSTERS
from experiments.validation.demeter import Interruption as Known
from experiments.validation.demeter import Minutes, cluster_of
from experiments.validation.interruptions import Interruption, find
from experiments.validation.measured import Action, Measured
from experiments.validation.replay import Replay, replay, steady_cpu
from experiments.validation.scores import Pair, Score, score, seen_in
from experiments.validation.sources import Data
from experiments.validation.spreads import Group, add, alike

SEED = 1


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """A measured run with its replay."""

    run: Measured
    replayed: Replay
    score: Score


@dataclass(frozen=True, slots=True)
class MinutesResult:
    """CPU of the quiet minutes of one run."""

    run: str
    job: str
    system: str
    calibrated: bool
    minutes: int
    cpu: Pair


@dataclass(frozen=True, slots=True)
class Validation:
    """What a folder of measured data says of the plant."""

    runs: tuple[RunResult, ...]
    groups: tuple[Group, ...]
    minutes: tuple[MinutesResult, ...]
    aims: tuple[Aim, ...]
    remarks: tuple[str, ...]


def validate(
    data: Data, only: re.Pattern[str] | None = None, progress: Callable[[str], None] | None = None
) -> Validation:
    """Replay and compare all runs whose names match."""

    def wanted(name: str) -> bool:
        return only is None or only.search(name) is not None

    runs: list[RunResult] = []
    groups: dict[str, Group] = {}
    for run in data.runs:
        if wanted(run.name):
            runs.append(_replayed(run, groups))
            if progress is not None:
                progress(run.name)
    _single(tuple(one for one in data.interruptions if wanted(one.run)), groups)
    minutes = tuple(_minutes(one) for one in data.minutes if wanted(one.run))
    ordered = tuple(sorted(groups.values(), key=lambda group: (group.calibrated, group.source != "Phoebe", group.name)))
    return Validation(tuple(runs), ordered, minutes, _aims(runs, ordered, minutes), data.remarks)


def _replayed(run: Measured, groups: dict[str, Group]) -> RunResult:
    replayed = replay(run, CLUSTERS[run.cluster], SEED)
    measured, simulated = seen_in(run, run), seen_in(run, replayed)
    result = RunResult(run, replayed, score(run, replayed, measured, simulated))
    if run.scrape_period_s > 1:
        measured, simulated = alike(measured, simulated)
    add(groups, Group(run.source, run.job, run.system, "", run.calibrated), measured, simulated)
    return result


#: A single interruption is replayed with this much quiet before it, and at most this much after.
_BEFORE_S, _AFTER_S = 300, 900


def _single(known: tuple[Known, ...], groups: dict[str, Group]) -> None:
    """Interruptions of which only the figures are known: each replayed alone, at the load that it met."""
    for index, one in enumerate(known):
        seconds = _BEFORE_S + int(min(one.next_s, _AFTER_S) if np.isfinite(one.next_s) else _AFTER_S)
        failed = one.cause == "failure"
        action = Action(_BEFORE_S, "failure" if failed else "rescale", one.before if failed else one.after, one.before)
        run = _alone(one, seconds, action)
        replayed = replay(run, CLUSTERS[run.cluster], SEED + index)
        simulated = find(replayed.throughput, replayed.latency_s, run.actions)[:1]
        measured = Interruption(_BEFORE_S, one.cause, one.outage_s, float("nan"), one.recovery_s, normal_before=True)
        add(groups, Group("Demeter", one.job, one.system, "", calibrated=False), [measured], simulated)


def _alone(one: Known, seconds: int, action: Action) -> Measured:
    unknown = np.full(seconds, np.nan)
    return Measured(
        name=one.run,
        source="Demeter",
        cluster=cluster_of(one.system),
        job=one.job,
        system=one.system,
        workload=np.full(seconds, one.workload),
        throughput=unknown,
        latency_s=unknown,
        workers=unknown,
        cpu=unknown,
        lag=unknown,
        actions=(action,),
        first_workers=one.before,
        scrape_period_s=1,
    )


def _minutes(one: Minutes) -> MinutesResult:
    simulated = steady_cpu(one.throughput, one.workers, CLUSTERS[cluster_of(one.system)], SEED)
    pair = Pair(float(one.cpu.mean()), float(simulated.mean()))
    return MinutesResult(one.run, one.job, one.system, one.calibrated, one.cpu.size, pair)


def _aims(runs: list[RunResult], groups: tuple[Group, ...], minutes: tuple[MinutesResult, ...]) -> tuple[Aim, ...]:
    tested = [result for result in runs if not result.run.calibrated]
    return aims(
        runs=[Case(one.run.name, one.score.throughput.error, one.score.late) for one in tested],
        latency=[Case(one.run.name, one.score.latency_mean_outside.error, one.score.late) for one in tested],
        cpu=[Case(one.run, one.cpu.difference) for one in minutes if not one.calibrated],
        groups=[group for group in groups if not group.calibrated],
    )
