"""A figure that is given either outright or as a share of something that is known only later.

`low: 5k` is a rate, `low: 10%` a share of the peak; `at: 20m` is a time, `at: 50%` is half-way through the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainValidator

from workloads.units import (
    DURATION_HINT,
    format_duration,
    format_quantity,
    format_share,
    optional,
    parse_rate,
    parse_share,
    parse_whole_seconds,
    shown,
)


@dataclass(frozen=True, slots=True)
class Portion:
    """A number, or a share of a whole.

    >>> percent(10).of(60_000), outright(5_000).of(60_000)
    (6000.0, 5000.0)
    """

    value: float
    relative: bool
    is_time: bool = False

    def of(self, whole: float) -> float:
        return self.value * whole if self.relative else self.value

    def __str__(self) -> str:
        if self.relative:
            return format_share(self.value)
        return format_duration(self.value) if self.is_time else format_quantity(self.value)


def percent(value: float) -> Portion:
    return Portion(value / 100, relative=True)


def outright(value: float) -> Portion:
    return Portion(float(value), relative=False)


def parse_level(value: object) -> Portion:
    """A rate from 0 on, or a share of the peak; only `%` makes a share, so that 0.5 is half an event a second."""
    return _parse(value, lambda rate: Portion(parse_rate(rate), relative=False))


def parse_moment(value: object) -> Portion:
    """A time from 0 on in whole seconds, or a share of the run."""
    return _parse(value, lambda time: Portion(parse_whole_seconds(time, smallest=0), relative=False, is_time=True))


def parse_span(value: object) -> Portion:
    """A moment that is not 0."""
    span = parse_moment(value)
    if span.value == 0:
        raise ValueError(f"{shown(value)} is no time at all; {DURATION_HINT}, or a share of the run such as 50%")
    return span


def _parse(value: object, absolute: Callable[[object], Portion]) -> Portion:
    if isinstance(value, Portion):
        return value
    if isinstance(value, str) and value.strip().endswith("%"):
        return Portion(parse_share(value), relative=True)
    return absolute(value)


Level = Annotated[Portion, PlainValidator(parse_level)]
Moment = Annotated[Portion, PlainValidator(parse_moment)]
OptionalMoment = Annotated[Portion | None, PlainValidator(optional(parse_moment))]
Span = Annotated[Portion, PlainValidator(parse_span)]
OptionalSpan = Annotated[Portion | None, PlainValidator(optional(parse_span))]
