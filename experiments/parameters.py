"""An autoscaler's parameters, from YAML to its frozen dataclass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

import autoscalers
from experiments.errors import did_you_mean
from workloads.units import parse_duration, parse_quantity, parse_share


def listed(name: str) -> frozenset[str]:
    """The parameters of an autoscaler whose value is a list or mapping by nature; lists of others make a matrix."""
    if name not in autoscalers.names():
        return frozenset()
    params = autoscalers.params_type(name)
    scalars = {int, float, str, bool}
    hints = get_type_hints(params)
    return frozenset(
        field.name for field in dataclasses.fields(params) if not _members(hints[field.name]) <= scalars | {type(None)}
    )


def _members(hint: Any) -> set[Any]:
    return set(getattr(hint, "__args__", ())) if not isinstance(hint, type) else {hint}


def problems(name: str, options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key, what is wrong) for each parameter that the autoscaler does not take; the key is empty for the whole."""
    from experiments.matrix import unfold  # matrix asks this module which parameters are lists

    found: dict[tuple[str, str], None] = {}
    known = [field.name for field in dataclasses.fields(autoscalers.params_type(name))]
    for key in options:
        if key not in known:
            found[key, f'{name} has no parameter "{key}"{did_you_mean(key, known)}'] = None
    hints = get_type_hints(autoscalers.params_type(name))
    for key, value in options.items():
        for inner, line in _unknown_inside(name, key, value, hints.get(key)):
            found[inner, line] = None
    fitting = {key: value for key, value in options.items() if key in known}
    for cell in unfold(fitting, listed(name)):
        for problem in _cell_problems(name, cell):
            found[problem] = None
    return list(found)


def _unknown_inside(name: str, key: str, value: Any, hint: Any) -> list[tuple[str, str]]:
    """Keys that a parameter which is a mapping of its own does not take."""
    if not dataclasses.is_dataclass(hint) or not isinstance(value, Mapping):
        return []
    known = [field.name for field in dataclasses.fields(hint)]
    return [
        (f"{key}.{inner}", f'{name} has no parameter "{key}.{inner}"{did_you_mean(str(inner), known)}')
        for inner in value
        if inner not in known
    ]


def _cell_problems(name: str, options: Mapping[str, Any]) -> list[tuple[str, str]]:
    try:
        build(name, options)
    except ValidationError as fault:
        return [_told(error) for error in fault.errors()]
    except ValueError as fault:
        key, _, message = str(fault).partition(": ")
        return [(key, message)]
    return []


def _told(error: Any) -> tuple[str, str]:
    if error["type"] == "value_error":
        key, colon, message = str(error["ctx"]["error"]).partition(": ")
        return (key, message) if colon else ("", key)
    if error["type"] in {"dataclass_type", "mapping_type", "dict_type"}:
        return str(error["loc"][0]), "is not a mapping of keys and values"
    key = ".".join(str(part) for part in error["loc"])
    kinds = {"float": "a number", "int": "a whole number", "bool": "true or false", "string": "text"}
    kind = kinds.get(error["type"].split("_")[0])
    return key, f'"{error["input"]}" is not {kind}' if kind else error["msg"]


def build(name: str, options: Mapping[str, Any]) -> Any:
    """The parameter dataclass; a ValueError says what is wrong as `key: message`."""
    params = autoscalers.params_type(name)
    hints = get_type_hints(params)
    values = {key: _number(key, value, hints.get(key)) for key, value in options.items()}
    return TypeAdapter(params).validate_python(values)


def _number(key: str, value: Any, hint: Any) -> Any:
    """Numbers may be written with their unit: 10m for seconds, 80% for a share, 60k for a quantity."""
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        inner = get_type_hints(hint)
        return {name: _number(f"{key}.{name}", each, inner.get(name)) for name, each in value.items()}
    if not isinstance(value, str) or not _members(hint) & {int, float}:
        return value
    try:
        if key.endswith("_s"):
            return parse_duration(value)
        return parse_share(value) if value.strip().endswith("%") else parse_quantity(value)
    except ValueError as fault:
        raise ValueError(f"{key}: {fault}") from None
