"""Lists make a matrix: how a suite's entries unfold into cells, and what each cell is called."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import workloads
from experiments import parameters


def split(value: Any) -> tuple[str, dict[str, Any]] | None:
    """The name and the options of an entry; None if it is not one.

    >>> split({"static": {"workers": 12}, "label": "fixed"})
    ('static', {'workers': 12})
    """
    if isinstance(value, str):
        return value, {}
    if isinstance(value, Mapping):
        names = [key for key in value if key != "label"]
        if len(names) == 1 and (value[names[0]] is None or isinstance(value[names[0]], Mapping)):
            return names[0], dict(value[names[0]] or {})
    return None


def unfold(options: Mapping[str, Any], listed: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Every combination of the options that are given as lists.

    >>> list(unfold({"a": [1, 2], "b": 3}, frozenset()))
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    choices = [value if isinstance(value, list) and key not in listed else [value] for key, value in options.items()]
    for combination in itertools.product(*choices):
        yield dict(zip(options, combination, strict=True))


def cell_label(name: str, options: Mapping[str, Any]) -> str:
    """A readable name: `hpa target_cpu=0.8`."""
    shown = (f"{key}={'custom' if isinstance(value, dict | list) else value}" for key, value in options.items())
    return " ".join([name, *shown])


def autoscaler_cells(value: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """(label, name, parameters) of an entry under `autoscalers`."""
    named = split(value)
    if named is None:
        return []
    name, options = named
    cells = list(unfold(options, parameters.listed(name)))
    label = value.get("label") if isinstance(value, Mapping) else None
    if label is None:
        return [(cell_label(name, cell), name, cell) for cell in cells]
    varying = [key for key in options if any(cell[key] != cells[0][key] for cell in cells)]
    return [(cell_label(str(label), {key: cell[key] for key in varying}), name, cell) for cell in cells]


def workload_cells(spec: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(name, scalar spec) of an entry under `workloads`."""
    cells = list(unfold(spec, frozenset(workloads.LIST_KEYS)))
    name = str(spec.get("name", "workload"))
    varying = [key for key in spec if any(cell[key] != cells[0][key] for cell in cells)]
    return [(cell_label(name, {key: cell[key] for key in varying}), cell) for cell in cells]


def labels_of(key: str, value: Any) -> list[str]:
    """What one entry of the list under `key` is called, once a cell."""
    if key == "autoscalers":
        return [label for label, _name, _options in autoscaler_cells(value)]
    if key == "workloads":
        return [label for label, _spec in workload_cells(value)] if isinstance(value, Mapping) else []
    named = split(value)
    return [] if named is None else [cell_label(*named)]


def labels(data: Mapping[str, Any], key: str) -> list[str]:
    """What all entries under `key` are called."""
    entries = data.get(key, [])
    return [label for value in (entries if isinstance(entries, list) else [entries]) for label in labels_of(key, value)]


def matches(wanted: str, label: str) -> bool:
    """Whether a label is meant: by the whole of it, or by the name it starts with.

    >>> matches("hpa", "hpa target_cpu=0.8"), matches("hp", "hpa")
    (True, False)
    """
    return label == wanted or label.startswith(f"{wanted} ")
