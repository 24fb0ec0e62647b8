"""The Demeter runs: Flink on Kubernetes for eighteen hours, read every second.

Geldenhuys et al. 2024; data of dos-group/demeter, Apache-2.0. A file a run with `t, workload_est, throughput,
latency_ms, consumer_lag, cpu_load, task_managers`; events.csv has every outage with its cause, and also those of runs
without a file; cpu_throughput_1min.csv has the CPU of quiet minutes of all runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autoscalers.model import Floats
from experiments.validation.measured import CALIBRATED_ON, Action, Measured, without_gaps
from experiments.validation.tables import by_run, columns, rows, value

FOLDER = "demeter_runs"
COLUMNS = ("t", "workload_est", "throughput", "latency_ms", "consumer_lag", "cpu_load", "task_managers")
EVENTS = (
    "run",
    "job",
    "system",
    "t",
    "cause",
    "outage_s",
    "tm_from",
    "tm_to",
    "workload",
    "normal_before",
    "since_failure",
)
#: What is known of the interruptions of a run without a file.
ALL_OF_EVENTS = (*EVENTS, "recovery_s", "next_in_s")
MINUTES_FILE = "cpu_throughput_1min.csv"
MINUTES = ("run", "job", "system", "thr", "cpu", "tm", "lat")

#: Demeter itself changes the size of a worker as well as their number, so that a count of workers says little.
RESIZES_WORKERS = "demeter"


@dataclass(frozen=True, slots=True)
class Interruption:
    """An outage of a run of which no series is at hand, with what was found in it."""

    run: str
    job: str
    system: str
    cause: str
    workload: float
    before: int
    after: int
    outage_s: float
    recovery_s: float
    """NaN where the next outage came first."""
    next_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Minutes:
    """Means over quiet minutes of one run."""

    run: str
    job: str
    system: str
    throughput: Floats
    workers: Floats
    cpu: Floats
    latency_s: Floats

    @property
    def calibrated(self) -> bool:
        return self.job == CALIBRATED_ON


def cluster_of(system: str) -> str:
    return "demeter" if system == "reactive" else "demeter-operator"


def read(folder: Path) -> tuple[list[Measured], list[str]]:
    """The runs that can be replayed, and the names of those whose workers changed in size."""
    events = folder / "events.csv"
    found: list[Measured] = []
    resized: list[str] = []
    for name, happened in sorted(by_run(rows(events, EVENTS)).items()):
        file = folder / f"{name}.parquet"
        if not file.exists():
            continue
        if happened[0]["system"] == RESIZES_WORKERS:
            resized.append(name)
        else:
            found.append(_run(name, happened, columns(file, COLUMNS), events))
    return found, resized


def _run(name: str, happened: list[dict[str, str]], series: dict[str, np.ndarray], events: Path) -> Measured:
    begin, end = int(series["t"][0]), int(series["t"][-1])
    counted = without_gaps(series["task_managers"])
    system = happened[0]["system"]
    return Measured(
        name=name,
        source="Demeter",
        cluster=cluster_of(system),
        job=happened[0]["job"].lower(),
        system=system,
        workload=without_gaps(series["workload_est"]),
        throughput=series["throughput"],
        latency_s=series["latency_ms"] / 1000.0,
        workers=counted,
        cpu=series["cpu_load"],
        lag=series["consumer_lag"],
        actions=_actions(happened, begin, end, events),
        first_workers=_first_workers(happened, begin, counted, events),
        scrape_period_s=1,
    )


def _first_workers(happened: list[dict[str, str]], begin: int, counted: np.ndarray, events: Path) -> int:
    """As many as the first outage ended with, because a count in the middle of a restart is not to be trusted."""
    for row in happened:
        if value(row, "t", events) >= begin and value(row, "tm_from", events) > 0:
            return int(value(row, "tm_from", events))
    return int(counted[0])


def _actions(happened: list[dict[str, str]], begin: int, end: int, events: Path) -> tuple[Action, ...]:
    """Failures when they were injected, everything else when the outage began.

    A failure that shows in two outages is one: the second is the replacement that joins.
    """
    actions: list[Action] = []
    injected: set[int] = set()
    for row in happened:
        time_s = int(value(row, "t", events)) - begin
        since = value(row, "since_failure", events)
        if row["cause"] == "failure" and np.isfinite(since):
            killed_s = time_s - int(since)
            if not injected & set(range(killed_s - _SAME_FAILURE_S, killed_s + _SAME_FAILURE_S + 1)):
                injected.add(killed_s)
                before = int(value(row, "tm_from", events))
                actions.append(Action(killed_s, "failure", before, before))
                continue
        actions.append(Action(time_s, "rescale", int(value(row, "tm_to", events)), int(value(row, "tm_from", events))))
    inside = [action for action in actions if 0 <= action.time_s < end - begin and action.workers > 0]
    return tuple(sorted(inside, key=lambda action: action.time_s))


#: Outages of one failure give its time to within this.
_SAME_FAILURE_S = 5


def interruptions(folder: Path, job: str) -> list[Interruption]:
    """Outages of a job's runs that began while latency was normal."""
    events = folder / "events.csv"
    found = []
    for row in rows(events, ALL_OF_EVENTS):
        if row["job"].lower() != job or row["normal_before"] != "True" or row["cause"] not in {"rescale", "failure"}:
            continue
        if row["system"] == RESIZES_WORKERS:
            continue
        before, after = int(value(row, "tm_from", events)), int(value(row, "tm_to", events))
        since = value(row, "since_failure", events)
        if row["cause"] == "failure" and not since < _FIRST_OUTAGE_S:
            continue  # the replacement that joins later: no failure of its own
        cause = Action(0, "failure" if row["cause"] == "failure" else "rescale", after, before).cause
        if min(before, after) > 0:
            found.append(
                Interruption(
                    run=row["run"],
                    job=job,
                    system=row["system"],
                    cause=cause,
                    workload=value(row, "workload", events),
                    before=before,
                    after=after,
                    outage_s=value(row, "outage_s", events),
                    recovery_s=value(row, "recovery_s", events),
                    next_s=value(row, "next_in_s", events),
                )
            )
    return found


#: A failure shows in an outage before its replacement does: 16-21 s after it, the replacement from 34 s.
_FIRST_OUTAGE_S = 30


def minutes(folder: Path) -> list[Minutes]:
    """CPU and throughput of quiet minutes, by run; nothing where the file is not there."""
    file = folder / MINUTES_FILE
    if not file.exists():
        return []
    found = []
    for name, table in sorted(by_run(rows(file, MINUTES)).items()):
        if table[0]["system"] == RESIZES_WORKERS:
            continue
        read_all = {key: np.array([value(row, key, file) for row in table]) for key in ("thr", "tm", "cpu", "lat")}
        sound = np.isfinite(read_all["thr"]) & np.isfinite(read_all["cpu"]) & (read_all["tm"] >= 1)
        found.append(
            Minutes(
                run=name,
                job=table[0]["job"].lower(),
                system=table[0]["system"],
                throughput=read_all["thr"][sound],
                workers=read_all["tm"][sound],
                cpu=read_all["cpu"][sound],
                latency_s=read_all["lat"][sound] / 1000.0,
            )
        )
    return found
