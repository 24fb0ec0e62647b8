"""How a job runs for real: what its events are, which topics it wants, and what each engine is given to run.

A job that can run for real has a module `jobs/<name>/events.py` with its `PROGRAM`, beside it the engines' files:
`flink.sql` for the runner in `jobs/flink/`, `spark.py`, or `worker.py` for a pool of plain processes.

The contract between a job and the place that runs it:

- Input. One topic with `Program.partitions` partitions (or any other number: nothing but the images' regions depends on
  it). The events of partition `p` come from `Program.source(seed, p, partitions)`, in the order it gives them, and only
  one process writes a partition: within a partition event time never goes back. No event can then be late on Flink,
  which keeps a watermark for each partition. A record's timestamp is its event time; librdkafka's default, the time of
  `produce`, is right for events that are sent when they are made. No partition should stay without events while others
  have some: a window closes when every partition has reached its end.
- Output. One topic with `Program.output_partitions` partitions, created with `OUTPUT_TOPIC`, so that records bear the
  broker's time. Every record is a JSON object whose `event_time` is the time in ms of the youngest event that it
  accounts for: the record's timestamp less `event_time` is the end-to-end latency. Every record has a key, and a later
  one with the same key replaces an earlier one. After a failure some may be there again, with the same values or older
  ones: the state is exactly-once, the topic is at-least-once.
- Lag. Every engine commits what it has processed to the consumer group `Deployment.group`.
- Work. Each event costs `Deployment.work_ns` on top of what the job does anyway: so many nanoseconds of a core at
  3 GHz, as a fixed number of steps, so that all workers of all runs do the same.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import jobs

Machinery = Literal["flink", "spark", "workers"]

ROOT = Path(__file__).parent

#: Settings of an output topic: latency is told by the broker's clock.
OUTPUT_TOPIC = {"message.timestamp.type": "LogAppendTime"}

#: Settings of a state topic: a key's last record is all that counts.
STATE_TOPIC = {"cleanup.policy": "compact"}

_STEPS = ROOT / "java" / "Steps.java"
#: Java sources by the jar that they are compiled into.
#: "flink", against Flink's lib/: submitted to a cluster, main class FLINK_RUNNER, arguments `--script FILE`.
#: "flink-reporter", against Flink's lib/ and its plugin metrics-prometheus: goes into that plugin's directory.
#: "spark", against Spark's jars: handed to executors together with the Kafka connector (spark.jars).
JAVA_SOURCES: Mapping[str, tuple[Path, ...]] = {
    "flink": (_STEPS, *(ROOT / "flink" / f"{name}.java" for name in ("SqlRunner", "Work", "Lookup"))),
    "flink-reporter": (ROOT / "flink" / "LoopbackReporterFactory.java",),
    "spark": (_STEPS, ROOT / "spark" / "Work.java"),
}
FLINK_RUNNER = "tidebed.flink.SqlRunner"
#: metrics.reporter.<name>.factory.class; it takes the setting `port` and listens on 127.0.0.1 only.
FLINK_REPORTER = "org.apache.flink.metrics.prometheus.LoopbackReporterFactory"
#: To be written into that jar with FLINK_REPORTER as its only line.
FLINK_REPORTER_SERVICE = "META-INF/services/org.apache.flink.metrics.reporter.MetricReporterFactory"


class Source(ABC):
    """Makes the events of one partition. The same seed gives the same events, however they are cut into batches."""

    def __init__(
        self, seed: int, partition: int, partitions: int, options: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.seed, self.partition, self.partitions, self.options = seed, partition, partitions, options
        self.random = np.random.default_rng((seed, partition))

    @abstractmethod
    def batch(self, count: int, time_ms: int | NDArray[np.int64]) -> list[bytes]:
        """The next `count` events, with one event time for all or one each; times never go back."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a place must know about a job to run it for real."""

    name: str
    engines: tuple[Machinery, ...]
    """On which kinds of machinery it runs; the first is the default."""
    source: type[Source]
    """Made from seed, partition, number of partitions and, where they matter to it, the deployment's options."""
    event_bytes: int
    """Size of an event; the largest where they differ."""
    partitions: int = 8
    output_partitions: int = 2
    state_topic: bool = False
    """Whether it keeps its state in one more topic, `Deployment.state`, with as many partitions as the input and the
    settings `STATE_TOPIC`."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What may be set in `Deployment.options`, with the defaults."""
    tables: Callable[[Deployment], Mapping[str, str]] | None = None
    """What `flink.sql` names beside the fields and options of the deployment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One job wired to one broker. All settings that an engine's file may name."""

    job: str
    broker: str
    """host:port"""
    input: str
    output: str
    group: str
    """The consumer group that progress is committed to."""
    state: str = ""
    work_ns: int = 0
    checkpoint_s: float = 10.0
    """Flink: between two checkpoints. Spark: between two batches."""
    options: Mapping[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """The jobs that can run for real."""
    return [name for name in jobs.names() if importlib.util.find_spec(f"jobs.{name}.events")]


def program(name: str) -> Program:
    found = importlib.import_module(f"jobs.{name}.events").PROGRAM
    assert isinstance(found, Program)
    return found


def flink_script(deployment: Deployment) -> str:
    """The text of a SQL script for the runner: `java -cp ... FLINK_RUNNER --script FILE`."""
    run = program(deployment.job)
    parts = (ROOT / "flink" / "prelude.sql", ROOT / deployment.job / "flink.sql")
    template = Template("".join(part.read_text(encoding="utf-8") for part in parts))
    named = {"job": deployment.job, **_fields(deployment), **run.options, **deployment.options}
    named["checkpoint_ms"] = str(round(deployment.checkpoint_s * 1000))
    return template.substitute({**named, **(run.tables(deployment) if run.tables else {})})


def spark_command(deployment: Deployment, *, checkpoint: Path, conf: Mapping[str, str], metrics_port: int) -> list[str]:
    """The driver: a Python process that runs until SIGTERM. `conf` is Spark's, with spark.master and spark.jars.

    On 127.0.0.1 it serves `tidebed_executor_events_total{executor="0"}`, counted up after each batch, and
    `tidebed_job_batch_seconds`, how long the last batch took.
    """
    settings = [f"--conf={key}={value}" for key, value in conf.items()]
    return [*_command(deployment, "spark"), f"--checkpoint={checkpoint}", f"--metrics-port={metrics_port}", *settings]


def worker_command(deployment: Deployment, *, name: str, metrics_port: int) -> list[str]:
    """One process of a pool; it leaves its group on SIGTERM.

    On 127.0.0.1 it serves `tidebed_worker_events_total`, `tidebed_worker_ready` (1 once it has partitions and their
    state), `tidebed_worker_partitions` and `tidebed_worker_restore_seconds`, how long the last transfer of state took.
    """
    return [*_command(deployment, "worker"), f"--name={name}", f"--metrics-port={metrics_port}"]


def _fields(deployment: Deployment) -> dict[str, str]:
    names = ("broker", "input", "output", "state", "group", "work_ns", "checkpoint_s")
    return {name: str(getattr(deployment, name)) for name in names}


def _command(deployment: Deployment, module: str) -> list[str]:
    options = {**program(deployment.job).options, **deployment.options}
    return [
        sys.executable,
        "-m",
        f"jobs.{deployment.job}.{module}",
        *(f"--{name.replace('_', '-')}={value}" for name, value in _fields(deployment).items()),
        *(f"--option={name}={value}" for name, value in options.items()),
    ]
