"""Outages and recoveries side by side: what followed the same kind of action, measured and simulated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.validation.interruptions import Interruption

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles of several cases at SHARES."""

    n: int
    quantiles: tuple[float, ...]
    """Empty where there are no cases."""

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """
        >>> Spread.of([1.0, 2.0, 3.0, float("nan")])
        Spread(n=3, quantiles=(1.2, 1.5, 2.0, 2.5, 2.8))
        """
        known = [value for value in values if math.isfinite(value)]
        if not known:
            return cls(0, ())
        return cls(len(known), tuple(round(float(one), 3) for one in np.quantile(known, SHARES)))

    @property
    def median(self) -> float:
        return self.quantiles[SHARES.index(0.5)] if self.n else float("nan")


@dataclass(slots=True)
class Group:
    """Interruptions of one kind: the same source, job, system and cause."""

    source: str
    job: str
    system: str
    cause: str
    calibrated: bool
    measured: list[Interruption] = field(default_factory=list)
    simulated: list[Interruption] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.source} {self.job.upper()} {self.system}: {self.cause}"

    def spreads(self, figure: str) -> tuple[Spread, Spread]:
        """Measured and simulated; `figure` names a field of an interruption."""
        return Spread.of(values(self.measured, figure)), Spread.of(values(self.simulated, figure))

    @property
    def recovery_error(self) -> float:
        """Of the median, relative."""
        measured, simulated = self.spreads("recovery_s")
        return simulated.median / measured.median - 1.0


def values(interruptions: Iterable[Interruption], figure: str) -> list[float]:
    return [float(getattr(one, figure)) for one in interruptions]


def add(
    groups: dict[str, Group], kind: Group, measured: Sequence[Interruption], simulated: Sequence[Interruption]
) -> None:
    """Put interruptions that began while latency was usual under their cause."""
    causes = sorted({one.cause for one in (*measured, *simulated)} - {"unknown"})
    for cause in causes:
        fresh = Group(kind.source, kind.job, kind.system, cause, kind.calibrated)
        group = groups.setdefault(fresh.name, fresh)
        group.measured += [one for one in measured if one.cause == cause and one.normal_before]
        group.simulated += [one for one in simulated if one.cause == cause and one.normal_before]


def alike(
    measured: Sequence[Interruption], simulated: Sequence[Interruption]
) -> tuple[list[Interruption], list[Interruption]]:
    """Of interruptions listed action by action those that both series show, so that the same are compared."""
    both = [
        (one, other)
        for one, other in zip(measured, simulated, strict=True)
        if one.normal_before
        and other.normal_before
        and math.isfinite(one.recovery_s)
        and math.isfinite(other.recovery_s)
    ]
    return [one for one, _ in both], [other for _, other in both]
