"""The fleet: what is known of a vehicle beside the events it sends, and where the job looks."""

from __future__ import annotations

from functools import cache
from math import cos, radians
from typing import NamedTuple

import numpy as np

FLEET = 2000

LATITUDE, LONGITUDE = 52.52, 13.405
"""The point of interest: the middle of Berlin, where Pfister et al. 2024 let their vehicles drive."""
RADIUS_M = 1000.0
METRES_A_DEGREE = 111_320.0
METRES_A_DEGREE_EAST = METRES_A_DEGREE * cos(radians(LATITUDE))


class Kind(NamedTuple):
    """A kind of vehicle."""

    name: str
    share: float
    """Of the fleet; assumed."""
    reports: float
    """How often it sends an event, compared with a car; assumed. It makes some keys hot."""
    limit: int
    """Speed limit in cm/s."""


KINDS = (
    Kind("car", 0.80, 1.0, 1389),
    Kind("taxi", 0.12, 4.0, 1389),
    Kind("bus", 0.06, 8.0, 1389),
    Kind("ambulance", 0.02, 16.0, 2222),
)


@cache
def fleet() -> dict[str, Kind]:
    """Number plate to kind."""
    bounds = np.cumsum([kind.share for kind in KINDS])
    kinds = np.searchsorted(bounds * FLEET, np.arange(FLEET), side="right")
    return {f"B-TB{number:04d}": KINDS[kind] for number, kind in enumerate(kinds)}
