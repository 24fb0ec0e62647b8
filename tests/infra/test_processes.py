"""Which processes are ours: never a stranger that got a recycled number."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from infra import processes
from infra.processes import Identity, identify, members

#: A session leader with a child that has left its process group, as Airflow's tasks do.
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], process_group=0, stdout=2)
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def family(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Identity, int]]:
    leader = subprocess.Popen(
        [sys.executable, "-c", FAMILY], cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert leader.stdout is not None
    child = int(leader.stdout.readline())
    identity = identify(leader.pid)
    assert identity is not None
    yield leader, identity, child
    for pid in (leader.pid, child):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    leader.communicate()


def test_a_process_is_itself() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert me.alive


def test_a_recycled_number_is_somebody_else() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert not replace(me, started=me.started - 1).alive
    assert not replace(me, boot="an earlier boot").alive


def test_a_zombie_does_not_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert identify(child.pid) is None
    child.wait()


def test_members_are_the_whole_session(family: tuple[subprocess.Popen[str], Identity, int], tmp_path: Path) -> None:
    _, identity, child = family
    assert set(members(identity, tmp_path)) == {identity.pid, child}
    assert os.getpid() not in members(identity, tmp_path)


def test_a_session_whose_leader_was_killed_is_found_again(
    family: tuple[subprocess.Popen[str], Identity, int], tmp_path: Path
) -> None:
    leader, identity, child = family
    leader.kill()
    leader.wait()
    assert members(identity, tmp_path) == [child]
    assert members(identity, tmp_path / "elsewhere") == []


def test_nothing_is_ours_where_the_leader_is_somebody_else(
    family: tuple[subprocess.Popen[str], Identity, int], tmp_path: Path
) -> None:
    _, identity, _ = family
    assert members(replace(identity, started=identity.started - 1), tmp_path) == []
    assert members(replace(identity, boot="an earlier boot"), tmp_path) == []


def test_ending_takes_the_stubborn_too(tmp_path: Path) -> None:
    stubborn = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)",
        ],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    identity = identify(stubborn.pid)
    assert identity is not None
    processes.end(lambda: members(identity, tmp_path), grace_s=0.2)
    stubborn.communicate()
    assert stubborn.returncode == -signal.SIGKILL


def test_waiting_ends_with_the_patience() -> None:
    answers = iter([False, True])
    assert processes.wait_until(lambda: next(answers), patience_s=5)
    assert not processes.wait_until(lambda: False, patience_s=0.05)
