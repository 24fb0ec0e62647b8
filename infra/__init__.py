"""The places where runs happen: one package each, found by name.

A package outside adds one through the entry-point group `tidebed.places`, naming a `Place` class.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from infra.model import Place

__all__ = ["Place", "get", "names"]

#: Loaded only when asked for: a place brings its engine's client libraries.
_OWN = {"local": "infra.local.place:Local", "simulated": "infra.simulated.place:Simulated"}


@cache
def _known() -> dict[str, str]:
    outside = {entry.name: entry.value for entry in entry_points(group="tidebed.places")}
    return dict(sorted({**_OWN, **outside}.items()))


def names() -> list[str]:
    return list(_known())


@cache
def get(name: str) -> Place:
    module, _, attribute = _known()[name].partition(":")
    return cast("type[Place]", getattr(import_module(module), attribute))()
