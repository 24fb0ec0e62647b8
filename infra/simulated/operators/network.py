"""How long events travel between the regions where instances are, weighted by how much goes which way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from autoscalers.model import Floats
from jobs.operators import OperatorsProfile


class Spot(NamedTuple):
    """A part of an operator's events, and the region where they are processed."""

    share: float
    region: int


def latency_matrix(profile: OperatorsProfile) -> Floats:
    """[from region, to region] seconds."""
    return np.array([[profile.between(one, other) for other in profile.regions] for one in profile.regions])


def travel(origin: Sequence[Spot], goal: Sequence[Spot], latency_s: Floats) -> tuple[float, float]:
    """Mean and variance over the events of the latency from one operator to the next.

    Every instance sends to every instance, by their shares.

    >>> here, there = Spot(0.5, 0), Spot(0.5, 1)
    >>> travel([here, there], [Spot(1.0, 1)], np.array([[0.0, 0.25], [0.25, 0.0]]))
    (0.125, 0.015625)
    """
    weights = np.outer([spot.share for spot in origin], [spot.share for spot in goal])
    if not weights.sum() > 0:
        return 0.0, 0.0
    weights /= weights.sum()
    times = latency_s[np.ix_([spot.region for spot in origin], [spot.region for spot in goal])]
    mean = float((weights * times).sum())
    return mean, max(0.0, float((weights * times**2).sum()) - mean * mean)
