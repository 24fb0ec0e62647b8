"""What all shapes share: a peak, a name, and parameters that are validated wherever they come from."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import ClassVar, get_args, get_type_hints

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from workloads.model import Flags, Floats, Workload
from workloads.portion import Level, OptionalSpan, percent
from workloads.units import OptionalPositive, Rate, Written, format_quantity

STRICT = ConfigDict(extra="forbid")

_shapes: dict[str, type[Shape]] = {}


class KeyConflictError(ValueError):
    """Keys that contradict each other, and the one to point at."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Shape(Workload):
    """A synthetic workload with a highest rate. Its fields are the keys of its YAML mapping.

    A subclass that states its name, `class Sine(Shape, name="sine")`, is known by it everywhere.
    """

    name: ClassVar[str]

    peak: Rate

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        super().__init_subclass__()
        if name is not None:
            cls.name = name
            _shapes[name] = cls


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Banded(Shape):
    """A shape that moves between `low` and `peak`."""

    low: Level = percent(10)

    def __post_init__(self) -> None:
        if self.floor > self.peak:
            raise KeyConflictError("low", f"{self.low} is above the peak of {format_quantity(self.peak)}")

    @property
    def floor(self) -> float:
        """The lowest rate in events/s."""
        return self.low.of(self.peak)

    def between(self, height: Floats | Flags) -> Floats:
        """Rates for heights from 0 (low) to 1 (peak); exactly the peak at 1."""
        return self.peak - (self.peak - self.floor) * np.subtract(1.0, height, dtype=np.float64)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Periodic(Banded):
    """A shape that comes round again: `periods` times a run (twice, if nothing is said), or every `period`."""

    periods: OptionalPositive = None
    period: OptionalSpan = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.periods is not None and self.period is not None:
            raise KeyConflictError("period", "give period or periods, not both")

    def period_in(self, duration_s: int) -> float:
        """Seconds in a run of this length."""
        return self.period.of(duration_s) if self.period else duration_s / (self.periods or 2)

    @property
    def cycle_s(self) -> int | None:
        return int(self.period.value) if self.period and not self.period.relative else None

    @property
    def fits_run(self) -> bool:
        return self.cycle_s is None


def shape_names() -> list[str]:
    """All shapes there are, in alphabetical order."""
    return sorted(_shapes)


def shape_type(name: str) -> type[Shape] | None:
    return _shapes.get(name)


def describe(name: str) -> str:
    """One line: what the shape is, and its keys with their defaults.

    >>> describe("constant")
    'the same rate all the time (peak)'
    """
    kind = _shapes[name]
    about = (kind.__doc__ or name).strip().splitlines()[0].rstrip(".").replace("`", "")
    keys = ", ".join(f"{key}: {default}" if default else key for key, default in defaults(kind).items())
    return f"{about[0].lower()}{about[1:]} ({keys})"


def defaults(kind: type[Shape]) -> dict[str, str | None]:
    """A shape's keys, each with its default as a person would write it; None where there is none."""
    types = get_type_hints(kind, include_extras=True)
    return {key.name: _text(key.default, get_args(types[key.name])) for key in fields(kind)}


def _text(default: object, type_parts: tuple[object, ...]) -> str | None:
    if default is None or default is MISSING:
        return None
    match default:
        case bool():
            return str(default).lower()
        case float() | int():
            written = next((part for part in type_parts if isinstance(part, Written)), Written(format_quantity))
            return written.as_text(default)
        case _:
            return str(default)
