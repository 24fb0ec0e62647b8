"""How far a job has come: by the broker, and by the engine itself where that tells more."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.local.ports import LOOPBACK
from infra.local.roster import Member, Roster

_OPENER = build_opener(ProxyHandler({}))
_TIMEOUT_S = 0.8
_SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)", re.M)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_OFFSET = "_KafkaSourceReader_topic_partition_currentOffset"
#: As the job's workers and Flink's reporter call the events that a worker has taken in.
_EVENTS = ("tidebed_worker_events_total", "flink_taskmanager_job_task_operator_numRecordsIn")


@dataclass(slots=True)
class Progress:
    """What an engine tells of itself."""

    positions: dict[int, int] = field(default_factory=dict)
    """The next offset by partition; empty where only the broker knows."""
    events: dict[int, float] = field(default_factory=dict)
    """Events taken in by worker index."""
    restarts: float = math.nan


def read(url: str) -> str:
    with _OPENER.open(url, timeout=_TIMEOUT_S) as answer:
        text: bytes = answer.read()
    return text.decode(errors="replace")


def progress(roster: Roster) -> Progress:
    """Ask every worker that serves figures."""
    told = Progress()
    for member in roster.members:
        if member.metrics_port is None:
            continue
        with suppress(URLError, OSError):
            _note(member, read(f"http://{LOOPBACK}:{member.metrics_port}/metrics"), told)
    return told


def _note(member: Member, text: str, told: Progress) -> None:
    for match in _SAMPLE.finditer(text):
        name, value = match["name"], float(match["value"])
        labels = dict(_LABEL.findall(match["labels"] or ""))
        if name.endswith(_OFFSET):
            partition = int(labels["partition"])
            if value >= 0:  # nothing was read yet
                # while a partition changes hands two workers may tell of it: the one that is ahead has it
                told.positions[partition] = max(told.positions.get(partition, 0), int(value) + 1)
        elif name in _EVENTS and labels.get("operator_name", "Source").startswith("Source"):
            told.events[member.index] = told.events.get(member.index, 0.0) + value


class Topic:
    """A topic's ends, and how far a group has come in it."""

    def __init__(self, broker: str, topic: str, partitions: int, group: str) -> None:
        self._partitions = [TopicPartition(topic, index) for index in range(partitions)]
        self._consumer = Consumer(
            {"bootstrap.servers": broker, "group.id": group, "enable.auto.commit": False, "log_level": 0}
        )

    def ends(self) -> dict[int, int]:
        """By partition; empty if the broker does not answer."""
        try:
            return {
                part.partition: self._consumer.get_watermark_offsets(part, timeout=_TIMEOUT_S)[1]
                for part in self._partitions
            }
        except KafkaException:
            return {}

    def committed(self) -> dict[int, int]:
        try:
            found: Sequence[TopicPartition] = self._consumer.committed(self._partitions, timeout=_TIMEOUT_S)
        except KafkaException:
            return {}
        return {part.partition: max(0, part.offset) for part in found}

    def close(self) -> None:
        self._consumer.close()


class Meter:
    """Counts events from positions: forwards only, and what is done again after a failure is counted again."""

    def __init__(self) -> None:
        self.total = 0
        self._last: dict[int, int] = {}

    def note(self, positions: Mapping[int, int]) -> None:
        """Take the latest positions in.

        >>> meter = Meter()
        >>> for position in (0, 100, 60, 90): meter.note({0: position})
        >>> meter.total
        130
        """
        for partition, position in positions.items():
            self.total += max(0, position - self._last.get(partition, position))
        self._last |= positions
