"""Where a run takes place.

with place.provision(assignment) as cluster, cluster.deploy() as target:
    target.advance(15); observation = target.observe(); target.apply(decision)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autoscalers.model import Decision, Floats, Observation
from infra.faults import Incident
from jobs.model import Job

Columns = dict[str, Any]
"""One table's columns by name: numpy arrays, or lists where the values are text."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a place is asked to run."""

    run_id: str
    job: Job
    engine: str
    """Which of the job's profiles or engine files is used."""
    curve: Floats
    """Offered events/s, one value a second; its length is the run's duration."""
    seed: int
    initial_workers: int | None
    """Workers at the start; None leaves it to the place, which then covers the first load."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Place-specific settings, validated by `Place.check_options`."""
    faults: tuple[Incident, ...] = ()
    """What goes wrong, in the order of time; all of a kind that the place supports."""


class Applied(NamedTuple):
    """What became of one part of a decision."""

    target: str
    before: int
    wanted: int
    applied: int


@dataclass(slots=True)
class Recording:
    """Rows of the archive's tables since the last `drain`, by column; run id and operator names filled in later."""

    metrics: Columns
    instances: Columns
    events: Columns


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `tidebed doctor`."""

    what: str
    ok: bool
    detail: str
    needed: bool = True
    """Whether nothing works without it; what only one place needs is not."""


class Target(ABC):
    """A deployed job under load."""

    @property
    @abstractmethod
    def time_s(self) -> float:
        """Seconds since the start of the run."""

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Let this much time pass, at most to the end of the curve."""

    @abstractmethod
    def observe(self) -> Observation:
        """What was measured since the last call."""

    @abstractmethod
    def apply(self, decision: Decision) -> list[Applied]:
        """Carry a decision out; one entry for each thing it names."""

    @abstractmethod
    def drain(self) -> Recording:
        """Hand over what was recorded since the last call, so that memory stays bounded."""


class Cluster(ABC):
    """Provisioned machinery for one run."""

    @abstractmethod
    def deploy(self) -> AbstractContextManager[Target]:
        """Start the job; leaving the context stops it."""


class Place(ABC):
    """A kind of machinery."""

    name: str
    about: str
    exclusive: bool = False
    """Whether a run needs the machine to itself."""
    real_time: bool = True
    """Whether a second of a run takes a second."""
    supported_faults: frozenset[str] = frozenset()
    """The kinds of faults (`infra.faults.KINDS`) that it can cause."""

    @abstractmethod
    def provision(self, assignment: Assignment) -> AbstractContextManager[Cluster]:
        """Make ready what the run needs; leaving the context gives it back."""

    def check_options(self, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(key, what is wrong) for each setting that is not understood."""
        return [(key, f'the place "{self.name}" takes no options') for key in options]

    def unready(self) -> str | None:
        """Why no run can begin here now; None if one can."""
        return None

    def refused_job(self, job: str, engine: str) -> str | None:
        """Why this place cannot run a job on an engine; None if it can."""
        del job, engine
        return None

    def refused_fault(self, kind: str) -> str | None:
        """Why this place cannot cause a kind of fault; None if it can."""
        if kind in self.supported_faults:
            return None
        able = ", ".join(sorted(self.supported_faults)) or "none"
        return f'the place "{self.name}" cannot cause {kind}; it can cause: {able}'

    def doctor(self) -> list[Check]:
        """What this machine has and lacks for this place."""
        return []

    def sweep(self) -> list[str]:
        """Remove what crashed runs left behind; a line for each thing removed. Idempotent."""
        return []
