"""From a suite to its experiments and runs, with ids that say what has been done already."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import infra
import jobs
from experiments import matrix, parameters
from experiments.errors import UserError, did_you_mean
from experiments.schema import SCHEMA_VERSION
from experiments.suite import Addition, Entry, LoadedSuite, Suite
from infra import faults
from infra.faults import Fault


@dataclass(frozen=True)
class Run:
    """One job under one workload, one autoscaler, in one place, with one seed."""

    suite: str
    experiment: str
    label: str
    job: str
    job_label: str
    """The job as the report names it, with its engine where the suite says one."""
    engine: str
    workload: str
    workload_spec: Mapping[str, Any]
    base: Path
    """The folder that relative trace paths start from."""
    autoscaler: str
    """As the report names it; `policy` is the registered name."""
    policy: str
    parameters: Mapping[str, Any]
    place: str
    place_options: Mapping[str, Any]
    duration_s: int
    initial_workers: int | None
    seed: int
    repetition: int
    faults: tuple[Fault, ...] = ()
    """What goes wrong; its moments follow from the seed."""
    step_s: float = 1.0
    """Seconds between two rows of its metrics; follows from the engine."""

    @cached_property
    def run_id(self) -> str:
        """A hash of everything that determines the outcome; prices and names do not."""
        identity = {
            "schema": SCHEMA_VERSION,
            "job": self.job,
            "engine": self.engine,
            "workload": self._workload_identity,
            "policy": self.policy,
            "parameters": self.parameters,
            "place": self.place,
            "place_options": self.place_options,
            "duration_s": self.duration_s,
            "initial_workers": self.initial_workers,
            "seed": self.seed,
        }
        if self.faults:
            identity["faults"] = [asdict(fault) for fault in self.faults]
        text = json.dumps(identity, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def workload_id(self) -> str:
        """Tells workloads apart, wherever their traces lie."""
        return json.dumps(self._workload_identity, sort_keys=True, default=str)

    @property
    def _workload_identity(self) -> Any:
        return _with_trace_contents(dict(self.workload_spec), self.base)

    def record(self) -> dict[str, Any]:
        """What `run.json` says."""
        fields = asdict(self)
        del fields["base"]
        return {"run_id": self.run_id, **fields}


def _with_trace_contents(spec: Any, base: Path) -> Any:
    """The same trace elsewhere is the same workload; another one under the same path is not."""
    if isinstance(spec, Mapping):
        identity = {key: _with_trace_contents(value, base) for key, value in spec.items() if key != "name"}
        if isinstance(spec.get("trace"), str):
            identity["trace"] = hashlib.sha256((base / spec["trace"]).read_bytes()).hexdigest()
        return identity
    if isinstance(spec, list):
        return [_with_trace_contents(item, base) for item in spec]
    return spec


@dataclass(frozen=True)
class Experiment:
    """The runs that differ in the seed alone."""

    id: str
    label: str
    job: str
    workload: str
    autoscaler: str
    place: str
    runs: tuple[Run, ...]


def plan(
    loaded: LoadedSuite,
    *,
    place: str | None = None,
    repetitions: int | None = None,
    only: Sequence[str] = (),
    seed: int | None = None,
) -> tuple[Experiment, ...]:
    """All experiments of a suite, in its order; `only` filters by `key=value` on job, workload, autoscaler, place.

    Of several values for one key, one has to match.
    """
    suite = loaded.suite
    if place is not None:
        if place not in infra.names():
            raise UserError(f'unknown place "{place}"{did_you_mean(place, infra.names())}')
        suite = suite.model_copy(update={"place": [Entry(name=place)]})
        refused = [infra.get(place).refused_fault(fault.kind) for fault in faults.parse(suite.faults)]
        if any(refused):
            raise UserError(*(f"{suite.name}: {line}" for line in dict.fromkeys(refused) if line))
    wanted = _filters(only)
    cells = [cell for cell in _cells(suite) if not _excluded(cell, suite)]
    chosen = [
        cell
        for cell in cells
        if all(any(matrix.matches(value, cell.named(key)) for value in values) for key, values in wanted.items())
    ]
    if not chosen:
        asked = " ".join(only)
        raise UserError(
            f"{suite.name}: no experiment matches {asked}" if asked else f"{suite.name}: no experiment left"
        )
    _refuse_jobs(suite.name, chosen)
    _refuse_twins(suite.name, cells)
    several_places = len({cell.place.name for cell in cells}) > 1
    experiments = []
    ids: set[str] = set()
    for cell in chosen:
        identity = _unique(_slug(cell, several_places), ids)
        label = " · ".join(
            [
                cell.named("job"),
                cell.named("workload"),
                cell.autoscaler[0],
                *([cell.place.name] if several_places else []),
            ]
        )
        first = _run(suite, loaded.path.parent.resolve(), cell, identity, label)
        start = suite.seed if seed is None else seed
        count = suite.repetitions if repetitions is None else repetitions
        runs = tuple(
            replace(first, seed=start + index, repetition=index + 1, label=f"{label} #{index + 1}")
            for index in range(count)
        )
        experiments.append(
            Experiment(
                identity, label, cell.named("job"), cell.named("workload"), cell.autoscaler[0], cell.place.name, runs
            )
        )
    return tuple(experiments)


@dataclass(frozen=True)
class _Cell:
    job: Entry
    workload: tuple[str, Mapping[str, Any]]
    autoscaler: tuple[str, str, Mapping[str, Any]]
    place: Entry
    duration: float

    def named(self, key: str) -> str:
        return {
            "job": matrix.cell_label(self.job.name, self.job.options),
            "workload": self.workload[0],
            "autoscaler": self.autoscaler[0],
            "place": self.place.name,
        }[key]


def _cells(suite: Suite) -> Iterator[_Cell]:
    loads = [cell for spec in suite.workloads for cell in matrix.workload_cells(spec)]
    policies = [cell for entry in suite.autoscalers for cell in matrix.autoscaler_cells(_raw(entry))]
    for place, job, load, policy in itertools.product(suite.place, suite.jobs, loads, policies):
        yield _Cell(job, load, policy, place, suite.duration)
    for addition in suite.include:
        yield from _added(addition, suite, loads, policies)


def _added(
    addition: Addition,
    suite: Suite,
    loads: list[tuple[str, dict[str, Any]]],
    policies: list[tuple[str, str, dict[str, Any]]],
) -> Iterator[_Cell]:
    if isinstance(addition.workload, Mapping):
        chosen_loads = matrix.workload_cells(addition.workload)
    else:
        chosen_loads = [
            load for load in loads if addition.workload is None or matrix.matches(addition.workload, load[0])
        ]
    chosen_policies = matrix.autoscaler_cells(_raw(addition.autoscaler)) if addition.autoscaler else policies
    for load, policy in itertools.product(chosen_loads, chosen_policies):
        yield _Cell(
            addition.job or suite.jobs[0],
            load,
            policy,
            addition.place or suite.place[0],
            addition.duration or suite.duration,
        )


def _refuse_jobs(suite: str, cells: Sequence[_Cell]) -> None:
    """What a place cannot run is told before anything starts."""
    lines = [infra.get(cell.place.name).refused_job(cell.job.name, _engine(cell.job)) for cell in cells]
    if any(lines):
        raise UserError(*(f"{suite}: {line}" for line in dict.fromkeys(lines) if line))


def _engine(job: Entry) -> str:
    return str(job.options.get("engine", jobs.get(job.name).default_engine))


def _refuse_twins(suite: str, cells: Sequence[_Cell]) -> None:
    """Two experiments that are called the same could not be told apart in any table."""
    names = Counter(" · ".join(cell.named(key) for key in ("job", "workload", "autoscaler", "place")) for cell in cells)
    twins = [name for name, times in names.items() if times > 1]
    if twins:
        raise UserError(*(f"{suite}: {name} is there twice; change or exclude one of them" for name in twins))


def _raw(entry: Entry) -> dict[str, Any]:
    return {entry.name: entry.options, **({"label": entry.label} if entry.label else {})}


def _excluded(cell: _Cell, suite: Suite) -> bool:
    return any(
        all(matrix.matches(value, cell.named(key)) for key, value in selection.model_dump(exclude_none=True).items())
        for selection in suite.exclude
    )


def _filters(only: Sequence[str]) -> dict[str, list[str]]:
    """The values that are wanted, by key."""
    keys = ["job", "workload", "autoscaler", "place"]
    filters: dict[str, list[str]] = {}
    for text in only:
        key, equals, value = text.partition("=")
        if not equals or key not in keys:
            raise UserError(f"--only {text}: write key=value with a key of {', '.join(keys)}")
        filters.setdefault(key, []).append(value)
    return filters


def _run(suite: Suite, base: Path, cell: _Cell, experiment: str, label: str) -> Run:
    name, policy, options = cell.autoscaler
    job = jobs.get(cell.job.name)
    engine = _engine(cell.job)
    return Run(
        suite=suite.name,
        experiment=experiment,
        label=label,
        job=cell.job.name,
        job_label=cell.named("job"),
        engine=engine,
        workload=cell.workload[0],
        workload_spec=cell.workload[1],
        base=base,
        autoscaler=name,
        policy=policy,
        parameters=asdict(parameters.build(policy, options)),
        place=cell.place.name,
        place_options=cell.place.options,
        duration_s=max(1, round(cell.duration)),
        initial_workers=suite.initial_workers,
        seed=suite.seed,
        repetition=1,
        faults=faults.parse(suite.faults),
        step_s=_step_s(job, engine) if cell.place.name == "simulated" else 1.0,
    )


def _step_s(job: jobs.Job, engine: str) -> float:
    """Engines whose operators scale each on their own say how fine their time is; the others go by the second."""
    profile = job.profiles[engine]
    return profile["step_s"] if "step_s" in profile.constants else 1.0


def _slug(cell: _Cell, with_place: bool) -> str:
    parts = [cell.named("job"), cell.named("workload"), cell.autoscaler[0], *([cell.place.name] if with_place else [])]
    return "-".join(re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-") for part in parts)


def _unique(slug: str, taken: set[str]) -> str:
    name = next(
        name for name in itertools.chain([slug], (f"{slug}-{n}" for n in itertools.count(2))) if name not in taken
    )
    taken.add(name)
    return name
