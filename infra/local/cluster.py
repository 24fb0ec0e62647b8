"""Broker, engine, load and monitoring of one run: started in order, each waited for, warmed before time begins."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from infra.local.engine import Engine
from infra.local.exporter import Subject
from infra.local.flink import Flink
from infra.local.generators import LOAD, WARMUP, Generators
from infra.local.household import Household, Part
from infra.local.kafka import Broker
from infra.local.options import Options
from infra.local.pool import Pool
from infra.local.ports import free
from infra.local.prometheus import Prometheus
from infra.local.sight import recent_lag, recent_loads
from infra.local.spark import Spark
from infra.local.target import LocalTarget
from infra.local.trouble import Trouble
from infra.model import Assignment, Cluster, Target
from jobs import runtime
from jobs.runtime import Deployment, Machinery

_log = logging.getLogger("tidebed.place.local")
_READY_S = 240.0
_CAUGHT_UP_S = 20.0
_INPUT = {"retention.bytes": str(512 << 20)}


class LocalCluster(Cluster):
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
        engine.boot(min(self._options.max_workers, self._assignment.initial_workers or 1))
        broker.await_ready()
        self._create_topics(broker, deployment)
        engine.launch()
        prometheus = self._monitoring(engine, deployment)
        load = self._generators(deployment)
        self._await_job(engine, broker)
        prometheus.await_ready()
        household.await_("waiting for the load generator", lambda: load.ready, *load.parts, patience_s=_READY_S)
        self._warm_up(engine, load, prometheus)
        start = math.ceil(time.time() + 0.5)
        load.play(LOAD, start)
        engine.roster.since = float(start)
        engine.publish()
        household.say(f"measuring, {start - began:.0f} s after the start")
        time.sleep(max(0.0, start - time.time()))
        always = [*load.parts, household.parts["exporter"], household.parts["prometheus"]]
        trouble = Trouble(self._assignment.faults, engine, broker, lambda: recent_loads(prometheus, engine.indices))
        target = LocalTarget(
            engine,
            load,
            prometheus,
            trouble,
            start=start,
            seconds=curve.size,
            most=self._options.max_workers,
            check=lambda: household.check(*always, *_needed(None if trouble.broker_down else broker.part)),
        )
        if not household.quotas_enforced:
            _log.warning("CPU quotas cannot be set here: workers run without, and the archive says so")
            target.tell(0.0, "no_quotas", "control groups may not be made here: workers ran without CPU quotas")
        yield target

    def _await_job(self, engine: Engine, broker: Broker) -> None:
        def settled() -> bool:
            engine.tick()
            return engine.settled

        what = f"waiting for {engine.wanted} workers and the job on {engine.name}"
        self._household.await_(what, settled, *_needed(broker.part), patience_s=_READY_S, poll_s=0.3)

    def _bursts(self) -> tuple[tuple[float, int], ...]:
        """Events that a fault adds to the load."""
        filled = [incident for incident in self._assignment.faults if incident.kind == "fill-lag"]
        return tuple((incident.time_s, round(incident.amount)) for incident in filled)

    def _deployment(self, broker: str) -> Deployment:
        return Deployment(
            job=self._program.name,
            broker=broker,
            input="events",
            output="results",
            state="state" if self._program.state_topic else "",
            group="tidebed",
            work_ns=self._options.work_ns,
            checkpoint_s=self._options.checkpoint_s if self._machinery == "flink" else self._options.batch_s,
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
        if self._machinery == "spark":
            return Spark(self._household, deployment, self._options)
        if self._machinery == "workers":
            return Pool(self._household, deployment, self._options)
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

    def _generators(self, deployment: Deployment) -> Generators:
        curve = self._assignment.curve
        return Generators(
            self._household,
            self._program,
            deployment,
            curves={WARMUP: np.full(round(self._options.warmup_s), curve[0]), LOAD: curve},
            partitions=self._partitions,
            seed=self._assignment.seed,
            processes=self._options.generators,
            extra=self._bursts(),
        )

    def _warm_up(self, engine: Engine, load: Generators, prometheus: Prometheus) -> None:
        """Load at full speed, so that code is compiled; then the real quotas, and what is left of that load is done."""
        self._household.say(f"warming up for {self._options.warmup_s:g} s")
        load.play(WARMUP, time.time())
        limit = time.time() + self._options.warmup_s
        while time.time() < limit:
            engine.tick()
            time.sleep(0.5)
        load.rest()
        engine.settle()
        enough = 2.0 * float(self._assignment.curve[0])
        self._household.say("waiting until what came in the warm-up is done")
        limit = time.time() + _CAUGHT_UP_S
        while time.time() < limit:
            engine.tick()
            if recent_lag(prometheus) <= enough:
                return
            time.sleep(0.5)


def _needed(*parts: Part | None) -> list[Part]:
    return [part for part in parts if part is not None]
