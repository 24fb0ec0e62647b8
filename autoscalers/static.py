"""No scaling: a fixed number of workers, the baseline that every autoscaler must beat.

Reference
---------
The static deployment that Pfister et al. (Daedalus, ICPE 2024, section 4.3.1) size for the peak of the
workload; their experiments use 12 workers.
"""

from __future__ import annotations

from dataclasses import dataclass

from autoscalers import _checks
from autoscalers.model import Autoscaler, Decision, Observation
from autoscalers.registry import register


@dataclass(frozen=True)
class StaticParams:
    """How many workers, from the first decision to the last."""

    workers: int = 12

    def __post_init__(self) -> None:
        _checks.workers("workers", self.workers)


@register("static", StaticParams)
class Static(Autoscaler[StaticParams]):
    """Ask for the same number of workers always, of every operator where a job scales by operator.

    >>> from autoscalers.testing import observation
    >>> Static(StaticParams(workers=4)).decide(observation(parallelism=1, cpu=0.99)).parallelism
    {'job': 4}
    """

    def initial_workers(self) -> int:
        return self.params.workers

    def decide(self, observation: Observation) -> Decision:
        workers = self.params.workers
        wanted = dict.fromkeys(observation.operators, workers)
        return Decision(f"always {workers} worker{'s' if workers > 1 else ''}", parallelism=wanted)
