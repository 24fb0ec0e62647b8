"""The local place: the suite that ran in the simulator runs here, on real processes."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from infra.local import jars, leftovers, lock, options
from infra.local.engine import Engine
from infra.local.errors import LocalError
from infra.local.exporter import Subject
from infra.local.generators import Generators
from infra.local.household import Household
from infra.local.kafka import Broker
from infra.local.options import Options
from infra.local.ports import free
from infra.local.prometheus import Prometheus
from infra.local.target import LocalTarget
from infra.model import Assignment, Check, Cluster, Place, Target
from jobs import runtime
from jobs.runtime import Deployment, Machinery

_log = logging.getLogger("tidebed.place.local")
_READY_S = 240.0
_CAUGHT_UP_S = 20.0
_INPUT = {"retention.bytes": str(512 << 20)}


class Local(Place):
    """Real processes on this machine, one run at a time."""

    name = "local"
    about = "Kafka, Flink or Spark, Prometheus and CPU quotas in processes of this machine; needs make jars"
    exclusive = True

    @contextmanager
    def provision(self, assignment: Assignment) -> Iterator[Cluster]:
        machinery = machinery_of(assignment.engine, assignment.job.name)
        jars.require()
        lock.take()
        leftovers.sweep()
        with Household(assignment.run_id, say=_log.info) as household:
            yield _LocalCluster(assignment, household, machinery)

    def check_options(self, options_given: Mapping[str, Any]) -> list[tuple[str, str]]:
        return options.problems(options_given)

    def doctor(self) -> list[Check]:
        from infra.local.doctor import checks

        return checks()

    def sweep(self) -> list[str]:
        return leftovers.sweep()


def machinery_of(engine: str, job: str) -> Machinery:
    """What runs a job that a suite wants on an engine; the names are those of the profiles."""
    kinds: dict[str, Machinery] = {"flink": "flink", "spark": "spark", "openstack": "workers"}
    kind = kinds.get(engine.partition("-")[0])
    able = runtime.program(job).engines if job in runtime.names() else ()
    if kind is None or kind not in able:
        raise LocalError(f"the place local cannot run {job} on {engine}; it runs it on: {', '.join(able) or 'nothing'}")
    return kind


class _LocalCluster(Cluster):
    """Broker, engine and monitoring of one run."""

    def __init__(self, assignment: Assignment, household: Household, machinery: Machinery) -> None:
        self._assignment = assignment
        self._household = household
        self._machinery = machinery
        self._options = Options.read(assignment.options)
        self._program = runtime.program(assignment.job.name)
        self._partitions = self._options.partitions or self._program.partitions

    def deploy(self) -> AbstractContextManager[Target]:
        return self._deployed()

    @contextmanager
    def _deployed(self) -> Iterator[Target]:
        household, curve = self._household, self._assignment.curve
        began = time.time()
        household.say("starting the broker and the workers")
        broker = Broker(household, *free(2), message_bytes=max(1 << 20, self._program.event_bytes + (1 << 17)))
        broker.start()
        deployment = self._deployment(broker.address)
        engine = self._engine(deployment)
        first = min(self._options.max_workers, self._assignment.initial_workers or 1)
        engine.boot(first)
        broker.await_ready()
        self._create_topics(broker, deployment)
        engine.launch()
        prometheus = self._monitoring(engine, deployment)
        warmup = self._generators(deployment, "warmup", np.full(round(self._options.warmup_s), curve[0]), extra_seed=1)
        load = self._generators(deployment, "load", curve)
        vital = [part for part in (broker.part, prometheus.part) if part is not None]

        def settled() -> bool:
            engine.tick()
            return engine.settled

        household.await_(
            f"waiting for {first} workers and the job on {engine.name}", settled, *vital, patience_s=_READY_S
        )
        prometheus.await_ready()
        self._warm_up(engine, warmup, prometheus)
        start = math.ceil(time.time() + 0.5)
        load.begin(start)
        engine.roster.since = float(start)
        engine.publish()
        if not household.quotas_enforced:
            _log.warning("CPU quotas cannot be set here: workers run without, and the archive says so")
        household.say(f"measuring, {start - began:.0f} s after the start")
        time.sleep(max(0.0, start - time.time()))
        target = LocalTarget(
            engine,
            load,
            prometheus,
            start=start,
            seconds=curve.size,
            most=self._options.max_workers,
            check=lambda: household.check(*vital),
        )
        if not household.quotas_enforced:
            target.tell(0.0, "no_quotas", "control groups may not be made here: workers ran without CPU quotas")
        yield target

    def _deployment(self, broker: str) -> Deployment:
        return Deployment(
            job=self._program.name,
            broker=broker,
            input="events",
            output="results",
            state="state" if self._program.state_topic else "",
            group="tidebed",
            work_ns=self._options.work_ns,
            checkpoint_s=self._options.checkpoint_s,
        )

    def _create_topics(self, broker: Broker, deployment: Deployment) -> None:
        topics: dict[str, tuple[int, Mapping[str, str]]] = {
            deployment.input: (self._partitions, _INPUT),
            deployment.output: (self._program.output_partitions, runtime.OUTPUT_TOPIC),
        }
        if deployment.state:
            topics[deployment.state] = (self._partitions, {"cleanup.policy": "compact"})
        broker.create(topics)

    def _engine(self, deployment: Deployment) -> Engine:
        from infra.local.flink import Flink

        rescaling = self._options.rescaling or (
            "reactive" if self._assignment.engine == "flink-reactive" else "requirements"
        )
        return Flink(self._household, deployment, self._options, reactive=rescaling == "reactive")

    def _monitoring(self, engine: Engine, deployment: Deployment) -> Prometheus:
        port, own = free(2)
        subject = Subject(
            port=port,
            broker=deployment.broker,
            topic=deployment.input,
            partitions=self._partitions,
            output=deployment.output,
            output_partitions=self._program.output_partitions,
            group=deployment.group,
            roster=str(engine.roster_file),
        )
        path = self._household.folder / "exporter.json"
        subject.write(path)
        self._household.start("exporter", [sys.executable, "-m", "infra.local.exporter", str(path)])
        prometheus = Prometheus(self._household, own, {"tidebed": port})
        prometheus.start()
        return prometheus

    def _generators(self, deployment: Deployment, name: str, curve: Any, extra_seed: int = 0) -> Generators:
        return Generators(
            self._household,
            self._program,
            deployment,
            name=name,
            curve=curve,
            partitions=self._partitions,
            seed=2 * self._assignment.seed + extra_seed,
            processes=self._options.generators,
        )

    def _warm_up(self, engine: Engine, warmup: Generators, prometheus: Prometheus) -> None:
        """Load at full speed, so that code is compiled; then the real quotas, and what is left of that load is done."""
        self._household.say(f"warming up for {self._options.warmup_s:g} s")
        warmup.begin(time.time())
        limit = time.time() + self._options.warmup_s
        while time.time() < limit:
            engine.tick()
            time.sleep(0.5)
        warmup.stop()
        engine.settle()
        enough = 2.0 * float(self._assignment.curve[0])
        self._household.say("waiting until what came in the warm-up is done")
        limit = time.time() + _CAUGHT_UP_S
        while time.time() < limit:
            engine.tick()
            lag = prometheus.samples(time.time() - 3, time.time()).find("tidebed_job_lag_events", source="engine")
            if lag.value.size and lag.value[-1] <= enough:
                return
            time.sleep(0.5)
