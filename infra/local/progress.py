"""How far a job has come: by the broker, and by the engine itself where that tells more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.local.ports import LOOPBACK
from infra.local.roster import Member, Roster, executors

_OPENER = build_opener(ProxyHandler({}))
_WORKER_S = 0.3
_BROKER_S = 0.5
"""Whoever does not answer by then is left out: together they stay below the second that a scrape may take."""
_SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)", re.M)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_OFFSET = "_KafkaSourceReader_topic_partition_currentOffset"
_EXECUTOR_EVENTS = "tidebed_executor_events_total"
#: As the job's workers and Flink's reporter call the events that a worker has taken in.
_EVENTS = ("tidebed_worker_events_total", "flink_taskmanager_job_task_operator_numRecordsIn")


@dataclass(slots=True)
class Progress:
    """What an engine tells of itself."""

    positions: dict[int, int] = field(default_factory=dict)
    """The next offset by partition; empty where only the broker knows."""
    events: dict[int, float] = field(default_factory=dict)
    """Events taken in by worker index."""


def read(url: str) -> str:
    """What is served there; nothing if nobody answers."""
    try:
        with _OPENER.open(url, timeout=_WORKER_S) as answer:
            text: bytes = answer.read()
    except (URLError, OSError):
        return ""
    return text.decode(errors="replace")


def samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Name, labels and value of each line of Prometheus' text format."""
    for match in _SAMPLE.finditer(text):
        yield match["name"], dict(_LABEL.findall(match["labels"] or "")), float(match["value"])


def figures(url: str) -> dict[str, float]:
    """The figures without labels that are served there."""
    return {name: value for name, labels, value in samples(read(url)) if not labels}


def progress(roster: Roster) -> Progress:
    """Ask all that serves figures."""
    told = Progress()
    serving = [member for member in roster.members if member.metrics_port is not None]
    with ThreadPoolExecutor(max(1, len(serving))) as pool:  # one that is paused must not keep the others waiting
        urls = [f"http://{LOOPBACK}:{member.metrics_port}/metrics" for member in serving]
        for member, text in zip(serving, pool.map(read, urls), strict=True):
            _note(member, text, told)
    if roster.driver_port is not None:
        _note_executors(roster, read(f"http://{LOOPBACK}:{roster.driver_port}/metrics"), told)
    return told


def _note(member: Member, text: str, told: Progress) -> None:
    for name, labels, value in samples(text):
        if name.endswith(_OFFSET):
            partition = int(labels["partition"])
            if value >= 0:  # nothing was read yet
                # while a partition changes hands two workers may tell of it: the one that is ahead has it
                told.positions[partition] = max(told.positions.get(partition, 0), int(value) + 1)
        elif name in _EVENTS and labels.get("operator_name", "Source").startswith("Source"):
            told.events[member.index] = told.events.get(member.index, 0.0) + value


def _note_executors(roster: Roster, text: str, told: Progress) -> None:
    done = {labels["executor"]: value for name, labels, value in samples(text) if name == _EXECUTOR_EVENTS}
    for member in roster.members:
        own = executors(member)
        if own:
            told.events[member.index] = sum(done.get(executor, 0.0) for executor in own)


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
                part.partition: self._consumer.get_watermark_offsets(part, timeout=_BROKER_S)[1]
                for part in self._partitions
            }
        except KafkaException:
            return {}

    def committed(self) -> dict[int, int]:
        try:
            found: Sequence[TopicPartition] = self._consumer.committed(self._partitions, timeout=_BROKER_S)
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
