"""The simulated place: any job, any load, in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from infra.model import Assignment, Check, Cluster, Place, Target
from infra.simulated import options, trouble
from infra.simulated.target import SimulatedTarget


class Simulated(Place):
    """A fluid queue model in virtual time; nothing to provision, nothing to leave behind."""

    name = "simulated"
    about = "a queueing model in virtual time, calibrated on measured runs; needs nothing"
    real_time = False
    supported_faults = trouble.SUPPORTED

    @contextmanager
    def provision(self, assignment: Assignment) -> Iterator[Cluster]:
        yield _SimulatedCluster(assignment)

    def check_options(self, options_given: Mapping[str, Any]) -> list[tuple[str, str]]:
        return options.problems(options_given)

    def doctor(self) -> list[Check]:
        return [Check("simulated place", ok=True, detail="always there")]


class _SimulatedCluster(Cluster):
    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment

    def deploy(self) -> AbstractContextManager[Target]:
        return self._deployed()

    @contextmanager
    def _deployed(self) -> Iterator[Target]:
        engine = self._assignment.job.profiles[self._assignment.engine].engine
        if engine.scales == "operators":
            from infra.simulated.operators.target import OperatorsTarget

            yield OperatorsTarget(self._assignment)
        else:
            yield SimulatedTarget(self._assignment)
