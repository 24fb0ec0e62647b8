"""One worker of a pool that filters images: `python -m jobs.images.worker --help`.

Workers share the input's partitions as a consumer group. What a worker answers, what it remembers and how far it has
come are one transaction a batch, by a producer that belongs to the partition: its next owner ends what the last one
left open, and begins where that one's last transaction ended. The state moves through a topic of its own.
"""

from __future__ import annotations

import json
import signal
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag
from typing import TYPE_CHECKING

from jobs import arguments
from jobs.exposition import Figures, served
from jobs.images.events import Event, decode
from jobs.images.filters import count, decompressed, sampled
from jobs.images.region import Region
from jobs.runtime import Deployment

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

BATCH = 8
"""Events a transaction, at most."""
_POLL_S = 0.1
_PAUSE_S = 1.0
_STUCK_S = 60
"""A transaction that takes longer ends the process: when a broker comes back, librdkafka may wait for ever."""
_SESSION_MS = 6_000
"""A worker that was not heard of for so long has left; the broker's smallest."""
_MESSAGE_BYTES = 4_000_000
"""Larger than any image."""


class Worker:
    """Takes part in the group until it is told to stop."""

    def __init__(self, deployment: Deployment, name: str) -> None:
        self._deployment = deployment
        self._name = name
        self._regions: dict[int, Region] = {}
        self._assigned = False
        self._fault: KafkaException | None = None
        """From what the consumer calls back: raised there it would not arrive as what it is."""
        self._events = 0
        self._restore_s = 0.0

    def figures(self) -> Figures:
        return {
            "tidebed_worker_events_total": self._events,
            "tidebed_worker_ready": int(self._assigned),
            "tidebed_worker_partitions": len(self._regions),
            "tidebed_worker_restore_seconds": self._restore_s,
        }

    def run(self, stop: Flag) -> None:
        """Whatever the broker finds wrong, such as a worker that was away for too long: leave, and join again."""
        from confluent_kafka import KafkaException

        while not stop.is_set():
            try:
                self._take_part(stop)
            except KafkaException as fault:
                print(f"{self._name}: {fault}; joining again", flush=True)
                stop.wait(_PAUSE_S)

    def _take_part(self, stop: Flag) -> None:
        consumer = self._consumer()
        consumer.subscribe(
            [self._deployment.input], on_assign=self._take_over, on_revoke=self._give_up, on_lost=self._give_up
        )
        try:
            while not stop.is_set():
                batches: dict[int, list[Message]] = defaultdict(list)
                for message in consumer.consume(BATCH, _POLL_S):
                    if message.error() is None:
                        batches[message.partition() or 0].append(message)
                if self._fault is not None:
                    raise self._fault
                for partition, messages in batches.items():
                    signal.alarm(_STUCK_S)
                    self._process(consumer, partition, messages)
                    signal.alarm(0)
        finally:
            self._regions.clear()
            self._assigned = False
            self._fault = None
            consumer.close()

    def _consumer(self) -> Consumer:
        from confluent_kafka import Consumer

        return Consumer(
            {
                "bootstrap.servers": self._deployment.broker,
                "group.id": self._deployment.group,
                "client.id": self._name,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": _SESSION_MS,
                "heartbeat.interval.ms": 1_000,
                "fetch.message.max.bytes": _MESSAGE_BYTES,
                "queued.max.messages.kbytes": 8_192,
                "fetch.wait.max.ms": 50,
                "reconnect.backoff.max.ms": 500,
            }
        )

    def _take_over(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Bring the state of new partitions here; they are not read before it is complete."""
        from confluent_kafka import KafkaException

        started = time.monotonic()
        try:
            with ThreadPoolExecutor(max_workers=16) as pool:  # most of it is waiting for the broker
                taken = pool.map(lambda place: Region(self._deployment, place.partition), partitions)
                self._regions |= {place.partition: region for place, region in zip(partitions, taken, strict=True)}
            # what the last owner left open has ended by now: this is where its last transaction did
            consumer.incremental_assign(consumer.committed(partitions, timeout=30))
        except KafkaException as fault:
            self._fault = fault
            return
        self._assigned = True
        if partitions:
            self._restore_s = time.monotonic() - started

    def _give_up(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for place in partitions:
            self._regions.pop(place.partition, None)
        consumer.incremental_unassign(partitions)

    def _process(self, consumer: Consumer, partition: int, messages: list[Message]) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        region = self._regions.get(partition)
        if region is None:
            return  # given up since it was fetched
        first, last = (
            TopicPartition(self._deployment.input, partition, messages[end].offset() or 0) for end in (0, -1)
        )
        last.offset += 1
        try:
            with region.transaction(consumer) as answers:
                for message in messages:
                    event = decode(message.value() or b"", message.timestamp()[1])
                    answers.put(event.id, json.dumps(self._answer(region, event)))
                    _burn(self._deployment.work_ns)
                answers.read_up_to(last)
        except KafkaException as fault:
            if not fault.args[0].txn_requires_abort():
                raise
            consumer.seek(first)  # the group is changing and the broker does not know whose it is: once more
            return
        self._events += len(messages)

    def _answer(self, region: Region, event: Event) -> dict[str, object]:
        head = {"id": event.id, "event_time": event.time_ms}
        if not event.image:
            return head | {"intensities": region.window.intensities(event.row, event.column)}
        image = decompressed(event.image)
        region.remember(sampled(image))
        return head | {"cells": count(image)._asdict()}


_STEPS_PER_NS = 0.08
"""Of an empty loop: 36 cycles, 12 ns at 3 GHz."""


def _burn(ns: int) -> None:
    """So many nanoseconds' worth of nothing."""
    for _ in range(int(ns * _STEPS_PER_NS)):
        pass


def main(argv: list[str] | None = None) -> None:
    import cv2

    cv2.setNumThreads(1)
    parser = arguments.parser("images", "Filters images and answers queries about their pixels.")
    parser.add_argument("--name", required=True, help="of this worker")
    given = parser.parse_args(argv)
    worker = Worker(arguments.deployment("images", given), given.name)
    stop = Flag()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with served(given.metrics_port, worker.figures):
        worker.run(stop)


if __name__ == "__main__":
    main()
