"""One set of names for all engines: `python -m infra.local.exporter FILE` serves the run's figures as `tidebed_*`.

Whatever cannot be measured at a moment is left out of the answer, so that Prometheus sees a gap and no invented value.
"""

from __future__ import annotations

import json
import math
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.local import cgroups
from infra.local.ports import LOOPBACK
from infra.local.progress import Meter, Topic, progress
from infra.local.roster import Member, Roster, processes

QUANTILES = (0.5, 0.95, 0.99)
_EVENT_TIME = re.compile(rb'"event_time"\s*:\s*(\d+)')
_MOST_RESULTS = 5_000
_PAGE = 4096


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be watched."""

    port: int
    broker: str
    topic: str
    partitions: int
    output: str
    output_partitions: int
    group: str
    roster: str

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


class Results:
    """End-to-end latencies: when the broker got a result, less the time of the youngest event in it."""

    def __init__(self, subject: Subject) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": subject.broker,
                "group.id": "tidebed-exporter",
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
                "fetch.wait.max.ms": 50,
                "log_level": 0,
            }
        )
        self._partitions = [TopicPartition(subject.output, index) for index in range(subject.output_partitions)]
        for partition in self._partitions:
            partition.offset = self._consumer.get_watermark_offsets(partition, timeout=30)[1]
        self._consumer.assign(self._partitions)

    def latencies(self, since: float) -> list[float]:
        """Of the results since the last call, of events since then; where there are too many, of some."""
        found: list[float] = []
        messages = self._consumer.consume(_MOST_RESULTS, timeout=0.1)
        for message in messages:
            value = message.value() if message.error() is None else None
            made = _EVENT_TIME.search(value) if value else None
            if made is not None and int(made[1]) >= since * 1000:
                found.append((message.timestamp()[1] - int(made[1])) / 1000)
        if len(messages) == _MOST_RESULTS:
            self._skip()
        return found

    def _skip(self) -> None:
        for partition in self._partitions:
            try:
                partition.offset = self._consumer.get_watermark_offsets(partition, timeout=0.5)[1]
                self._consumer.seek(partition)
            except KafkaException:
                continue


class Exporter:
    """Collects at each request."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._roster = Path(subject.roster)
        self._input = Topic(subject.broker, subject.topic, subject.partitions, subject.group)
        self._results = Results(subject)
        self._meter = Meter()
        self._lock = threading.Lock()

    def collect(self) -> str:
        with self._lock:
            lines = [f"{name} {value:.12g}" for name, value in self._figures() if math.isfinite(value)]
        return "\n".join(lines) + "\n"

    def _figures(self) -> Iterator[tuple[str, float]]:
        roster = Roster.read(self._roster)
        told = progress(roster)
        for member in roster.members:
            yield from _worker(member, told.events.get(member.index, math.nan))
        yield "tidebed_job_restarts_total", float(roster.restarts)
        ends = self._input.ends()
        committed = self._input.committed() if ends else {}
        if ends:
            yield "tidebed_job_offered_events_total", float(sum(ends.values()))
        if ends and committed:
            yield 'tidebed_job_lag_events{source="broker"}', float(_lag(ends, committed))
        positions = told.positions if len(told.positions) == self._subject.partitions else {}
        if ends and positions:
            yield 'tidebed_job_lag_events{source="engine"}', float(_lag(ends, positions))
        self._meter.note(told.positions if roster.engine == "flink" else committed)
        yield "tidebed_job_processed_events_total", float(self._meter.total)
        latencies = self._results.latencies(roster.since)
        if latencies:
            yield "tidebed_job_latency_seconds_mean", float(np.mean(latencies))
            for quantile, value in zip(QUANTILES, np.quantile(latencies, QUANTILES), strict=True):
                yield f'tidebed_job_latency_seconds{{quantile="{quantile:g}"}}', float(value)
        yield "tidebed_job_results", float(len(latencies))


def _lag(ends: dict[int, int], positions: dict[int, int]) -> int:
    return sum(max(0, end - positions.get(partition, 0)) for partition, end in ends.items())


def _worker(member: Member, events: float) -> Iterator[tuple[str, float]]:
    label = f'{{worker="{member.index}"}}'
    yield f"tidebed_worker_ready{label}", float(member.ready)
    yield f"tidebed_worker_started_seconds{label}", member.started
    yield f"tidebed_worker_ready_since_seconds{label}", member.ready_since
    yield f"tidebed_worker_cpu_quota_cores{label}", member.cores
    yield f"tidebed_worker_cpu_seconds_total{label}", _cpu(member)
    yield f"tidebed_worker_memory_share{label}", _memory(member) / member.memory_bytes
    yield f"tidebed_worker_events_total{label}", events


def _cpu(member: Member) -> float:
    """By its control group; without one, by the process alone."""
    seconds = cgroups.cpu_seconds(member.folders)
    if math.isfinite(seconds):
        return seconds
    try:
        fields = Path(f"/proc/{member.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100
    except OSError:
        return math.nan


def _memory(member: Member) -> float:
    total = 0
    for pid in processes(member):
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
        except OSError:
            continue
    return float(total) if total else math.nan


def main(path: Path) -> None:
    subject = Subject(**json.loads(path.read_text(encoding="utf-8")))
    exporter = Exporter(subject)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = exporter.collect().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer((LOOPBACK, subject.port), Handler).serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
