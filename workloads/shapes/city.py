"""The traffic of a city: working days with two rushes, a late Saturday, a slow Sunday."""

from __future__ import annotations

from typing import Final

import numpy as np
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.portion import Level, Span, percent
from workloads.shapes.base import STRICT, Banded, KeyConflictError

#: Percent of the peak in the middle of each hour, from midnight on. Read off, in whole percents, from the weeks of the
#: load that G. Russo Russo and others publish with their simulator of elastic stream processing
#: (github.com/grussorusso/dsp-elasticity-sim); `python -m experiments.validation.city` says how near it is.
_WORKDAY: Final = (44, 28, 18, 12, 11, 12, 31, 60, 79, 80, 71, 67, 71, 69, 74, 74, 63, 70, 92, 100, 92, 87, 83, 69)
_SATURDAY: Final = (86, 74, 61, 46, 31, 14, 14, 20, 31, 46, 58, 66, 74, 77, 76, 76, 72, 75, 92, 99, 94, 90, 96, 99)
_SUNDAY: Final = (99, 88, 76, 60, 40, 17, 14, 18, 27, 39, 54, 65, 72, 74, 73, 71, 69, 71, 80, 72, 62, 58, 55, 48)
_WEEK: Final[Floats] = np.array([*(5 * _WORKDAY), *_SATURDAY, *_SUNDAY], dtype=np.float64)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class City(Banded, name="city"):
    """Weeks of city traffic: rush hours on working days, late Saturdays, slow Sundays; a run is one day by default.

    A run starts on Monday at midnight. `day: 1h` compresses a day into an hour of the run, `day: 1d` is real time.
    """

    low: Level = percent(11)
    day: Span = percent(100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.day.relative and self.day.value < 24:
            raise KeyConflictError("day", f"{self.day} is too short; a day takes at least 24s, one for each hour")

    @property
    def cycle_s(self) -> int | None:
        return None if self.day.relative else 7 * int(self.day.value)

    @property
    def fits_run(self) -> bool:
        return self.day.relative

    def rates(self, timeline: Timeline) -> Floats:
        hours = timeline.seconds / self.day.of(timeline.duration_s) * 24
        height = (_WEEK - _WEEK.min()) / np.ptp(_WEEK)
        return self.between(np.interp(hours, np.arange(_WEEK.size) + 0.5, height, period=_WEEK.size))
