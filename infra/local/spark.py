"""Spark: a standalone master, workers of one executor each, and the driver of one streaming query.

The knob is the number of workers: the query takes an executor on each one that there is, and goes on without those that
leave. An executor is its worker's child and in the same control group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from infra.local import jars, java
from infra.local.engine import Engine, Worker
from infra.local.household import Household, Part
from infra.local.options import Options
from infra.local.ports import LOOPBACK, free
from infra.local.progress import figures
from infra.local.roster import executors
from jobs import runtime
from jobs.runtime import Deployment

_EXECUTOR_MB = 768
_DAEMON_MB = 192
_OVERHEAD_MB = 512
_JAVA = ("-XX:+UseSerialGC", "-XX:-UsePerfData")


class Spark(Engine):
    """One query on a cluster of its own."""

    name = "spark"
    memory_mb = _EXECUTOR_MB + _OVERHEAD_MB + _DAEMON_MB

    def __init__(self, household: Household, deployment: Deployment, options: Options) -> None:
        super().__init__(household, deployment, options)
        self._folder = household.room("spark")
        self._port, self._web, self._ui, self._metrics = free(4)
        self._client = httpx.Client(base_url=f"http://{LOOPBACK}:{self._ui}", timeout=5.0, trust_env=False)
        self._master: Part | None = None
        self._driver: Part | None = None
        self._application = ""
        self._batches = False
        java.logging(self._folder)
        for name in ("local", "work"):
            (self._folder / name).mkdir()

    def vital(self) -> list[Part]:
        return [part for part in (self._master, self._driver) if part is not None]

    @property
    def serving(self) -> bool:
        return self._batches and any(worker.member.ready for worker in self.workers)

    @property
    def settled(self) -> bool:
        return self._batches and len(self.workers) == self.wanted and all(w.member.ready for w in self.workers)

    def boot(self, workers: int) -> None:
        arguments = ("--host", LOOPBACK, "--port", str(self._port), "--webui-port", str(self._web))
        self._master = self.household.start(
            "master", self._daemon("org.apache.spark.deploy.master.Master", *arguments), env=self._environment()
        )
        super().boot(workers)

    def launch(self) -> None:
        conf = {
            "spark.master": f"spark://{LOOPBACK}:{self._port}",
            "spark.jars": ",".join(str(jar) for jar in (*jars.folder("spark").glob("*.jar"), jars.compiled("spark"))),
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": " ".join((*_JAVA, "-XX:TieredStopAtLevel=1")),
            "spark.executor.memory": f"{_EXECUTOR_MB}m",
            "spark.executor.cores": "1",
            "spark.executor.extraJavaOptions": " ".join(_JAVA),
            "spark.executor.heartbeatInterval": "2s",
            "spark.locality.wait": "0s",
            "spark.ui.port": str(self._ui),
            "spark.ui.retainedJobs": "200",
            "spark.ui.retainedStages": "200",
            "spark.task.maxFailures": "100",  # workers come and go; only the query's own faults shall end it
            "spark.stage.maxConsecutiveAttempts": "100",
        }
        command = runtime.spark_command(
            self.deployment, checkpoint=self._folder / "checkpoint", conf=conf, metrics_port=self._metrics
        )
        self._driver = self.household.start("driver", command, env=self._environment())
        self.roster.driver_port = self._metrics

    def start_worker(self, index: int) -> Worker:
        (web,) = free(1)
        arguments = ("--host", LOOPBACK, "--cores", "1", "--memory", f"{_EXECUTOR_MB + _OVERHEAD_MB}m")
        folder = self._folder / "work" / str(index)
        command = self._daemon(
            "org.apache.spark.deploy.worker.Worker",
            *(*arguments, "--webui-port", str(web), "--work-dir", str(folder), f"spark://{LOOPBACK}:{self._port}"),
        )
        return self.make_worker(f"worker-{index}", command, metrics_port=None, env=self._environment())

    def look(self) -> None:
        active = {str(entry["id"]) for entry in self._executors() if entry.get("isActive")}
        for worker in self.workers:
            self.mark(worker, bool(executors(worker.member) & active))
        if not self._batches and self._driver is not None:
            self._batches = "tidebed_job_batch_seconds" in figures(f"http://{LOOPBACK}:{self._metrics}/metrics")

    def _executors(self) -> list[Mapping[str, Any]]:
        """As the driver knows them; none while it does not answer."""
        try:
            if not self._application:
                self._application = str(self._client.get("/api/v1/applications").json()[0]["id"])
            found: list[Mapping[str, Any]] = self._client.get(
                f"/api/v1/applications/{self._application}/executors"
            ).json()
        except (httpx.HTTPError, ValueError, LookupError):
            return []
        return found

    def _daemon(self, main: str, *arguments: str) -> list[str]:
        options = ["-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile={self._folder}/log4j2.properties"]
        return java.command(main, f"{jars.spark_home()}/jars/*", *arguments, heap_mb=_DAEMON_MB, options=options)

    def _environment(self) -> dict[str, str]:
        return {
            "SPARK_HOME": str(jars.spark_home()),
            "SPARK_SCALA_VERSION": "2.13",  # else workers look for it in build directories
            "SPARK_CONF_DIR": str(self._folder),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(self._folder / "local"),
        }
