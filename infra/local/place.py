"""The local place: the suite that ran in the simulator runs here, on real processes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from infra.local import doctor, jars, leftovers, lock, options
from infra.local.cluster import LocalCluster
from infra.local.errors import LocalError
from infra.local.household import Household
from infra.local.trouble import SUPPORTED
from infra.model import Assignment, Check, Cluster, Place
from jobs import runtime
from jobs.runtime import Machinery

_log = logging.getLogger("tidebed.place.local")
_MACHINERY: dict[str, Machinery] = {"flink": "flink", "spark": "spark", "openstack": "workers"}
"""By the first word of an engine's name: the profiles name whole systems, of which the place runs the engine."""


class Local(Place):
    """Real processes on this machine, one run at a time."""

    name = "local"
    about = "Kafka, Flink or Spark, Prometheus and CPU quotas in processes of this machine; needs make jars"
    exclusive = True
    supported_faults = SUPPORTED

    @contextmanager
    def provision(self, assignment: Assignment) -> Iterator[Cluster]:
        machinery = machinery_of(assignment.engine, assignment.job.name)
        jars.require()
        lock.take()
        for line in leftovers.sweep():
            _log.info(line)
        with Household(assignment.run_id, say=_log.info) as household:
            yield LocalCluster(assignment, household, machinery)

    def unready(self) -> str | None:
        return jars.lacking() or lock.taken()

    def refused_job(self, job: str, engine: str) -> str | None:
        try:
            machinery_of(engine, job)
        except LocalError as refusal:
            return str(refusal)
        return None

    def check_options(self, options_given: Mapping[str, Any]) -> list[tuple[str, str]]:
        return options.problems(options_given)

    def doctor(self) -> list[Check]:
        return doctor.checks()

    def sweep(self) -> list[str]:
        return leftovers.sweep()


def machinery_of(engine: str, job: str) -> Machinery:
    """What runs a job that a suite wants on an engine."""
    able = runtime.program(job).engines if job in runtime.names() else ()
    kind = _MACHINERY.get(engine.partition("-")[0])
    if kind is None or kind not in able:
        raise LocalError(f"the place local cannot run {job} on {engine}; it runs it on: {', '.join(able) or 'nothing'}")
    return kind
