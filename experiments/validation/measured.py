"""A measured run: what a real cluster was given, and what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from autoscalers.model import Floats

Kind = Literal["rescale", "failure"]

#: The job on whose runs constants may be fitted; every other job's runs are for testing.
CALIBRATED_ON = "ads"

#: A job that is this late is overloaded and works as fast as it can.
LATE_S = 10.0


@dataclass(frozen=True, slots=True)
class Action:
    """Something that was done to the job."""

    time_s: int
    kind: Kind
    workers: int
    """How many there are after it; after a failure as many as before, until another action says otherwise."""
    before: int

    @property
    def cause(self) -> str:
        """
        >>> Action(60, "rescale", workers=6, before=4).cause, Action(60, "failure", workers=4, before=4).cause
        ('scale out', 'failure')
        """
        if self.kind == "failure":
            return "failure"
        return "scale out" if self.workers > self.before else "scale in" if self.workers < self.before else "redeploy"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One run, a value a second; NaN where nothing was read."""

    name: str
    source: str
    """The data set."""
    cluster: str
    """Which machines and which settings: a name in experiments.validation.clusters."""
    job: str
    system: str
    """What scaled it."""
    workload: Floats
    """Events/s that were offered; without gaps."""
    throughput: Floats
    latency_s: Floats
    workers: Floats
    cpu: Floats
    """Mean over the workers, as a share of one worker's."""
    lag: Floats
    """Events of the partition that is furthest behind, mean over the readers."""
    actions: tuple[Action, ...]
    first_workers: int
    scrape_period_s: int
    """How often each worker was read."""

    @property
    def seconds(self) -> int:
        return int(self.workload.size)

    @property
    def failures(self) -> tuple[int, ...]:
        return tuple(action.time_s for action in self.actions if action.kind == "failure")

    @property
    def calibrated(self) -> bool:
        """Whether constants were fitted on runs of this job."""
        return self.job == CALIBRATED_ON


def without_gaps(values: Floats) -> Floats:
    """Gaps filled by the value before them, or the first known one.

    >>> without_gaps(np.array([np.nan, 2.0, np.nan, 3.0]))
    array([2., 2., 2., 3.])
    """
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        return values
    before = np.searchsorted(known, np.arange(values.size), side="right") - 1
    return np.asarray(values[known[np.maximum(before, 0)]], dtype=np.float64)
