"""Sudden crowds on top of a steady load."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
from pydantic import PlainValidator
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.portion import Moment, Portion, Span, parse_moment, percent
from workloads.shapes.base import STRICT, Banded
from workloads.units import Count, Share, shown

#: Time constants after which a decay counts as over: a ten-millionth of the spike is left.
_DECAYED: Final = 16


def _parse_times(value: object) -> tuple[Portion, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{shown(value)} is not a list of times; write e.g. [10m, 45m] or [25%, 75%]")
    return tuple(parse_moment(time) for time in value)


Times = Annotated[tuple[Portion, ...] | None, PlainValidator(_parse_times)]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Spikes(Banded, name="spikes"):
    """Low, with spikes up to peak: `count` a run at random times, or at the `times` given.

    A spike rises in a straight line for `rise`, stays up for `width` and falls off exponentially with the time
    constant `decay`. `times` say when the rise begins; a spike after the end of the run is not seen. Random spikes
    fall one into each of `count` equal parts of the run, so that none hides another. `vary: 40%` draws heights down
    to 60%; the highest spike always reaches the peak. Where spikes overlap, the higher one counts.
    """

    count: Count = 3
    times: Times = None
    rise: Moment = percent(0.5)
    width: Span = percent(2)
    decay: Moment = percent(1)
    vary: Share = 0.0

    @property
    def random(self) -> bool:
        return self.times is None or (self.vary > 0 and len(self.times) > 1)

    @property
    def fits_run(self) -> bool:
        moments = (*(self.times or ()), self.rise, self.width, self.decay)
        return self.times is None or any(moment.relative for moment in moments)

    def rates(self, timeline: Timeline) -> Floats:
        duration = timeline.duration_s
        rise = round(self.rise.of(duration))
        up = rise + max(round(self.width.of(duration)), 1)
        generator = timeline.generator()
        if self.times is None:
            part = duration / self.count
            places = np.arange(self.count) * part + generator.random(self.count) * max(part - up, 0)
        else:
            places = np.array([time.of(duration) for time in self.times])
        heights = 1 - self.vary * generator.random(len(places))

        spike = _spike(rise, up, self.decay.of(duration), limit=duration)
        height = np.zeros(duration)
        for start, top in zip(places.astype(int), heights / heights.max(), strict=True):
            under = height[start : start + len(spike)]
            np.maximum(under, top * spike[: len(under)], out=under)
        return self.between(height)


def _spike(rise: int, up: int, decay: float, limit: int) -> Floats:
    """The heights of one spike, second by second, `limit` at most."""
    second = np.arange(min(up + int(np.ceil(_DECAYED * decay)), limit))
    rising = np.where(second < rise, second / max(rise, 1), 1.0)
    falling = np.exp(-np.maximum(second - (up - 1), 0) / (decay or 1.0))
    return np.minimum(rising, falling)
