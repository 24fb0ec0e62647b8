"""What a suite's models cannot know alone: whether the things it names exist and take the options it gives.

The checks read the raw data, so that they also speak when other parts of the file are wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import autoscalers
import infra
import jobs
import workloads
from analysis.catalogue import METRICS
from experiments import matrix, parameters
from experiments.document import Location, Problem
from experiments.errors import did_you_mean
from infra import faults
from workloads.units import parse_duration

Data = Mapping[str, Any]
_PLURALS = {"job": "jobs", "workload": "workloads", "autoscaler": "autoscalers", "place": "place"}


def problems(data: Data, base: Path) -> list[Problem]:
    """Everything that is wrong with names, options, workloads, cells, prices and the baseline."""
    return [
        *_entries(data, "jobs", _job),
        *_entries(data, "place", _place),
        *_entries(data, "autoscalers", _autoscaler),
        *_workloads(data, base),
        *_additions(data, base),
        *_faults(data),
        *_cells(data),
        *_published(data),
        *_prices(data),
    ]


def _listed(data: Data, key: str) -> list[Any]:
    value = data.get(key, [])
    return value if isinstance(value, list) else [value]


def _seconds(data: Data) -> int | None:
    """How long runs last; None if that is not said or not understood, which others complain about."""
    try:
        return max(1, round(parse_duration(data["duration"])))
    except (KeyError, ValueError):
        return None


def _entries(data: Data, key: str, check: Any) -> Iterator[Problem]:
    for index, value in enumerate(_listed(data, key)):
        location: Location = (key, index) if isinstance(data.get(key), list) else (key,)
        yield from _entry(location, value, check)
    labels = Counter(label for value in _listed(data, key) for label in matrix.labels_of(key, value))
    for label, times in labels.items():
        if times > 1:
            yield Problem((key,), f'"{label}" stands here {times} times; give one of them a label of its own')


def _entry(location: Location, value: Any, check: Any) -> Iterator[Problem]:
    named = matrix.split(value)
    if named is not None:
        name, options = named
        inside = location if isinstance(value, str) else (*location, name)
        yield from check(location, inside, name, options)


def _job(location: Location, inside: Location, name: str, options: Data) -> Iterator[Problem]:
    if name not in jobs.names():
        yield Problem(location, f'unknown job "{name}"{did_you_mean(name, jobs.names())}')
        return
    engines = list(jobs.get(name).profiles)
    for key, value in options.items():
        if key != "engine":
            yield Problem((*inside, key), f'unknown option "{key}"{did_you_mean(key, ["engine"])}')
        elif value not in engines:
            yield Problem((*inside, key), f'unknown engine "{value}"{did_you_mean(str(value), engines)}')


def _place(location: Location, inside: Location, name: str, options: Data) -> Iterator[Problem]:
    if name not in infra.names():
        yield Problem(location, f'unknown place "{name}"{did_you_mean(name, infra.names())}')
        return
    for key, message in infra.get(name).check_options(options):
        yield Problem((*inside, key), message)


def _autoscaler(location: Location, inside: Location, name: str, options: Data) -> Iterator[Problem]:
    if name not in autoscalers.names():
        yield Problem(location, f'unknown autoscaler "{name}"{did_you_mean(name, autoscalers.names())}')
        return
    for key, message in parameters.problems(name, options):
        yield Problem((*inside, key) if key else inside, message)


def _workloads(data: Data, base: Path) -> Iterator[Problem]:
    specs = _listed(data, "workloads")
    for index, spec in enumerate(specs):
        location: Location = ("workloads", index)
        if not isinstance(spec, Mapping):
            continue
        if not isinstance(spec.get("name"), str):
            yield Problem(location, "a workload needs a name, as in {name: day, shape: daily, peak: 60k}")
        yield from _workload(location, spec, base, _seconds(data))
    names = Counter(str(spec["name"]) for spec in specs if isinstance(spec, Mapping) and "name" in spec)
    for name, times in names.items():
        if times > 1:
            yield Problem(("workloads",), f'{times} workloads are called "{name}"')


def _workload(location: Location, spec: Data, base: Path, seconds: int | None) -> Iterator[Problem]:
    """With the run's length, a trace that ends too early is found now, not after an hour of running."""
    seen: set[Problem] = set()
    for _label, cell in matrix.workload_cells(spec):
        for path, message in workloads.spec_errors(cell, base, seconds):
            problem = Problem((*location, *path), message)
            if problem not in seen:
                seen.add(problem)
                yield problem


def _additions(data: Data, base: Path) -> Iterator[Problem]:
    for index, cell in enumerate(_listed(data, "include")):
        if not isinstance(cell, Mapping):
            continue
        location: Location = ("include", index)
        for key, plural, check in (
            ("job", "jobs", _job),
            ("place", "place", _place),
            ("autoscaler", "autoscalers", _autoscaler),
        ):
            if key in cell:
                yield from _entry((*location, key), cell[key], check)
            elif key != "place" and len(_listed(data, plural)) != 1:
                yield Problem(location, f"say which {key}: the suite has {len(_listed(data, plural))}")
        workload = cell.get("workload")
        if isinstance(workload, Mapping):
            yield from _workload((*location, "workload"), workload, base, _seconds(cell) or _seconds(data))
        elif workload is not None:
            yield from _known((*location, "workload"), "workload", workload, matrix.labels(data, "workloads"))
        elif len(_listed(data, "workloads")) != 1:
            yield Problem(location, f"say which workload: the suite has {len(_listed(data, 'workloads'))}")


def _faults(data: Data) -> Iterator[Problem]:
    """Faults must be understood, come while the longest run lasts, and be possible in every place."""
    specs = data.get("faults")
    if not isinstance(specs, list):
        return
    cells = [cell for cell in _listed(data, "include") if isinstance(cell, Mapping)]
    durations = [seconds for part in (data, *cells) if (seconds := _seconds(part)) is not None]
    for path, message in faults.problems(specs, max(durations, default=None)):
        yield Problem(("faults", *path), message)
    asked = [*(_listed(data, "place") or ["simulated"]), *(cell["place"] for cell in cells if "place" in cell)]
    places = {named[0]: None for value in asked if (named := matrix.split(value)) and named[0] in infra.names()}
    for index, kind in enumerate(map(faults.kind_of, specs)):
        for place in places:
            refused = infra.get(place).refused_fault(kind) if kind is not None else None
            if refused is not None:
                yield Problem(("faults", index), refused)


def _labels(data: Data) -> dict[str, list[str]]:
    """What jobs, workloads, autoscalers and places of this suite are called."""
    known = {key: matrix.labels(data, plural) for key, plural in _PLURALS.items()}
    for cell in _listed(data, "include"):
        if isinstance(cell, Mapping):
            for key, plural in _PLURALS.items():
                known[key] += matrix.labels_of(plural, cell[key]) if key in cell else []
    known["place"] = known["place"] or ["simulated"]
    return known


def _cells(data: Data) -> Iterator[Problem]:
    """Cells to leave out, and the baseline, must name what is there."""
    known = _labels(data)
    for index, cell in enumerate(_listed(data, "exclude")):
        if isinstance(cell, Mapping):
            for key, value in cell.items():
                if key in known:
                    yield from _known(("exclude", index, key), key, value, known[key])
    if isinstance(data.get("baseline"), str):
        yield from _known(("baseline",), "autoscaler", data["baseline"], known["autoscaler"])


#: What a statement must say beside its figure.
_NEEDED = {"value": ("autoscaler",), "at_most": ("autoscaler",), "change": ("autoscaler", "versus")}


def _published(data: Data) -> Iterator[Problem]:
    """A statement of a paper names one metric, existing things, and exactly one kind of figure."""
    known = _labels(data)
    for index, statement in enumerate(_listed(data, "published")):
        if not isinstance(statement, Mapping):
            continue
        location: Location = ("published", index)
        metric = statement.get("metric")
        if isinstance(metric, str) and metric not in METRICS:
            yield Problem((*location, "metric"), f'unknown metric "{metric}"{did_you_mean(metric, list(METRICS))}')
        kinds = [key for key in ("value", "at_most", "change", "ordering") if key in statement]
        if len(kinds) != 1:
            yield Problem(location, "give exactly one of value, at_most, change and ordering")
        for key in _NEEDED.get("".join(kinds), ()):
            if key not in statement:
                yield Problem(location, f"a {kinds[0]} needs the key {key}")
        named = [(key, statement[key]) for key in _PLURALS if key in statement]
        named += [("autoscaler", label) for label in [*_listed(statement, "ordering"), *_listed(statement, "versus")]]
        for key, value in named:
            yield from _known((*location, key if key in statement else "ordering"), key, value, known[key])


def _known(location: Location, what: str, value: Any, labels: list[str]) -> Iterator[Problem]:
    if not any(matrix.matches(str(value), label) for label in labels):
        known = list(dict.fromkeys([*labels, *(label.split(" ")[0] for label in labels)]))
        yield Problem(location, f'no {what} of this suite is called "{value}"{did_you_mean(str(value), known)}')


def _prices(data: Data) -> Iterator[Problem]:
    objectives = data.get("objectives")
    if isinstance(objectives, Mapping):
        prices = [str(objectives[key]) for key in ("worker_hour", "node_hour", "violation_minute") if key in objectives]
        currencies = {price.split()[-1] for price in prices}
        if len(currencies) > 1:
            yield Problem(("objectives",), f"prices in more than one currency: {', '.join(sorted(currencies))}")
