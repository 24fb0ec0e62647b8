"""The stack without Airflow: what it finds, what it leaves alone, and how it tells that a start failed."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import pytest

from infra.airflow import AirflowError, Stack
from infra.airflow.record import Record
from infra.processes import Identity, identify, wait_until


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    (tmp_path / "state").mkdir()
    return Stack(tmp_path, tmp_path / "state", port=_unused())


@pytest.fixture
def bystander(tmp_path: Path) -> Iterator[Identity]:
    """A process with a session of its own, which works in the same directory."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], cwd=tmp_path, start_new_session=True
    )
    identity = identify(process.pid)
    assert identity is not None
    yield identity
    process.kill()
    process.wait()


def _unused() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def record(stack: Stack, leader: Identity) -> None:
    stack.layout.record.write_text(json.dumps(asdict(Record(leader, 8080, attached=False))))


def test_nothing_runs_at_first(stack: Stack) -> None:
    assert stack.running() is None
    assert stack.down() == []
    assert stack.sweep() == []


def test_a_recorded_supervisor_is_found(stack: Stack, bystander: Identity) -> None:
    record(stack, bystander)
    endpoint = stack.running()
    assert endpoint is not None
    assert (endpoint.pid, endpoint.url, endpoint.detached) == (bystander.pid, "http://127.0.0.1:8080", True)
    assert stack.sweep() == []
    assert bystander.alive


def test_a_recycled_number_is_neither_running_nor_ended(stack: Stack, bystander: Identity) -> None:
    record(stack, replace(bystander, started=bystander.started - 1))
    assert stack.running() is None
    assert stack.sweep() == []
    assert stack.down() == []
    assert bystander.alive
    assert not stack.layout.record.exists()


def test_what_a_killed_supervisor_left_is_swept_once(stack: Stack, tmp_path: Path) -> None:
    leader = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], stdout=2)\n"
            "print(child.pid, flush=True); time.sleep(600)",
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert leader.stdout is not None
    orphan = identify(int(leader.stdout.readline()))
    identity = identify(leader.pid)
    assert orphan is not None
    assert identity is not None
    record(stack, identity)
    leader.send_signal(signal.SIGKILL)
    leader.communicate()
    assert orphan.alive
    assert len(stack.sweep()) == 1
    assert not orphan.alive
    assert stack.sweep() == []


def test_a_spoilt_record_is_named(stack: Stack) -> None:
    stack.layout.record.write_text("{")
    with pytest.raises(AirflowError, match=r"supervisor\.json cannot be read"):
        stack.running()


@pytest.fixture
def prepared(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """A stack that takes its database for made and starts stand-ins for Airflow's processes."""
    stack.layout.database.touch()
    stack.layout.version.write_text(version("apache-airflow-core"))
    (stack.layout.root / "airflow").mkdir()
    (stack.layout.root / "airflow" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    return stack


def stand_in(stack: Stack, program: str) -> None:
    (stack.layout.root / "airflow" / "__main__.py").write_text(program)


def test_a_child_that_dies_while_starting_is_told_with_its_last_words(prepared: Stack) -> None:
    stand_in(
        prepared,
        "import sys, time\n"
        "if 'api-server' in sys.argv:\n"
        "    sys.exit('the moon is in the wrong phase')\n"
        "time.sleep(600)\n",
    )
    said: list[str] = []
    with pytest.raises(AirflowError) as fault:
        prepared.up(detach=True, on_message=said.append)
    assert "api-server ended with code 1 while starting" in str(fault.value)
    assert "the moon is in the wrong phase" in str(fault.value)
    assert str(prepared.layout.log("api-server")) in str(fault.value)
    assert prepared.running() is None
    assert not prepared.layout.record.exists()


def test_an_airflow_that_never_gets_healthy_is_told_with_its_log(
    prepared: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(prepared, "import time; time.sleep(600)")
    monkeypatch.setattr("infra.airflow.stack.HEALTHY_WITHIN_S", 1.0)
    with pytest.raises(AirflowError, match=r"not healthy after 1 s: nothing heard of api-server") as fault:
        prepared.up(detach=False, on_message=lambda _: None)
    assert str(prepared.layout.log("api-server")) in str(fault.value)
    assert prepared.running() is None


def test_a_taken_port_is_said(prepared: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(prepared, "raise SystemExit('no')")
    said: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", prepared.first_port))
        taken.listen()
        with pytest.raises(AirflowError):
            prepared.up(detach=False, on_message=said.append)
    assert any(line.startswith(f"port {prepared.first_port} is taken, using ") for line in said)


def test_an_attached_supervisor_ends_with_the_process_that_started_it(prepared: Stack) -> None:
    """Kill -9 of the command line: its end of the pipe closes, and everything goes."""
    stand_in(prepared, "import time; time.sleep(600)")
    layout = prepared.layout
    layout.logs.mkdir()
    supervisor = subprocess.Popen(
        [sys.executable, "-m", "infra.airflow.supervisor", str(layout.root), str(layout.state), "1", "--attached"],
        cwd=layout.root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(layout.root), os.environ["PYTHONPATH"]])},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert wait_until(lambda: layout.log("dag-processor").exists(), 30)
    assert prepared.running() is not None
    assert supervisor.stdin is not None
    supervisor.stdin.close()
    assert supervisor.wait(30) == 0
    assert prepared.running() is None
    assert not layout.record.exists()
