"""Which scale-out is best, given what the models say about each.

Reference
---------
Geldenhuys et al. (Phoebe, ICWS 2022), in the form of the authors' code and the logs of their runs (dos-group/phoebe).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Two values are alike if they differ by less than this, relative to the one that is looked at.
ALIKE = 0.05
#: Going in by so many workers is not worth a restart.
NOT_WORTH_IT = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is expected of a scale-out."""

    workers: int
    recovery_s: float
    latency_s: float
    low: bool
    """Whether the latency is of the low class."""

    def valid(self, target_s: float) -> bool:
        return self.recovery_s < target_s and self.low


@dataclass(frozen=True, slots=True)
class Choice:
    """The scale-out to have, and why."""

    workers: int
    reason: str


def least(values: Sequence[tuple[int, float]], current: int) -> int:
    """The scale-out with the least value, scanning upwards from the smallest, with the current one in mind.

    One whose value is alike replaces what was found only if it needs fewer workers; a lower value always does.

    >>> least([(2, 9.0), (4, 3.0), (6, 2.9), (8, 2.0)], current=6)
    8
    >>> least([(2, 2.05), (4, 2.0), (6, 2.0)], current=6)
    2
    """
    workers, value = current, dict(values).get(current, float("inf"))
    for candidate, other in sorted(values):
        apart = 0.0 if other == value else abs(value - other) / other if other > 0.0 else float("inf")
        if (apart < ALIKE and candidate < workers) or (apart > ALIKE and other < value):
            workers, value = candidate, other
    return workers


def choose(candidates: Sequence[Candidate], current: int, target_s: float) -> Choice:
    """The smallest scale-out that recovers in time with a low latency; without one, what recovers or answers best.

    >>> best = choose([Candidate(4, 900, 1.2, True), Candidate(8, 400, 1.2, True)], current=4, target_s=600)
    >>> best.workers, best.reason
    (8, 'the fewest that recover within 600 s at low latency (400 s, 1.2 s)')
    """
    fitting = [candidate for candidate in sorted(candidates, key=_workers) if candidate.valid(target_s)]
    if fitting:
        best = fitting[0]
        figures = f"{best.recovery_s:.0f} s, {best.latency_s:.1f} s"
        return Choice(best.workers, f"the fewest that recover within {target_s:g} s at low latency ({figures})")
    by_recovery = least([(candidate.workers, candidate.recovery_s) for candidate in candidates], current)
    by_latency = least([(candidate.workers, candidate.latency_s) for candidate in candidates], current)
    soonest = f"{by_recovery} recover soonest, {by_latency} answer soonest"
    return Choice(max(by_recovery, by_latency), f"none recovers within {target_s:g} s at low latency; {soonest}")


def worth_it(wanted: int, current: int) -> bool:
    """Whether to act: going out always is, going in only by more than two.

    >>> [wanted for wanted in range(5, 11) if worth_it(wanted, current=8)]
    [5, 9, 10]
    """
    return not current - NOT_WORTH_IT <= wanted <= current


def _workers(candidate: Candidate) -> int:
    return candidate.workers
