"""Policies by name: the ones in this package, and those that other packages register.

A package outside registers through the entry-point group `tidebed.autoscalers`:

    [project.entry-points."tidebed.autoscalers"]
    mine = "my_package.mine"        # a module that calls @register on import
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from autoscalers.model import Autoscaler

ENTRY_POINTS = "tidebed.autoscalers"
NOT_POLICIES = {"model", "registry", "testing"}

A = TypeVar("A", bound=type[Autoscaler[Any]])
_policies: dict[str, type[Autoscaler[Any]]] = {}


def register(name: str, params: type[Any]) -> Callable[[A], A]:
    """Class decorator: make a policy known under `name`, with its parameter dataclass."""

    def known(policy: A) -> A:
        other = _policies.get(name)
        if other is not None and other.__qualname__ != policy.__qualname__:
            raise ValueError(f'two autoscalers are called "{name}": {other.__module__} and {policy.__module__}')
        policy.name = name
        policy.Params = params
        _policies[name] = policy
        return policy

    return known


@cache
def _discover() -> None:
    package = importlib.import_module("autoscalers")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name not in NOT_POLICIES and not module.name.startswith("_"):
            importlib.import_module(f"autoscalers.{module.name}")
    for entry in entry_points(group=ENTRY_POINTS):
        entry.load()


def names() -> list[str]:
    """All policies there are, in alphabetical order."""
    _discover()
    return sorted(_policies)


def policy_type(name: str) -> type[Autoscaler[Any]]:
    _discover()
    try:
        return _policies[name]
    except KeyError:
        raise KeyError(f'unknown autoscaler "{name}"; there are: {", ".join(names())}') from None


def params_type(name: str) -> type[Any]:
    """The dataclass of a policy's parameters."""
    return policy_type(name).Params


def create(name: str, *, seed: int = 0, **parameters: Any) -> Autoscaler[Any]:
    """A new policy object; parameters left out keep the defaults of its source."""
    policy = policy_type(name)
    return policy(policy.Params(**parameters), seed=seed)
