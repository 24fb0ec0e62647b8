"""A constant as the data tell it, beside the one in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jobs.model import Distribution, Profile

#: The shares at which a distribution is told.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """One value, or the quantiles of one that varies."""

    where: str
    """Which engine, job or cluster it belongs to."""
    name: str
    unit: str
    found: tuple[float, ...]
    """One value, or one for each of SHARES."""
    used: tuple[float, ...]
    n: int
    how: str

    @property
    def varies(self) -> bool:
        return len(self.found) > 1


def constant(where: str, name: str, found: float, profile: Profile, n: int, how: str) -> Estimate:
    """Of a constant of a profile."""
    known = profile.constants[name]
    return Estimate(where, name, known.unit, (float(found),), (known.value,), n, how)


def delay(where: str, name: str, values: Sequence[float], profile: Profile, how: str) -> Estimate:
    """Of a delay of a profile, from single cases."""
    known = profile.delays[name]
    found = tuple(float(one) for one in np.quantile(np.asarray(values), SHARES))
    return Estimate(where, name, known.unit, found, _told(known), len(values), how)


def fitted_delay(where: str, name: str, found: float, profile: Profile, n: int, how: str) -> Estimate:
    """Of a delay that no single case shows, only its effect."""
    known = profile.delays[name]
    return Estimate(where, name, known.unit, (found,), (known.median,), n, how)


def _told(known: Distribution) -> tuple[float, ...]:
    return tuple(known.at(share) for share in SHARES)
