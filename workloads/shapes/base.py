"""What all shapes share: a peak, a name, and parameters that are validated wherever they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import ClassVar, TypeVar

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from workloads.model import Flags, Floats, Workload
from workloads.portion import Level, OptionalSpan, percent
from workloads.units import OptionalPositive, Rate, format_quantity

STRICT = ConfigDict(extra="forbid")

S = TypeVar("S", bound="type[Shape]")
_shapes: dict[str, type[Shape]] = {}


class KeyProblem(ValueError):
    """A problem between keys, and the key to point at."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Shape(Workload):
    """A synthetic workload with a highest rate. Its fields are the keys of its YAML mapping."""

    name: ClassVar[str]

    peak: Rate


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Banded(Shape):
    """A shape that moves between `low` and `peak`."""

    low: Level = percent(10)

    def __post_init__(self) -> None:
        if self.floor > self.peak:
            raise KeyProblem("low", f"{self.low} is above the peak of {format_quantity(self.peak)}")

    @property
    def floor(self) -> float:
        """The lowest rate in events/s."""
        return self.low.of(self.peak)

    def between(self, height: Floats | Flags) -> Floats:
        """Rates for heights from 0 (low) to 1 (peak); exactly the peak at 1."""
        return self.peak - (self.peak - self.floor) * (1.0 - height)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Periodic(Banded):
    """A shape that comes round again: `periods` times a run (twice, if nothing is said), or every `period`."""

    periods: OptionalPositive = None
    period: OptionalSpan = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.periods is not None and self.period is not None:
            raise KeyProblem("period", "give period or periods, not both")

    def period_in(self, duration_s: int) -> float:
        """Seconds in a run of this length."""
        return self.period.of(duration_s) if self.period else duration_s / (self.periods or 2)

    @property
    def cycle_s(self) -> int | None:
        return int(self.period.value) if self.period and not self.period.relative else None

    @property
    def fits_run(self) -> bool:
        return self.cycle_s is None


def shape(name: str) -> Callable[[S], S]:
    """Class decorator: make a shape known under `name`."""

    def known(kind: S) -> S:
        kind.name = name
        _shapes[name] = kind
        return kind

    return known


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
    about = (kind.__doc__ or name).strip().splitlines()[0].rstrip(".")
    keys = (
        key.name if key.default is MISSING or key.default is None else f"{key.name}: {_default(key.default)}"
        for key in fields(kind)
    )
    return f"{about[0].lower()}{about[1:]} ({', '.join(keys)})"


def _default(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
