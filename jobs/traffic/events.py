"""Vehicle events in JSON: a position near the vehicle's own quarter, and a speed.

Quarters lie evenly in a square around the point of interest, of which the circle of interest covers half.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobs.records import TIME_DIGITS, Layout, choices, column, digits, pick, times
from jobs.runtime import Deployment, Program, Source
from jobs.traffic.vehicles import (
    LATITUDE,
    LONGITUDE,
    METRES_A_DEGREE,
    METRES_A_DEGREE_EAST,
    RADIUS_M,
    fleet,
)

FASTEST = 2_500
"""cm/s"""
_REACH = RADIUS_M * sqrt(pi / 2)
"""Half the side of the square, in metres."""
_ROAM = 0.2
"""How far a vehicle gets from its quarter, as a share of that."""

_PLATES = column(list(fleet()))
_BOUNDS = choices(np.array([kind.reports for kind in fleet().values()]))
_QUARTERS = np.random.default_rng(0).uniform(-1, 1, (len(fleet()), 2))
_LAYOUT = Layout(
    '{"vehicle":"<plate>","event_time":<time>,"lat":<lat>.<lat_part>,"lon":<lon>.<lon_part>,"speed":<speed>}',
    plate=_PLATES.shape[1],
    time=TIME_DIGITS,
    lat=2,
    lat_part=6,
    lon=2,
    lon_part=6,
    speed=4,
)


class VehicleEvent(NamedTuple):
    """One event."""

    vehicle: str
    latitude: float
    longitude: float
    speed: int
    """cm/s"""
    time_ms: int


def decode(value: bytes, timestamp_ms: int) -> VehicleEvent:
    del timestamp_ms
    event = json.loads(value)
    return VehicleEvent(event["vehicle"], event["lat"], event["lon"], event["speed"], event["event_time"])


class VehicleEvents(Source):
    """Positions and speeds."""

    def batch(self, count: int, time_ms: int | NDArray[np.int64]) -> list[bytes]:
        shares = self.random.random((count, 4))
        vehicles = pick(_BOUNDS, shares[:, 0])
        north, east = ((_QUARTERS[vehicles] + _ROAM * (2 * shares[:, 1:3] - 1)) * _REACH).T
        lat, lat_part = _degrees(LATITUDE + north / METRES_A_DEGREE)
        lon, lon_part = _degrees(LONGITUDE + east / METRES_A_DEGREE_EAST)
        return _LAYOUT.rows(
            count,
            plate=_PLATES[vehicles],
            time=times(time_ms),
            lat=lat,
            lat_part=lat_part,
            lon=lon,
            lon_part=lon_part,
            speed=digits((shares[:, 3] * FASTEST).astype(np.int64), 4),
        )


def _degrees(values: NDArray[np.float64]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Digits before and behind the point; six of these are a tenth of a metre."""
    places = digits(np.rint(values * 1e6).astype(np.int64), 8)
    return places[:, :2], places[:, 2:]


def _tables(deployment: Deployment) -> Mapping[str, str]:
    del deployment
    return {
        "kinds": " ".join(f"{plate}={kind.name}" for plate, kind in fleet().items()),
        "limits": " ".join(f"{plate}={kind.limit}" for plate, kind in fleet().items()),
        "latitude": f"{LATITUDE}E0",
        "longitude": f"{LONGITUDE}E0",
        "metres_a_degree": f"{METRES_A_DEGREE}E0",
        "metres_a_degree_east": f"{METRES_A_DEGREE_EAST}E0",
        "radius_m": f"{RADIUS_M}E0",
    }


PROGRAM = Program(
    name="traffic",
    engines=("flink", "spark"),
    source=VehicleEvents,
    event_bytes=_LAYOUT.size,
    tables=_tables,
)
