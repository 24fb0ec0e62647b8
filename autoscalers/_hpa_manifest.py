"""The `behavior` of an autoscaling/v2 manifest: its defaults, and what the API server would reject."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

from autoscalers._hpa_behavior import Behavior, Policy, Rules

MAX_WINDOW_S = 3600
MAX_PERIOD_S = 1800
SELECT = ("Max", "Min", "Disabled")
TYPES = ("Pods", "Percent")
DEFAULT_UP = (Policy("Pods", 4, 15), Policy("Percent", 100, 15))
DEFAULT_DOWN = (Policy("Percent", 100, 15),)


def parse(behavior: object, *, tolerance: float, down_window_s: float) -> Behavior:
    """The rules that a manifest's `behavior` stands for; what it leaves out has Kubernetes' defaults.

    >>> parse({"scaleUp": {"selectPolicy": "Disabled"}}, tolerance=0.1, down_window_s=300).up.select
    'Disabled'
    >>> parse({"scaleUp": {"policies": [{"type": "Pod"}]}}, tolerance=0.1, down_window_s=300)
    Traceback (most recent call last):
    ValueError: behavior: scaleUp.policies[0].type is 'Pod'; write Pods or Percent
    """
    given = _mapping("", behavior, ("scaleUp", "scaleDown"))
    return Behavior(
        up=_rules("scaleUp", given.get("scaleUp"), Rules(0.0, "Max", DEFAULT_UP, tolerance)),
        down=_rules("scaleDown", given.get("scaleDown"), Rules(down_window_s, "Max", DEFAULT_DOWN, tolerance)),
    )


def _rules(path: str, value: object, default: Rules) -> Rules:
    given = _mapping(path, value, ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance"))
    window = given.get("stabilizationWindowSeconds")
    if window is not None:
        _whole(f"{path}.stabilizationWindowSeconds", window, 0, MAX_WINDOW_S)
    select = given.get("selectPolicy")
    if select is not None:
        _one_of(f"{path}.selectPolicy", select, SELECT)
    tolerance = given.get("tolerance")
    return Rules(
        window_s=default.window_s if window is None else float(window),
        select=default.select if select is None else select,
        policies=_policies(f"{path}.policies", given.get("policies"), default.policies),
        tolerance=default.tolerance if tolerance is None else _tolerance(f"{path}.tolerance", tolerance),
    )


def _policies(path: str, value: object, default: tuple[Policy, ...]) -> tuple[Policy, ...]:
    if value is None:
        return default
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"behavior: {path} is {value!r}; write a list of one policy or more")
    return tuple(_policy(f"{path}[{index}]", policy) for index, policy in enumerate(value))


def _policy(path: str, value: object) -> Policy:
    given = _mapping(path, value, ("type", "value", "periodSeconds"))
    _one_of(f"{path}.type", given.get("type"), TYPES)
    _whole(f"{path}.value", given.get("value"), 1, None)
    _whole(f"{path}.periodSeconds", given.get("periodSeconds"), 1, MAX_PERIOD_S)
    return Policy(given["type"], given["value"], given["periodSeconds"])


def _mapping(path: str, value: object, known: tuple[str, ...]) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"behavior: {path or 'it'} is {value!r}; write a mapping with {_either(known)}")
    for key in value:
        if key not in known:
            where = f"{path}.{key}" if path else str(key)
            raise ValueError(f"behavior: {where} is not known; write {_either(known)}")
    return value


def _one_of(path: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"behavior: {path} is {_told(value)}; write {_either(known)}")


def _whole(path: str, value: object, least: int, most: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        wanted = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise ValueError(f"behavior: {path} is {_told(value)}; write a whole number {wanted}")


def _tolerance(path: str, value: object) -> float:
    """A number, or one in quotes as Kubernetes writes quantities."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError):
            number = float(value)
            if isfinite(number) and number >= 0:
                return number
    raise ValueError(f"behavior: {path} is {value!r}; write a number of 0 or more, as in 0.05")


def _told(value: object) -> str:
    return "missing" if value is None else repr(value)


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
