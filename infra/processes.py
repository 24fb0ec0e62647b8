"""Which processes are ours, and how they are ended.

A process is known by its number, its start time and the boot it belongs to, so that a number which
the kernel has given to somebody else is never mistaken for ours. All that Airflow starts stays in
the session of its supervisor: tasks make process groups of their own, but no new sessions.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, told apart from any later one with the same number."""

    pid: int
    started: int
    """Clock ticks since the boot."""
    boot: str

    @property
    def alive(self) -> bool:
        return identify(self.pid) == self


@dataclass(frozen=True, slots=True)
class _Status:
    state: str
    session: int
    started: int


def identify(pid: int) -> Identity | None:
    """The process that has this number now, if one runs; a zombie does not run."""
    status = _status(pid)
    return None if status is None else Identity(pid, status.started, _boot())


def members(leader: Identity, home: Path) -> list[int]:
    """The running processes of the leader's session, the leader included.

    The kernel gives a number to nobody else while a session of that number has members. So a leader
    with another start time means that our session is gone. Where the leader itself is gone, a second
    sign is asked for: its processes work in the directory `home`.
    """
    if leader.boot != _boot():
        return []
    present = identify(leader.pid)
    if present is not None and present != leader:
        return []
    return [
        pid
        for pid, status in _all()
        if status.session == leader.pid
        and status.started >= leader.started
        and (present is not None or _directory(pid) == home)
    ]


def sessions() -> Iterator[tuple[int, int]]:
    """Every running process with its session."""
    return ((pid, status.session) for pid, status in _all())


def end(remaining: Callable[[], list[int]], *, grace_s: float) -> None:
    """Ask the processes to end, wait for it, then make the rest end."""
    for order, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
        for pid in remaining():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, order)
        if wait_until(lambda: not remaining(), patience_s):
            return


def wait_until(condition: Callable[[], bool], patience_s: float, poll_s: float = POLL_S) -> bool:
    """Whether the condition came true in time."""
    limit = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() >= limit:
            return False
        time.sleep(poll_s)
    return True


def _all() -> Iterator[tuple[int, _Status]]:
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (status := _status(int(entry.name))) is not None:
            yield int(entry.name), status


def _status(pid: int) -> _Status | None:
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the command in brackets, which may hold spaces and brackets itself.
    fields = text.rpartition(")")[2].split()
    status = _Status(state=fields[0], session=int(fields[3]), started=int(fields[19]))
    return None if status.state in {"Z", "X"} else status


def _directory(pid: int) -> Path | None:
    try:
        return (PROC / str(pid) / "cwd").readlink()
    except OSError:
        return None


def _boot() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()
