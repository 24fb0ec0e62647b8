"""One real Airflow from its first start to kill -9: campaigns run, fail visibly, and nothing stays behind."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra import processes
from infra.airflow import Client, Endpoint, Stack, follow
from infra.airflow.record import Record

ROOT = Path(__file__).parents[2]

#: An autoscaler from outside, known by its entry point, that does not work.
POLICY = """
from dataclasses import dataclass
from autoscalers.model import Autoscaler
from autoscalers.registry import register

@dataclass(frozen=True)
class BrokenParams:
    pass

@register("broken", BrokenParams)
class Broken(Autoscaler):
    def decide(self, observation):
        raise RuntimeError("out of order")
"""

SUITE = """
name: half-broken
duration: 10m
repetitions: 1
jobs: [yahoo]
workloads: [{name: steady, shape: constant, peak: 10k}]
autoscalers: [static: {workers: 2}, static: {workers: 3}, broken]
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plugin"
    described = folder / "broken-1.dist-info"
    described.mkdir(parents=True)
    (folder / "broken_policy.py").write_text(POLICY)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[tidebed.autoscalers]\nbroken = broken_policy\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.fixture
def stack(tmp_path: Path, plugin: None) -> Iterator[Stack]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    made = Stack(ROOT, tmp_path / "state", port=port, scheduled=["nightly"])
    yield made
    made.down()


def listening(pids: list[int]) -> set[str]:
    """The addresses on which these processes listen, as the kernel writes them."""
    inodes = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(descriptor.readlink())
            except FileNotFoundError:
                continue
            if found := re.fullmatch(r"socket:\[(\d+)\]", target):
                inodes.add(found[1])
    rows = [
        line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes}


def family(stack: Stack) -> list[int]:
    record = Record.read(stack.layout.record)
    assert record is not None
    return processes.members(record.leader, stack.layout.root)


def started(stack: Stack) -> Endpoint:
    said: list[str] = []
    first = stack.up(detach=True, on_message=said.append)
    assert f"starting Airflow at {first.url}" in said
    assert any(line.startswith("nightly: next at ") for line in said)
    again: list[str] = []
    assert stack.up(detach=True, on_message=again.append) == first
    assert again == [f"Airflow already runs at {first.url}"]
    with stack.at_hand(again.append) as endpoint:
        assert endpoint == first
    assert stack.running() == first, "what somebody else started is left running"
    return first


def a_campaign_that_works(client: Client, archive: Path) -> None:
    conf = {
        "suite": "quickstart",
        "repetitions": 1,
        "only": ["workload=day", "autoscaler=hpa"],
        "archive": str(archive),
    }
    run_id = client.trigger("benchmark", conf)
    running: set[str] = set()
    ended = follow(client, "benchmark", run_id, lambda now: running.update(now.running), poll_s=0.3)
    assert ended.succeeded, ended
    instances = client.task_instances("benchmark", run_id)
    names = [instance.label for instance in instances if instance.task_id == "run_experiment"]
    assert len(names) > 1
    assert all(name.startswith("yahoo · day · ") for name in names)
    assert running & set(names), "experiments are known by name while they run"
    assert (archive / "quickstart" / "results" / "report.html").is_file()
    assert client.xcom("benchmark", run_id, "report") == str(archive / "quickstart" / "results" / "report.html")


def a_campaign_with_a_failure(client: Client, archive: Path, suite: Path) -> None:
    suite.write_text(SUITE)
    run_id = client.trigger("benchmark", {"suite_file": str(suite), "archive": str(archive)})
    ended = follow(client, "benchmark", run_id, lambda now: None, poll_s=0.3)
    assert ended.state == "failed"
    reasons = {failure.label: failure.reason for failure in ended.failures}
    (broken,) = [label for label in reasons if "broken" in label]
    assert set(reasons) == {broken, "verdict"}
    for reason in reasons.values():
        assert "RuntimeError: out of order" in reason
    states = {(each.task_id, each.label): each.state for each in client.task_instances("benchmark", run_id)}
    worked = [state for (task, label), state in states.items() if task == "run_experiment" and label != broken]
    assert worked == ["success", "success"]
    for task in ("release", "aggregate", "report"):
        assert states[task, task] == "success"
    assert (archive / "half-broken" / "results" / "report.html").is_file()


def a_campaign_that_cannot_begin(client: Client) -> None:
    run_id = client.trigger("benchmark", {"suite_file": "no-such.yaml"})
    ended = follow(client, "benchmark", run_id, lambda now: None, poll_s=0.3)
    assert ended.state == "failed"
    assert ended.failures[0].label == "plan"
    assert ended.failures[0].reason == "no-such.yaml: there is no such file"


@pytest.mark.airflow
def test_a_real_airflow(stack: Stack, tmp_path: Path) -> None:
    endpoint = started(stack)
    with Client(endpoint.url) as client:
        client.wait_for_dag("benchmark")
        due = client.next_run("nightly")
        assert due is not None
        assert due > datetime.now(UTC), "a schedule starts nothing that was due before"
        a_campaign_that_works(client, tmp_path / "archive")
        # Spark's Java ends a moment after the task that started it.
        assert processes.wait_until(lambda: listening(family(stack)) == {"0100007F"}, 30), "127.0.0.1, nothing else"
        a_campaign_with_a_failure(client, tmp_path / "archive", tmp_path / "suite.yaml")
        a_campaign_that_cannot_begin(client)
        client.trigger("benchmark", {"suite": "quickstart", "archive": str(tmp_path / "archive"), "fresh": True})

        assert {dag_id for dag_id, _ in client.unfinished_runs()} == {"benchmark"}

    before = [identity for pid in family(stack) if (identity := processes.identify(pid)) is not None]
    assert len(before) > 4
    os.kill(endpoint.pid, signal.SIGKILL)
    assert processes.wait_until(lambda: stack.running() is None, 10)
    stack.sweep()
    assert not any(identity.alive for identity in before)
    assert stack.sweep() == []
    assert stack.down() == []
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", stack.first_port)) != 0
