"""One Kafka broker on loopback, broker and controller in one process (KRaft)."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Mapping

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from infra.local import jars, java
from infra.local.errors import LocalError
from infra.local.household import Household, Part
from infra.local.ports import LOOPBACK, answers

HEAP_MB = 512
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers={host}:{controller}
log.dirs={folder}/data
num.network.threads=2
num.io.threads=2
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
log.segment.bytes=67108864
log.retention.check.interval.ms=10000
log.cleaner.dedupe.buffer.size=8388608
"""


class Broker:
    """A broker with a fresh disk."""

    def __init__(self, household: Household, port: int, controller_port: int, *, message_bytes: int = 1 << 20) -> None:
        self._household = household
        self._folder = household.room("kafka")
        self._port = port
        properties = _PROPERTIES.format(host=LOOPBACK, port=port, controller=controller_port, folder=self._folder)
        self._settings = self._folder / "server.properties"
        self._settings.write_text(f"{properties}message.max.bytes={message_bytes}\n", encoding="utf-8")
        self._logging = java.logging(self._folder)
        self.address = f"{LOOPBACK}:{port}"
        self.part: Part | None = None

    def start(self) -> Part:
        """Start it and wait for nothing; with an empty disk, format that first."""
        if not (self._folder / "data" / "meta.properties").exists():
            self._format()
        self.part = self._household.start("kafka", self._command("kafka.Kafka", str(self._settings), heap_mb=HEAP_MB))
        return self.part

    def await_ready(self) -> None:
        assert self.part is not None, "started"
        self._household.await_("waiting for the Kafka broker", self.answers, self.part)

    def answers(self) -> bool:
        """Whether a request for metadata is answered."""
        if not answers(self._port):
            return False
        try:
            return bool(self.admin().list_topics(timeout=2).brokers)
        except Exception as fault:  # noqa: BLE001 - KafkaException tells no kinds apart
            del fault
            return False

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def create(self, topics: Mapping[str, tuple[int, Mapping[str, str]]]) -> None:
        """Make topics: partitions and settings by name."""
        new = [NewTopic(name, partitions, 1, config=dict(settings)) for name, (partitions, settings) in topics.items()]
        admin = self.admin()  # its answers end with it
        for future in admin.create_topics(new, operation_timeout=30).values():
            future.result(timeout=30)

    def _format(self) -> None:
        identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # one word: an identity may begin with a dash
        arguments = ("format", "--standalone", f"--cluster-id={identity}", "-c", str(self._settings))
        command = self._command("kafka.tools.StorageTool", *arguments, heap_mb=128)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 0:
            raise LocalError(f"the broker's disk could not be formatted: {(done.stdout + done.stderr).strip()[-500:]}")

    def _command(self, main: str, *arguments: str, heap_mb: int) -> list[str]:
        options = (f"-Dlog4j2.configurationFile={self._logging}", "-XX:TieredStopAtLevel=1")
        return java.command(
            main,
            jars.class_path("kafka"),
            *arguments,
            heap_mb=heap_mb,
            options=options if heap_mb < HEAP_MB else options[:1],
        )


def partitions(topic: str, count: int) -> list[TopicPartition]:
    return [TopicPartition(topic, index) for index in range(count)]
