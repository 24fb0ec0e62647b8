"""The day: a quiet night, two humps, a weaker weekend."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
from pydantic import PlainValidator
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.portion import Span, percent
from workloads.shapes.base import STRICT, Banded, KeyConflictError
from workloads.units import Share, Written, format_quantity, format_share, parse_quantity, parse_share, shown

_HOURS: Final[Floats] = np.arange(24 * 60) / 60
_HUMP_HOURS: Final = 2.5
"""Standard deviation of a hump: it covers about a working day from foot to foot."""


def _parse_hour(value: object) -> float:
    try:
        hour = parse_quantity(value)
    except ValueError:
        hour = 24.0
    if hour >= 24:
        raise ValueError(f"{shown(value)} is not an hour of the day; write a number from 0 up to 24, e.g. 20 or 8.5")
    return hour


def _parse_weekend(value: object) -> float:
    return parse_share(value, largest=10)


Hour = Annotated[float, PlainValidator(_parse_hour), Written(format_quantity)]
Weekend = Annotated[float, PlainValidator(_parse_weekend), Written(format_share)]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Daily(Banded, name="daily"):
    """Days with a quiet night, a hump at the peak hour, a second one, and weekends; a run is one day by default.

    A run starts on Monday at midnight. `day: 1h` compresses a day into an hour of the run, `day: 1d` is real time.
    `second` is the height of the second hump and `weekend` a factor on Saturday and Sunday; above 100% the weekend
    holds the peak.
    """

    day: Span = percent(100)
    peak_hour: Hour = 20.0
    second_hour: Hour = 11.0
    second: Share = 0.6
    weekend: Weekend = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.day.relative and self.day.value < 24:
            raise KeyConflictError("day", f"{self.day} is too short; a day takes at least 24s, one for each hour")

    @property
    def cycle_s(self) -> int | None:
        days = 1 if self.weekend == 1 else 7
        return None if self.day.relative else int(self.day.value) * days

    @property
    def fits_run(self) -> bool:
        return self.day.relative

    def rates(self, timeline: Timeline) -> Floats:
        days = timeline.seconds / self.day.of(timeline.duration_s)
        weekend = np.floor(days) % 7 >= 5
        rates = self.between(np.interp(days * 24, _HOURS, self._pattern(), period=24))
        return np.where(weekend, self.weekend, 1.0) / max(self.weekend, 1.0) * rates

    def _pattern(self) -> Floats:
        """One day by minutes, from 0 to 1."""
        high = np.maximum(_hump(self.peak_hour), self.second * _hump(self.second_hour))
        return np.asarray((high - high.min()) / np.ptp(high))


def _hump(hour: float) -> Floats:
    """A bell around an hour that closes over midnight (a von Mises density, 1 at its top)."""
    sharpness = (24 / (2 * np.pi * _HUMP_HOURS)) ** 2
    return np.asarray(np.exp(sharpness * (np.cos(2 * np.pi * (_HOURS - hour) / 24) - 1)))
