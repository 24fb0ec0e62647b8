"""What moves the figures of paper-daedalus: python -m benchmarks.counterfactuals [REPETITIONS]

Each case changes one thing of the suite and leaves the rest as it is. They test explanations of what did not come out;
none of them is how the suite is run. About five minutes on two cores with five repetitions.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from experiments.archive import Archive
from experiments.execution import execute_all
from experiments.planning import Experiment, Run, plan
from experiments.published import statements
from experiments.suite import load

SUITE = "paper-daedalus"


@dataclass(frozen=True)
class Case:
    """What differs from the suite."""

    name: str
    constants: Mapping[str, float] = field(default_factory=dict)
    """Of the plant; an engine that has no such constant stays as it is."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the autoscalers that have them."""
    peaks: Mapping[str, str] = field(default_factory=dict)
    """Of workloads, by name."""

    def of(self, run: Run) -> Run:
        options = {**run.place_options, "constants": dict(self.constants)} if self.constants else run.place_options
        known = {name: value for name, value in self.parameters.items() if name in run.parameters}
        load = {"peak": self.peaks[run.workload]} if run.workload in self.peaks else {}
        return replace(
            run,
            place_options=options,
            parameters={**run.parameters, **known},
            workload_spec={**run.workload_spec, **load},
        )


AS_IT_IS = Case("as it is")
_EVEN = {"key_count": 0, "speed_spread": 0}
#: The evaluation's own static fleet of Yahoo, on twelve workers: `tidebed validate DATA --calibrate` prints both.
_STATIC_CPU = {"cpu_idle": 0.215, "cpu_full": 1.59}

WORKERS = (
    AS_IT_IS,
    Case("HPA without tolerance", parameters={"tolerance": 0.0}),
    Case("even workers", _EVEN),
    Case("CPU of the static fleet", _STATIC_CPU),
    Case("peaks at 95 %", peaks={"sine": "950k", "rush-hours": "163k", "sine-streams": "75k"}),
    Case("traffic to 130 k", peaks={"rush-hours": "130k"}),
    Case("downtime twice", parameters={"as_published": True}),
)
RECOVERIES = (
    AS_IT_IS,
    Case("no warm-up", {"warmup_loss": 0}),
    Case("checkpoints 10 s apart", {"checkpoint_interval_s": 10}),
    Case("both", {"warmup_loss": 0, "checkpoint_interval_s": 10}),
    Case("leaving takes no time", {"leave_s": 0}),
    Case("nothing is noisy", {"cpu_noise": 0, "throughput_noise": 0, "capacity_noise": 0}),
)


def workers(folder: Path) -> float:
    """Mean workers of a run."""
    return float(_columns(folder, "metrics", "workers_running")[0].mean())


def underestimated(folder: Path) -> float:
    """Share of the changes from which the job recovered later than predicted."""
    notes = [dict(each or ()) for each in _columns(folder, "decisions", "notes")[0]]
    later = [each["recovery_s"] > each["recovery_predicted_s"] for each in notes if "recovery_predicted_s" in each]
    return float(np.mean(later)) if later else float("nan")


def truly_underestimated(folder: Path) -> float:
    """The same by the plant's own account: from the stop, or else the change, until nothing waits any more."""
    time_s, before, applied, notes = _columns(folder, "decisions", "time_s", "before", "applied", "notes")
    when, kinds = _columns(folder, "events", "time_s", "kind")
    changes = np.flatnonzero(before != applied)
    later = []
    for change, end in zip(changes, [*time_s[changes[1:]], np.inf], strict=True):
        within = (when >= time_s[change]) & (when < end)
        over = when[within & (kinds == "recovered")]
        if over.size and "recovery_target_s" in dict(notes[change] or ()):
            stops = when[within & (kinds == "outage_start")]
            began = stops[0] if stops.size else time_s[change]
            later.append(over[-1] - began > dict(notes[change])["recovery_target_s"])
    return float(np.mean(later)) if later else float("nan")


def tolerated(folder: Path) -> float:
    """Share of the decisions under a load above capacity that kept the fleet because CPU was within tolerance."""
    time_s, reasons = _columns(folder, "decisions", "time_s", "reason")
    load, capacity = _columns(folder, "metrics", "workload", "capacity")
    before = time_s.astype(int) - 1
    reasons = reasons[load[before] > capacity[before]]
    return float(np.mean(["within tolerance" in reason for reason in reasons])) if reasons.size else float("nan")


def _columns(folder: Path, table: str, *names: str) -> list[np.ndarray]:
    read = pq.read_table(folder / f"{table}.parquet", columns=list(names))
    return [read[name].to_numpy() for name in names]


def measured(cases: Iterable[Case], experiments: Iterable[Experiment], archive: Archive) -> None:
    """Do every run of every case once."""
    wanted = [case.of(run) for case in cases for experiment in experiments for run in experiment.runs]
    missing = {run.run_id: run for run in wanted if not archive.run(run.run_id).finished}
    for finished in execute_all(list(missing.values()), archive, os.cpu_count() or 1):
        if finished.error is not None:
            raise SystemExit(f"{finished.run.label}: {finished.error}")


def table(
    title: str,
    cases: Sequence[Case],
    experiments: Sequence[Experiment],
    archive: Archive,
    figure: Callable[[Path], float],
    published: Mapping[str, float] | None = None,
) -> Table:
    shown = Table(title=title, title_justify="left")
    for heading in ("", *(["published"] if published else []), *(case.name for case in cases)):
        shown.add_column(heading, justify="right" if heading else "left")
    for experiment in experiments:
        means = [_mean([figure(archive.run(case.of(run).run_id).path) for run in experiment.runs]) for case in cases]
        told = [f"{published[experiment.id]:g}"] if published else []
        shown.add_row(experiment.label, *told, *("–" if np.isnan(mean) else f"{mean:.2f}" for mean in means))
    return shown


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def main(repetitions: int = 5) -> None:
    suite = load(SUITE)
    planned = [each for each in plan(suite, repetitions=repetitions) if each.autoscaler != "static"]
    told = {
        each.id: statement.value
        for each in planned
        for statement in statements(suite.suite, planned)
        if statement.metric == "mean_workers" and statement.value is not None
        if (statement.scenario.job, statement.scenario.workload) == (each.job, each.workload)
        if statement.autoscaler == each.autoscaler
    }
    own = [each for each in planned if each.autoscaler == "daedalus"]
    hpas = [each for each in planned if each.autoscaler != "daedalus"]
    console = Console(width=160)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(Path(folder), SUITE)
        archive.make_room()
        measured(WORKERS, planned, archive)
        console.print(table("mean workers", WORKERS, planned, archive, workers, told))
        title = "HPA: decisions within tolerance, of those under a load above capacity"
        console.print(table(title, WORKERS[:4], hpas, archive, tolerated))
        measured(RECOVERIES, own, archive)
        title = "recoveries underestimated, of those that the policy observed"
        console.print(table(title, RECOVERIES, own, archive, underestimated))
        title = "recoveries underestimated, by the plant's own account"
        console.print(table(title, RECOVERIES, own, archive, truly_underestimated))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
