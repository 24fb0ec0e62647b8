"""The Phoebe runs: Flink on Kubernetes for six hours, read once a minute a worker.

Geldenhuys et al. 2022; data of dos-group/phoebe, Apache-2.0. A file a run with `t, workload, throughput, latency_ms,
workers`; events.csv has the rescales and the failures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.validation.measured import Action, Measured, without_gaps
from experiments.validation.tables import by_run, columns, rows, value

FOLDER = "phoebe_runs"
COLUMNS = ("t", "workload", "throughput", "latency_ms", "workers")
EVENTS = ("run", "job", "system", "t", "kind", "w_from", "w_to")
_SCRAPE_PERIOD_S = 60
#: What scaled by stopping the job with a savepoint.
_SAVEPOINTS = frozenset({"phoebe", "twres"})


def read(folder: Path) -> tuple[list[Measured], list[str]]:
    """The runs that can be replayed, and the names of those whose number of workers nobody wrote down."""
    events = folder / "events.csv"
    found: list[Measured] = []
    unknown: list[str] = []
    for name, happened in sorted(by_run(rows(events, EVENTS)).items()):
        file = folder / f"{name}.parquet"
        if not file.exists():
            continue
        series = columns(file, COLUMNS)
        if not np.isfinite(series["workers"]).any():
            unknown.append(name)
            continue
        found.append(_run(name, happened, series, events))
    return found, unknown


def _run(name: str, happened: list[dict[str, str]], series: dict[str, np.ndarray], events: Path) -> Measured:
    begin, end = int(series["t"][0]), int(series["t"][-1])
    counted = without_gaps(series["workers"])
    first = int(counted[counted > 0][0])
    actions: list[Action] = []
    now = first
    for row in happened:
        time_s = int(value(row, "t", events)) - begin
        if not 0 <= time_s <= end - begin:
            continue
        if row["kind"] == "failure":
            actions.append(Action(time_s, "failure", now, now))
        else:
            after = int(value(row, "w_to", events))
            actions.append(Action(time_s, "rescale", after, now))
            now = after
    unknown = np.full(series["t"].size, np.nan)
    system = happened[0]["system"]
    return Measured(
        name=name,
        source="Phoebe",
        cluster="phoebe-savepoint" if system in _SAVEPOINTS else "phoebe",
        job=happened[0]["job"].lower(),
        system=system,
        workload=without_gaps(series["workload"]),
        throughput=series["throughput"],
        latency_s=series["latency_ms"] / 1000.0,
        workers=counted,
        cpu=unknown,
        lag=unknown,
        actions=tuple(sorted(actions, key=lambda action: action.time_s)),
        first_workers=first,
        scrape_period_s=_SCRAPE_PERIOD_S,
    )
