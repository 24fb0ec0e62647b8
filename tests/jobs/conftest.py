"""A stage for jobs on real engines: one broker, one engine, events by hand in a time of their own."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from infra.local.engine import Engine
from infra.local.flink import Flink
from infra.local.household import Household
from infra.local.kafka import Broker
from infra.local.options import Options
from infra.local.pool import Pool
from infra.local.ports import free
from infra.local.spark import Spark
from infra.processes import wait_until
from jobs import runtime
from jobs.runtime import Deployment

PARTITIONS = 4
SEED = 7
PATIENCE_S = 180.0
QUICK = "-XX:TieredStopAtLevel=1"
"""Processes that live for a minute are not worth much compiling."""
OPTIONS = Options(cores=2.0, boot_cores=2.0, warm_s=0.0)


class Stage:
    """Events go in second by second of event time, as fast as they can be made; results come out."""

    def __init__(
        self, household: Household, broker: Broker, job: str, options: Mapping[str, str], work_ns: int
    ) -> None:
        program = runtime.program(job)
        name = household.label.run
        self.deployment = Deployment(
            job=job,
            broker=broker.address,
            input=f"{name}-events",
            output=f"{name}-results",
            state=f"{name}-state",
            group=name,
            work_ns=work_ns,
            checkpoint_s=1.0,
            options=options,
        )
        self._household = household
        self._sources = [program.source(SEED, index, PARTITIONS, options) for index in range(PARTITIONS)]
        self._producer = Producer(
            {"bootstrap.servers": broker.address, "enable.idempotence": True, "linger.ms": 20, "log_level": 0}
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.address,
                "group.id": "audience",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        broker.create(
            {
                self.deployment.input: (PARTITIONS, {}),
                self.deployment.output: (2, runtime.OUTPUT_TOPIC),
                self.deployment.state: (PARTITIONS, runtime.STATE_TOPIC),
            }
        )
        self._consumer.assign([TopicPartition(self.deployment.output, index, 0) for index in range(2)])
        self.now_ms = int(time.time() // 10 - 60) * 10_000
        self.sent: list[list[tuple[bytes, int]]] = [[] for _ in range(PARTITIONS)]
        self.results: list[bytes] = []
        self.engine: Engine | None = None

    def start(self, engine: Engine, workers: int) -> None:
        self.engine = engine
        engine.boot(workers)
        engine.launch()
        self.await_engine()
        engine.settle()

    def feed(self, seconds: int, rate: int) -> None:
        """So many seconds of event time with so many events in each."""
        for _ in range(seconds):
            moments = np.sort(self.now_ms + np.arange(rate // PARTITIONS) * 1000 // (rate // PARTITIONS))
            for index in range(PARTITIONS):
                self._send(index, moments)
            self.now_ms += 1000
        assert self._producer.flush(60) == 0

    def close_windows(self) -> None:
        """An event in each partition, long after all others."""
        for index in range(PARTITIONS):
            self._send(index, np.array([self.now_ms + 30_000]))
        assert self._producer.flush(60) == 0

    def _send(self, index: int, moments: Any) -> None:
        for value, moment in zip(self._sources[index].batch(len(moments), moments), moments.tolist(), strict=True):
            self._producer.produce(self.deployment.input, value, None, index, timestamp=moment)
            self.sent[index].append((value, moment))
            self._producer.poll(0)

    def rescale(self, workers: int) -> None:
        assert self.engine is not None
        self.engine.rescale(workers)

    def kill_worker(self) -> None:
        """As a crash: kill -9."""
        assert self.engine is not None
        self.engine.present[0].part.kill()

    def await_engine(self) -> None:
        assert self.engine is not None
        engine = self.engine

        def settled() -> bool:
            engine.tick()
            return engine.settled

        self._household.await_(f"{engine.name} with {engine.wanted} workers", settled, patience_s=PATIENCE_S)

    def await_results(self, collected: Callable[[Iterable[bytes]], dict[Any, Any]], expected: dict[Any, Any]) -> None:
        """Until what has come out is what must come out, or patience ends; then they must be the same."""
        assert self.engine is not None
        engine = self.engine
        found: dict[Any, Any] = {}

        def complete() -> bool:
            engine.tick()
            found.update(collected(self._read()))
            return all(found.get(key) == value for key, value in expected.items())

        wait_until(complete, PATIENCE_S, poll_s=0.5)
        wrong = [(key, found.get(key), value) for key, value in expected.items() if found.get(key) != value]
        assert not wrong, f"{len(wrong)} of {len(expected)} are wrong or missing, such as {wrong[:3]}"

    def _read(self) -> list[bytes]:
        """Results that are new."""
        new: list[bytes] = []
        while messages := self._consumer.consume(2000, timeout=0.2):
            new += [message.value() or b"" for message in messages if message.error() is None]
        self.results += new
        return new


@pytest.fixture
def household(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Household]:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", QUICK)
    with Household(request.node.name) as opened:
        yield opened


@pytest.fixture(scope="module")
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Household(request.module.__name__.rpartition(".")[2]) as household, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", QUICK)
        broker = Broker(household, *free(2))
        broker.start()
        broker.await_ready()
        yield broker


@pytest.fixture
def play(household: Household, broker: Broker) -> Callable[..., Stage]:
    """A job on a kind of machinery, with its first workers at work."""

    def begin(job: str, machinery: str, *, workers: int = 1, work_ns: int = 0, **options: str) -> Stage:
        stage = Stage(household, broker, job, options, work_ns)
        engines: dict[str, Callable[[], Engine]] = {
            "flink": lambda: Flink(household, stage.deployment, OPTIONS, reactive=False),
            "spark": lambda: Spark(household, stage.deployment, OPTIONS),
            "workers": lambda: Pool(household, stage.deployment, OPTIONS),
        }
        stage.start(engines[machinery](), workers)
        return stage

    return begin
