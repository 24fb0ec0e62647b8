"""Flink: a JobManager with one application, and TaskManagers of one slot each.

Two knobs: in reactive mode the job takes all the TaskManagers there are; else its resource requirements say how many,
over REST, and a checkpoint is triggered first, so that little is done twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from infra.local import jars, java
from infra.local.engine import Engine, Worker
from infra.local.household import Household, Part
from infra.local.options import Options
from infra.local.ports import LOOPBACK, free
from jobs import runtime
from jobs.runtime import Deployment

JOB_ID = "7" * 32
_TASK_HEAP_MB, _FRAMEWORK_MB, _NETWORK_MB, _MANAGED_MB, _METASPACE_MB, _OVERHEAD_MB = 256, 64, 48, 16, 192, 64
_JOBMANAGER_HEAP_MB = 384
_OPENED = ["java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text"]
_OPENED += [
    "java.time",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
]
_OPTIONS = [
    f"-XX:MaxMetaspaceSize={_METASPACE_MB}m",
    "-XX:ReservedCodeCacheSize=96m",
    "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
]
_QUIET = (
    "org.apache.flink.kafka.shaded",
    "org.apache.kafka",
    "org.apache.flink.api.java.typeutils",
    "org.apache.flink.runtime.rest.handler",
)
_METRICS = "*:numRecordsIn,currentOffset"
_SAVE_S = 10.0
"""Workers that are to leave wait no longer for a checkpoint."""
_NO_ANSWER: Mapping[str, Any] = {}


class Flink(Engine):
    """One application cluster."""

    name = "flink"
    memory_mb = _TASK_HEAP_MB + 2 * _FRAMEWORK_MB + _NETWORK_MB + _MANAGED_MB + _METASPACE_MB + _OVERHEAD_MB

    def __init__(self, household: Household, deployment: Deployment, options: Options, *, reactive: bool) -> None:
        super().__init__(household, deployment, options)
        self.reactive = reactive
        self._folder = household.room("flink")
        self._rest, self._rpc, self._blob = free(3)
        self._client = httpx.Client(base_url=f"http://{LOOPBACK}:{self._rest}", timeout=5.0, trust_env=False)
        self._jobmanager: Part | None = None
        self._running = False
        self._parallelism = 0
        self._required = 0
        self._save = ""
        self._save_by = 0.0
        self._configure()

    def vital(self) -> list[Part]:
        return [self._jobmanager] if self._jobmanager is not None else []

    @property
    def serving(self) -> bool:
        return self._running

    @property
    def settled(self) -> bool:
        return self._running and self._parallelism == self.wanted == len(self.workers)

    def launch(self) -> None:
        self._required = self.wanted
        script = self._folder / "job.sql"
        script.write_text(runtime.flink_script(self.deployment), encoding="utf-8")
        settings = {
            "jobmanager.memory.heap.size": f"{_JOBMANAGER_HEAP_MB}m",
            "jobmanager.memory.off-heap.size": "64m",
            "jobmanager.memory.jvm-metaspace.size": f"{_METASPACE_MB}m",
            "jobmanager.memory.jvm-overhead.min": f"{_OVERHEAD_MB}m",
            "jobmanager.memory.jvm-overhead.max": f"{_OVERHEAD_MB}m",
            "parallelism.default": str(self.wanted),
            **({"scheduler-mode": "reactive"} if self.reactive else {}),
        }
        self._jobmanager = self.household.start(
            "jobmanager",
            self._java(  # it plans once and then waits: the quick compiler is enough
                "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint",
                _JOBMANAGER_HEAP_MB,
                *("--configDir", str(self._folder), "--job-id", JOB_ID, "--job-classname", runtime.FLINK_RUNNER),
                *_settings(settings),
                *("--script", str(script)),
            ),
            env=self._environment(),
        )

    def start_worker(self, index: int) -> Worker:
        (port,) = free(1)
        heap = _TASK_HEAP_MB + _FRAMEWORK_MB
        direct = _FRAMEWORK_MB + _NETWORK_MB
        settings = {
            "taskmanager.resource-id": _resource(index),
            "taskmanager.memory.process.size": f"{self.memory_mb}m",
            "metrics.reporter.prom.factory.class": runtime.FLINK_REPORTER,
            "metrics.reporter.prom.port": str(port),
            "metrics.reporter.prom.filter.includes": _METRICS,
        }
        command = self._java(
            "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
            heap,
            *("--configDir", str(self._folder), *_settings(settings)),
            direct_mb=direct,
        )
        return self.make_worker(f"worker-{index}", command, metrics_port=port, env=self._environment())

    def look(self) -> None:
        there = {entry["id"]: entry for entry in self._ask("/taskmanagers").get("taskmanagers", [])}
        for worker in self.workers:
            self.mark(worker, _resource(worker.member.index) in there)
        job = self._ask(f"/jobs/{JOB_ID}")
        vertices = job.get("vertices", [])
        self._running = job.get("state") == "RUNNING" and all(
            vertex["tasks"]["RUNNING"] == vertex["parallelism"] for vertex in vertices
        )
        self._parallelism = max((vertex["parallelism"] for vertex in vertices), default=0)
        if self._save and self._saved():
            self._save = ""
            self.shrink()
        self._require()
        if not self.reactive and self._running and self._parallelism <= self.wanted:
            idle = {name for name, entry in there.items() if entry["freeSlots"] == entry["slotsNumber"]}
            self._dismiss([worker for worker in self.present if _resource(worker.member.index) in idle])

    def shrink(self) -> None:
        """In reactive mode at once, or once the job is saved; else those go that the job has left, once it has."""
        if self.reactive and not self._save:
            super().shrink()

    def request(self, *, save_first: bool) -> None:
        self._require()
        if save_first:
            self._begin_to_save()

    def _require(self) -> None:
        """Resource requirements; put again at the next look while the JobManager does not take them."""
        if self.reactive or self._required == self.wanted:
            return
        path = f"/jobs/{JOB_ID}/resource-requirements"
        requirements = self._ask(path)
        for vertex in requirements.values():
            vertex["parallelism"] = {"lowerBound": 1, "upperBound": self.wanted}
        if requirements and self._ask(path, "PUT", requirements) is not _NO_ANSWER:
            self._required = self.wanted
            if self.options.checkpoint_first:
                self._begin_to_save()

    def _begin_to_save(self) -> None:
        """A checkpoint. Where workers join, the job goes on from one in any case."""
        trigger = self._ask(f"/jobs/{JOB_ID}/checkpoints", "POST", {"checkpointType": "FULL"})
        self._save = str(trigger.get("request-id", ""))
        self._save_by = time.monotonic() + _SAVE_S

    def _saved(self) -> bool:
        state = self._ask(f"/jobs/{JOB_ID}/checkpoints/{self._save}").get("status", {}).get("id")
        return state == "COMPLETED" or time.monotonic() > self._save_by

    def _dismiss(self, idle: list[Worker]) -> None:
        """Of the workers that the job does not use, let the youngest go, as many as there are too many."""
        for worker in reversed(idle):
            if len(self.present) > self.wanted:
                worker.leaving = True
                worker.part.kill()

    def _ask(self, path: str, method: str = "GET", body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """What the JobManager answers; nothing while it does not."""
        try:
            answer = self._client.request(method, path, json=body)
            found: Mapping[str, Any] = answer.json() if answer.is_success else _NO_ANSWER
        except (httpx.HTTPError, ValueError):
            found = _NO_ANSWER
        return found

    def _java(self, main: str, heap_mb: int, *arguments: str, direct_mb: int = 0) -> list[str]:
        direct = [f"-XX:MaxDirectMemorySize={direct_mb}m"] if direct_mb else ["-XX:TieredStopAtLevel=1"]
        options = [*_OPTIONS, *direct, f"-Dlog4j2.configurationFile={self._folder}/log4j2.properties"]
        class_path = f"{jars.class_path('flink')}:{jars.compiled('flink')}"
        return java.command(main, class_path, *arguments, heap_mb=heap_mb, options=options)

    def _environment(self) -> dict[str, str]:
        return {"FLINK_CONF_DIR": str(self._folder), "FLINK_PLUGINS_DIR": str(self._folder / "plugins")}

    def _configure(self) -> None:
        plugin = self._folder / "plugins" / "metrics-prometheus"
        plugin.mkdir(parents=True)
        for jar in (*jars.folder("flink-prometheus").glob("*.jar"), jars.compiled("flink-reporter")):
            (plugin / jar.name).symlink_to(jar)
        for name in ("tmp", "web", "checkpoints"):
            (self._folder / name).mkdir()
        java.logging(self._folder, "INFO", quiet=_QUIET)
        lines = [f'"{key}": "{value}"\n' for key, value in self._cluster().items()]
        (self._folder / "config.yaml").write_text("".join(lines), encoding="utf-8")

    def _cluster(self) -> Mapping[str, str | int | Path]:
        adaptive = "jobmanager.adaptive-scheduler"
        return {
            "jobmanager.rpc.address": LOOPBACK,
            "jobmanager.rpc.port": self._rpc,
            "jobmanager.bind-host": LOOPBACK,
            "blob.server.port": self._blob,
            "taskmanager.bind-host": LOOPBACK,
            "taskmanager.host": LOOPBACK,
            "taskmanager.numberOfTaskSlots": 1,
            "taskmanager.cpu.cores": 1,
            "taskmanager.memory.task.heap.size": f"{_TASK_HEAP_MB}m",
            "taskmanager.memory.task.off-heap.size": "0b",
            "taskmanager.memory.framework.heap.size": f"{_FRAMEWORK_MB}m",
            "taskmanager.memory.framework.off-heap.size": f"{_FRAMEWORK_MB}m",
            "taskmanager.memory.network.min": f"{_NETWORK_MB}m",
            "taskmanager.memory.network.max": f"{_NETWORK_MB}m",
            "taskmanager.memory.managed.size": f"{_MANAGED_MB}m",
            "taskmanager.memory.jvm-metaspace.size": f"{_METASPACE_MB}m",
            "taskmanager.memory.jvm-overhead.min": f"{_OVERHEAD_MB}m",
            "taskmanager.memory.jvm-overhead.max": f"{_OVERHEAD_MB}m",
            "taskmanager.network.memory.buffer-debloat.enabled": "true",
            "rest.address": LOOPBACK,
            "rest.bind-address": LOOPBACK,
            "rest.port": self._rest,
            "web.refresh-interval": 200,
            "web.tmpdir": self._folder / "web",
            "io.tmp.dirs": self._folder / "tmp",
            "pipeline.max-parallelism": 128,
            "jobmanager.scheduler": "adaptive",
            f"{adaptive}.submission.resource-wait-timeout": "5 min",
            f"{adaptive}.submission.resource-stabilization-timeout": "1 s",
            f"{adaptive}.executing.cooldown-after-rescaling": "1 s",
            f"{adaptive}.executing.resource-stabilization-timeout": "1 s",
            f"{adaptive}.rescale-trigger.max-delay": f"{2 * self.deployment.checkpoint_s:g} s",
            "execution.checkpointing.dir": f"file://{self._folder}/checkpoints",
            "state.backend.type": "hashmap",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": 1_000_000,
            "restart-strategy.fixed-delay.delay": "500 ms",
            "slot.idle.timeout": 2_000,  # a worker that the job has left is given back, and stopped, that soon
            "heartbeat.interval": 2_000,
            "heartbeat.timeout": 15_000,
        }


def _resource(index: int) -> str:
    return f"worker-{index}"


def _settings(values: Mapping[str, str]) -> list[str]:
    return [word for key, value in values.items() for word in ("-D", f"{key}={value}")]
