"""The load generator: follows a curve second by second, each event stamped with the moment at which it was sent.

`python -m infra.local.load FILE` reads its orders from a file, makes all ready, and then takes commands from standard
input, a line each: `play NAME START` follows one of its curves, which begins at START in seconds since the epoch, until
it ends or the next command comes; `rest` does nothing. When standard input closes, it ends.

Each process writes partitions of its own, so that event time never goes back within a partition. `<orders>.NAME.log`
gets a line a second: second, events due, events sent, events not yet delivered. Its last line has the totals.
"""

from __future__ import annotations

import json
import math
import select
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np
from confluent_kafka import KafkaError, Message, Producer

from autoscalers.model import Floats
from jobs import runtime

TICK_S = 0.01
"""Events due are sent so often, half a tick away from whole seconds, so that a late one stays in its second."""
_CHUNK = 5_000
_FLUSH_S = 60.0


@dataclass(frozen=True, slots=True)
class Orders:
    """What one process of the generator has to do."""

    job: str
    broker: str
    topic: str
    partitions: int
    """Of the topic."""
    own: tuple[int, ...]
    """The partitions that this process writes."""
    seed: int
    curves: Mapping[str, tuple[float, ...]]
    """Events/s of this process by name, a value a second."""
    extra: tuple[tuple[float, int], ...] = ()
    """Events that come at once: at which second of the curve `load`, and how many."""
    event_bytes: int = 1024
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the job."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Orders:
        values = json.loads(path.read_text(encoding="utf-8"))
        curves = {name: tuple(curve) for name, curve in values.pop("curves").items()}
        extra = tuple((float(second), int(count)) for second, count in values.pop("extra"))
        return cls(**{**values, "own": tuple(values["own"]), "curves": curves, "extra": extra})


class Schedule:
    """How many events are due at any moment: the curve's integral, rounded down, and what comes at once."""

    def __init__(self, curve: Sequence[float], extra: Sequence[tuple[float, int]] = ()) -> None:
        self.seconds = len(curve)
        self._sums: Floats = np.concatenate([[0.0], np.cumsum(np.asarray(curve, dtype=np.float64))])
        self._extra = sorted(extra)

    def due(self, second: float) -> int:
        """Events that should have been sent by then.

        >>> [Schedule([100, 200]).due(t) for t in (0.0, 0.5, 1.0, 1.5, 9.0)]
        [0, 50, 100, 200, 300]
        """
        steady = np.interp(min(second, self.seconds), np.arange(self.seconds + 1), self._sums)
        return int(steady + 1e-6) + sum(count for at, count in self._extra if at <= second)

    @property
    def total(self) -> int:
        return self.due(float("inf"))


class Generator:
    """One process of the generator."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self._program = runtime.program(orders.job)
        for source in self.sources().values():
            source.batch(1, 0)  # some make much at their first event, and keep it
        self._failed = 0
        self.producer = Producer(
            {
                "bootstrap.servers": orders.broker,
                "enable.idempotence": True,  # the total stays exact, also when a broker stops and comes back
                "delivery.report.only.error": True,
                "linger.ms": 10,
                "batch.size": max(262_144, orders.event_bytes),
                "message.max.bytes": max(1_000_000, orders.event_bytes + 100_000),
                "compression.type": "lz4",
                "queue.buffering.max.messages": 2_000_000,
                "queue.buffering.max.kbytes": 1_000_000,
                "message.timeout.ms": 300_000,
                "log_level": 0,
            }
        )

    def play(self, name: str, start: float, log: TextIO, interrupted: Callable[[], bool]) -> None:
        """Follow a curve to its end, then wait until the broker has all."""
        extra = self.orders.extra if name == "load" else ()
        performance = _Performance(self, Schedule(self.orders.curves[name], extra), start, log)
        performance.run(interrupted)
        self.producer.flush(_FLUSH_S)
        delivered = performance.sent - self._failed - len(self.producer)
        log.write(json.dumps({"sent": performance.sent, "delivered": delivered}) + "\n")

    def sources(self) -> dict[int, runtime.Source]:
        orders = self.orders
        return {
            partition: self._program.source(orders.seed, partition, orders.partitions, orders.options)
            for partition in orders.own
        }

    def told(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failed += 1


class _Performance:
    """A curve being followed."""

    def __init__(self, generator: Generator, schedule: Schedule, start: float, log: TextIO) -> None:
        self.sent = 0
        self._schedule = schedule
        self._start = start
        self._log = log
        self._producer = generator.producer
        self._told = generator.told
        self._topic = generator.orders.topic
        self._own = generator.orders.own
        self._sources = generator.sources()
        self._second = self._sent_before = self._turn = 0

    def run(self, interrupted: Callable[[], bool]) -> None:
        while not interrupted():
            now = time.time() - self._start
            if now < 0:
                time.sleep(min(TICK_S, -now))
                continue
            self._close_seconds(now)
            if self._second >= self._schedule.seconds and self.sent >= self._schedule.total:
                return
            self._send_due(now)
            self._producer.poll(0)
            ticks = math.floor((time.time() - self._start) / TICK_S - 0.5) + 1
            time.sleep(max(0.0, self._start + (ticks + 0.5) * TICK_S - time.time()))

    def _send_due(self, now: float) -> None:
        count = self._schedule.due(now) - self.sent
        while count > 0:
            chunk = min(count, _CHUNK)
            self._send(chunk)
            self.sent += chunk
            count -= chunk
            if int(time.time() - self._start) > self._second:
                return  # it cannot keep up: what was sent in this second is told as it was

    def _send(self, count: int) -> None:
        """To all own partitions in turn, in equal parts."""
        own = self._own
        each, rest = divmod(count, len(own))
        produce, topic = self._producer.produce, self._topic
        for offset in range(len(own)):
            size = each + (offset < rest)
            if not size:
                break
            partition = own[(self._turn + offset) % len(own)]
            time_ms = int(time.time() * 1000)
            for value in self._sources[partition].batch(size, time_ms):
                while True:
                    try:
                        produce(topic, value, None, partition, self._told, timestamp=time_ms)
                        break
                    except BufferError:
                        self._producer.poll(0.01)
        self._turn = (self._turn + rest) % len(own)

    def _close_seconds(self, now: float) -> None:
        while self._second + 1 <= now and self._second < self._schedule.seconds:
            due = self._schedule.due(self._second + 1) - self._schedule.due(self._second)
            line = [self._second, due, self.sent - self._sent_before, len(self._producer)]
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()
            self._sent_before = self.sent
            self._second += 1


def main(path: Path) -> None:
    generator = Generator(Orders.read(path))
    path.with_suffix(".ready").touch()
    with open(0, "rb", buffering=0) as commands:
        while line := commands.readline():
            word, *rest = line.decode().split()
            if word == "play":
                name, start = rest
                with path.with_suffix(f".{name}.log").open("w", encoding="utf-8") as log:
                    generator.play(name, float(start), log, lambda: bool(select.select([commands], [], [], 0)[0]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
