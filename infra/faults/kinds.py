"""The kinds of faults: what each does, which settings it takes, and how its settings are written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from workloads.units import parse_duration, parse_quantity, parse_share, shown

CHOICES: Final = ("random", "hottest")
"""Who is hit, where it is not an index: anyone, or the workers that are busiest at that moment."""

_RATE = re.compile(r"(?P<number>[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?) ?/ ?(?P<unit>[smhd])")
_UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_SHORTEST_GAP_S: Final = 1.0
"""Places look once a second; what comes more often could not be told apart."""


def parse_frequency(value: object) -> float:
    """Times a second, from how often in a minute, an hour or a day.

    >>> parse_frequency("0.5/h") * 3600
    0.5
    >>> parse_frequency("twice")
    Traceback (most recent call last):
    ValueError: "twice" is not a frequency; write e.g. 0.5/h or 2/d
    """
    match = _RATE.fullmatch(value.strip()) if isinstance(value, str) else None
    frequency = float(match["number"]) / _UNITS_S[match["unit"]] if match else math.nan
    if not 0 < frequency < math.inf:
        raise ValueError(f"{shown(value)} is not a frequency; write e.g. 0.5/h or 2/d")
    if frequency > 1 / _SHORTEST_GAP_S:
        raise ValueError(f"{shown(value)} is more often than once a second; write e.g. 0.5/h or 2/d")
    return frequency


def parse_span(value: object) -> float:
    seconds = parse_duration(value)
    if seconds == 0:
        raise ValueError(f"{shown(value)} is no time at all; write e.g. 60s or 200ms")
    return seconds


def parse_interval(value: object) -> float:
    seconds = parse_duration(value)
    if seconds < _SHORTEST_GAP_S:
        raise ValueError(f"{shown(value)} is more often than once a second; write e.g. 45m")
    return seconds


def _parse_speed(value: object) -> float:
    speed = parse_share(value)
    if not 0 < speed < 1:
        raise ValueError(f"{shown(value)} slows nobody down or stops everything; write e.g. 0.5 for half the speed")
    return speed


def _parse_events(value: object) -> float:
    events = parse_quantity(value)
    if events < 1:
        raise ValueError(f"{shown(value)} is no event at all; write e.g. 500k")
    return events


def parse_worker(value: object) -> int | str:
    if value in CHOICES and isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"{shown(value)} is not a worker; write random, hottest or an index such as 0")


def _any(amounts: Iterable[float]) -> float:
    return max(amounts, default=0.0)


def _either(shares: Iterable[float]) -> float:
    return 1.0 - math.prod(1.0 - share for share in shares)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault: what it does, and which settings it takes."""

    about: str
    example: str
    hits: Literal["workers", "node", "all"] = "all"
    lasts: bool = False
    amount: str | None = None
    """The setting that says how bad it is."""
    read_amount: Callable[[object], float] = parse_share
    together: Callable[[Iterable[float]], float] = _any
    """What several at the same time amount to; with none, as if nothing were wrong."""

    @property
    def needs(self) -> tuple[str, ...]:
        return (*(("for",) if self.lasts else ()), *((self.amount,) if self.amount else ()))

    @property
    def settings(self) -> tuple[str, ...]:
        aim = {"workers": ("workers", "worker"), "node": ("worker",), "all": ()}[self.hits]
        return ("at", "every", "rate", "until", *self.needs, *aim)


KINDS: Final[Mapping[str, Kind]] = {
    "crash": Kind("worker processes die", "{at: 30m}", "workers"),
    "node-loss": Kind("a node is lost with all its workers", "{at: 1h}", "node"),
    "slow-worker": Kind(
        "workers do their work at a share of their speed",
        "{at: 1h, for: 10m, speed: 0.5}",
        hits="workers",
        lasts=True,
        amount="speed",
        read_amount=_parse_speed,
        together=math.prod,
    ),
    "source-stall": Kind("the job can read nothing, and events pile up", "{at: 2h, for: 60s}", lasts=True),
    "network-delay": Kind(
        "every event takes longer on its way",
        "{at: 2h, for: 5m, delay: 200ms}",
        lasts=True,
        amount="delay",
        read_amount=parse_span,
        together=math.fsum,
    ),
    "request-lost": Kind(
        "scaling requests get lost by chance",
        "{at: 0s, for: 6h, share: 0.1}",
        lasts=True,
        amount="share",
        together=_either,
    ),
    "request-late": Kind(
        "scaling requests are carried out later",
        "{at: 0s, for: 6h, delay: 30s}",
        lasts=True,
        amount="delay",
        read_amount=parse_span,
        together=math.fsum,
    ),
    "metrics-missing": Kind("nothing can be measured", "{at: 3h, for: 2m}", lasts=True),
    "metrics-stale": Kind("the last measured values are shown again and again", "{at: 3h, for: 2m}", lasts=True),
    "pause-worker": Kind("workers stand still and go on later", "{at: 1h, for: 30s}", "workers", lasts=True),
    "broker-down": Kind("the broker is stopped, and comes back", "{at: 2h, for: 20s}", lasts=True),
    "fill-lag": Kind(
        "many events come at once, beside the load",
        "{at: 1h, events: 500k}",
        amount="events",
        read_amount=_parse_events,
        together=math.fsum,
    ),
}
