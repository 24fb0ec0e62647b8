"""Traffic monitoring in plain Python: what must have come out, and what did."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from jobs.traffic.events import VehicleEvent
from jobs.traffic.vehicles import LATITUDE, LONGITUDE, METRES_A_DEGREE, METRES_A_DEGREE_EAST, RADIUS_M, fleet

WINDOW_MS = 10_000


class Window(NamedTuple):
    """A vehicle in ten seconds of event time."""

    vehicle: str
    start_ms: int


class Speed(NamedTuple):
    """What is known of a window."""

    average: float
    """cm/s"""
    events: int
    event_time: int
    """Of the youngest event, in ms."""
    kind: str
    speeding: bool


def near(event: VehicleEvent) -> bool:
    """Whether it is in the circle of interest, on a plane: over a kilometre the error is some centimetres."""
    north = (event.latitude - LATITUDE) * METRES_A_DEGREE
    east = (event.longitude - LONGITUDE) * METRES_A_DEGREE_EAST
    return north * north + east * east <= RADIUS_M * RADIUS_M


def expected(events: Iterable[VehicleEvent]) -> dict[Window, Speed]:
    """All windows of vehicles that came near.

    >>> here = VehicleEvent("B-TB0000", LATITUDE, LONGITUDE, 1300, 12_000)
    >>> expected([here, here._replace(speed=1500, time_ms=13_000), here._replace(latitude=53.0)])
    {Window(vehicle='B-TB0000', start_ms=10000): Speed(average=1400.0, events=2, event_time=13000, kind='car', \
speeding=True)}
    """
    totals: dict[Window, tuple[int, int, int]] = {}
    for event in filter(near, events):
        window = Window(event.vehicle, event.time_ms // WINDOW_MS * WINDOW_MS)
        total, count, latest = totals.get(window, (0, 0, 0))
        totals[window] = (total + event.speed, count + 1, max(latest, event.time_ms))
    return {window: _enriched(window.vehicle, *figures) for window, figures in totals.items()}


def _enriched(vehicle: str, total: int, count: int, latest: int) -> Speed:
    kind = fleet()[vehicle]
    return Speed(total / count, count, latest, kind.name, total / count > kind.limit)


def collected(values: Iterable[bytes]) -> dict[Window, Speed]:
    """The same from the output topic, in its order: the last record of a window holds."""
    return {
        Window(record["vehicle"], record["window_start"]): Speed(
            record["average_speed"], record["events"], record["event_time"], record["kind"], record["speeding"]
        )
        for record in map(json.loads, values)
    }
