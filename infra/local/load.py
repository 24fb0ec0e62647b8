"""The load generator: follows a curve second by second, each event stamped with the moment at which it was sent.

`python -m infra.local.load FILE` reads its orders from a file, and from standard input a line with the moment at which
the curve begins, in seconds since the epoch; when standard input closes, it stops. Each process writes partitions of
its own, so that event time never goes back within a partition. Beside the orders it keeps a log, a line a second:
second, events due, events sent, events not yet delivered. The last line has the totals.
"""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from confluent_kafka import KafkaError, Message, Producer

from autoscalers.model import Floats
from jobs import runtime

TICK_S = 0.02
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
    curve: tuple[float, ...]
    """Events/s of this process, a value a second."""
    extra: tuple[tuple[float, int], ...] = ()
    """Events that come at once: at which second, and how many."""
    event_bytes: int = 1024

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Orders:
        values = json.loads(path.read_text(encoding="utf-8"))
        extra = tuple((float(second), int(count)) for second, count in values.pop("extra"))
        return cls(**{**values, "own": tuple(values["own"]), "curve": tuple(values["curve"]), "extra": extra})


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
    """One process of the generator at work."""

    def __init__(self, orders: Orders, log: TextIO) -> None:
        program = runtime.program(orders.job)
        self._orders = orders
        self._start = 0.0
        self._log = log
        self._schedule = Schedule(orders.curve, orders.extra)
        self._sources = {
            partition: program.source(orders.seed, partition, orders.partitions) for partition in orders.own
        }
        self._sent = self._delivered = self._failed = 0
        self._second = self._sent_before = 0
        self._turn = 0
        self._producer = Producer(
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

    def run(self, start: float, stopped: Callable[[], bool]) -> None:
        """Follow the curve to its end, then wait until the broker has all."""
        self._start = start
        while not stopped():
            now = time.time() - self._start
            if now < 0:
                time.sleep(min(TICK_S, -now))
                continue
            self._close_seconds(now)
            if self._second >= self._schedule.seconds and self._sent >= self._schedule.total:
                break
            self._send_due(now)
            self._producer.poll(0)
            tick = int((time.time() - self._start) / TICK_S) + 1
            time.sleep(max(0.0, self._start + tick * TICK_S - time.time()))
        self._producer.flush(_FLUSH_S)
        self._log.write(
            json.dumps({"sent": self._sent, "delivered": self._sent - self._failed - len(self._producer)}) + "\n"
        )
        self._log.flush()

    def _send_due(self, now: float) -> None:
        count = self._schedule.due(now) - self._sent
        while count > 0:
            chunk = min(count, _CHUNK)
            self._send(chunk)
            self._sent += chunk
            count -= chunk
            if int(time.time() - self._start) > self._second:
                return  # it cannot keep up: what was sent in this second is told as it was

    def _send(self, count: int) -> None:
        """To all own partitions in turn, in equal parts."""
        own = self._orders.own
        time_ms = int(time.time() * 1000)
        each, rest = divmod(count, len(own))
        produce, topic = self._producer.produce, self._orders.topic
        for offset in range(len(own)):
            size = each + (offset < rest)
            if not size:
                break
            partition = own[(self._turn + offset) % len(own)]
            for value in self._sources[partition].batch(size, time_ms):
                while True:
                    try:
                        produce(topic, value, None, partition, self._told, timestamp=time_ms)
                        break
                    except BufferError:
                        self._producer.poll(0.01)
        self._turn = (self._turn + rest) % len(own)

    def _told(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failed += 1

    def _close_seconds(self, now: float) -> None:
        while self._second + 1 <= now and self._second < self._schedule.seconds:
            due = self._schedule.due(self._second + 1) - self._schedule.due(self._second)
            line = [self._second, due, self._sent - self._sent_before, len(self._producer)]
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()
            self._sent_before = self._sent
            self._second += 1


def main(path: Path) -> None:
    orders = Orders.read(path)
    with path.with_suffix(".log").open("w", encoding="utf-8") as log:
        generator = Generator(orders, log)
        start = sys.stdin.readline()
        if start:
            generator.run(float(start), lambda: bool(select.select([sys.stdin], [], [], 0)[0]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
