"""A region of the tissue while a worker is responsible for it: its state, and the transactions that change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jobs.images.cells import Pixels
from jobs.images.window import LENGTH, PixelWindow, packed, unpacked
from jobs.runtime import Deployment

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition

_TIMEOUT_S = 30.0


class Region:
    """One partition. Making it takes it over: transactions that its last owner left open end, its state is read."""

    def __init__(self, deployment: Deployment, partition: int) -> None:
        from confluent_kafka import Producer

        self.window = PixelWindow()
        self._deployment = deployment
        self._partition = partition
        self._position: TopicPartition | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": deployment.broker,
                "transactional.id": f"{deployment.group}-{partition}",
                "transaction.timeout.ms": int(_TIMEOUT_S * 1000),
                "linger.ms": 5,
                "reconnect.backoff.max.ms": 500,
                "log_level": 2,  # that a transaction was fenced is raised
            }
        )
        self._producer.init_transactions(_TIMEOUT_S)
        remembered = self._remembered()
        for _, sample in remembered:
            self.window.add(unpacked(sample))
        self._slot = (remembered[-1][0] + 1) % LENGTH if remembered else 0

    @contextmanager
    def transaction(self, consumer: Consumer) -> Iterator[Region]:
        """All that is put, remembered and read counts when the context ends, or nothing."""
        before = self.window.copy(), self._slot
        self._producer.begin_transaction()
        try:
            yield self
            if self._position is not None:
                metadata = consumer.consumer_group_metadata()
                self._producer.send_offsets_to_transaction([self._position], metadata, _TIMEOUT_S)
            self._producer.commit_transaction(_TIMEOUT_S)
        except BaseException:
            self.window, self._slot = before
            self._producer.abort_transaction(_TIMEOUT_S)
            raise

    def put(self, key: str, answer: str) -> None:
        self._producer.produce(self._deployment.output, answer, key)

    def remember(self, sample: Pixels) -> None:
        """In the window, and in its topic. Keys come in turn, so the broker may forget all but the last of each."""
        self.window.add(sample)
        self._producer.produce(self._deployment.state, packed(sample), str(self._slot), self._partition)
        self._slot = (self._slot + 1) % LENGTH

    def read_up_to(self, position: TopicPartition) -> None:
        self._position = position

    def _remembered(self) -> list[tuple[int, bytes]]:
        """The last samples that were part of a finished transaction, oldest first, with their places in turn."""
        from confluent_kafka import Consumer, TopicPartition

        reader = Consumer(
            {
                "bootstrap.servers": self._deployment.broker,
                "group.id": f"{self._deployment.group}-restore",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 10,
            }
        )
        try:
            place = TopicPartition(self._deployment.state, self._partition)
            first, end = reader.get_watermark_offsets(place, timeout=_TIMEOUT_S)
            reach = 2 * LENGTH  # a transaction with one image takes two offsets; more if some were undone
            while True:
                place.offset = max(first, end - reach)
                samples = _read(reader, place)
                if len(samples) >= LENGTH or place.offset == first:
                    return samples[-LENGTH:]
                reach *= 2
        finally:
            reader.close()


def _read(reader: Consumer, place: TopicPartition) -> list[tuple[int, bytes]]:
    """All keys and values from there to the end."""
    from confluent_kafka import KafkaError, KafkaException

    reader.assign([place])
    found: list[tuple[int, bytes]] = []
    while True:
        for message in reader.consume(500, 1.0):
            error = message.error()
            if error is None:
                found.append((int(message.key() or 0), message.value() or b""))
            elif error.code() == KafkaError._PARTITION_EOF:
                return found
            else:
                raise KafkaException(error)
