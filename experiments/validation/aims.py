"""How close the replays are meant to come, and whether they do, on the runs that nothing was fitted on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from experiments.validation.spreads import Group

Verdict = Literal["met", "partly", "missed", "not tested"]

#: Fewer interruptions than this have no median to speak of.
ENOUGH = 5
#: A run that was overloaded for a larger part of its time is called so where it misses an aim.
OVERLOADED = 0.1


@dataclass(frozen=True, slots=True)
class Case:
    """A run or a group of interruptions, with how far it is off."""

    name: str
    error: float
    late: float = float("nan")
    """Share of the time in which the measured job was overloaded, where known."""


@dataclass(frozen=True, slots=True)
class Aim:
    """One aim with the cases it is judged on."""

    title: str
    limit: float
    unit: Literal["%", "points"]
    cases: tuple[Case, ...]

    @property
    def within(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if abs(case.error) <= self.limit)

    @property
    def median(self) -> float:
        """Of the errors' sizes."""
        sizes = sorted(abs(case.error) for case in self.cases)
        middle = len(sizes) // 2
        if not sizes:
            return float("nan")
        return sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2.0

    @property
    def verdict(self) -> Verdict:
        """Met by all, by the half at least, or by fewer."""
        if not self.cases:
            return "not tested"
        if len(self.within) == len(self.cases):
            return "met"
        return "partly" if self.median <= self.limit else "missed"

    @property
    def why(self) -> str:
        """Who misses it, and whether they were overloaded."""
        missing = [case for case in self.cases if case not in self.within]
        if not missing:
            return "" if self.cases else "the data have no such case"
        late = [case for case in missing if case.late > OVERLOADED]
        worst = max(missing, key=lambda case: abs(case.error))
        words = f"worst {self.shown(worst.error)}: {worst.name}"
        if late:
            words += f"; {len(late)} of the {len(missing)} that miss it were overloaded"
            words += f" for {min(case.late for case in late):.0%}-{max(case.late for case in late):.0%} of their time"
        return words

    def shown(self, error: float) -> str:
        """
        >>> Aim("throughput", 0.02, "%", ()).shown(-0.0123), Aim("CPU", 0.05, "points", ()).shown(0.021)
        ('-1.2 %', '+2.1 points')
        """
        return f"{100.0 * error:+.1f} {self.unit}"

    @property
    def aimed(self) -> str:
        return f"{100.0 * self.limit:.0f} {self.unit}"


def aims(
    runs: Sequence[Case], latency: Sequence[Case], cpu: Sequence[Case], groups: Sequence[Group]
) -> tuple[Aim, ...]:
    """The four aims over cases of runs that nothing was fitted on."""
    recoveries = [
        Case(group.name, group.recovery_error)
        for group in groups
        if min(spread.n for spread in group.spreads("recovery_s")) >= ENOUGH
    ]
    return (
        Aim("mean throughput of a run", 0.02, "%", _known(runs)),
        Aim("mean CPU of a run", 0.05, "points", _known(cpu)),
        Aim("median recovery time of a kind of interruption", 0.20, "%", _known(recoveries)),
        Aim("mean latency of a run outside outages", 0.15, "%", _known(latency)),
    )


def _known(cases: Sequence[Case]) -> tuple[Case, ...]:
    return tuple(case for case in cases if math.isfinite(case.error))
