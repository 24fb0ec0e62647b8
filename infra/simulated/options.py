"""What a suite may set of the simulated place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from jobs.model import Profile


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the place, with their defaults."""

    max_workers: int = 100
    """The largest fleet; a job's key groups may allow fewer."""
    instance_period_s: int = 5
    """Seconds between two archived samples of each worker."""
    constants: Mapping[str, float] = field(default_factory=dict)
    """Other values for constants and delays of the profile (`tidebed list profiles`)."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Options:
        return cls(**options)

    def applied_to(self, profile: Profile) -> Profile:
        """The profile with the suite's values; what the engine does not have is left out."""
        known = profile.constants.keys() | profile.delays.keys()
        return profile.changed(
            "set by the suite", {name: float(value) for name, value in self.constants.items() if name in known}
        )


def problems(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key, what is wrong) for each setting that is not understood."""
    known = [field.name for field in fields(Options)]
    found = [(key, f'unknown option "{key}"; there are: {", ".join(known)}') for key in options if key not in known]
    for key in ("max_workers", "instance_period_s"):
        value = options.get(key, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            found.append((key, f'"{value}" is not a whole number of at least 1'))
    constants = options.get("constants", {})
    if not isinstance(constants, Mapping):
        return [*found, ("constants", "is not a mapping; write e.g. {smoothing_s: 60}")]
    return [*found, *(("constants." + str(key), line) for key, line in _wrong_constants(constants))]


def _wrong_constants(constants: Mapping[Any, Any]) -> list[tuple[Any, str]]:
    import jobs

    known = {
        name
        for job in jobs.names()
        for profile in jobs.get(job).profiles.values()
        for name in (*profile.constants, *profile.delays)
    }
    found = []
    for key, value in constants.items():
        if key not in known:
            near = get_close_matches(str(key), sorted(known), n=1)
            hint = f'did you mean "{near[0]}"?' if near else 'see "tidebed list profiles"'
            found.append((key, f"no profile has this constant; {hint}"))
        elif not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            found.append((key, f'"{value}" is not a number of at least 0'))
    return found
