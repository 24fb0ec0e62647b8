"""The label of a run: all that it starts or makes bears it, and it says whether the run still lives.

Processes carry it in their environment, which their children inherit; control groups and folders are named by it.
It holds the process that does the run, with start time and boot, so a label is enough to tell what was left behind.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from infra.processes import PROC, end, identify

VARIABLE = "TIDEBED_LOCAL_RUN"
_PATTERN = re.compile(r"(?P<run>[A-Za-z0-9_-]+)\.(?P<pid>\d+)\.(?P<started>\d+)\.(?P<boot>[0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class Label:
    """One run of one process.

    >>> Label.read("3f2a.4711.99.0123abcd").pid
    4711
    """

    run: str
    pid: int
    started: int
    boot: str

    @classmethod
    def own(cls, run_id: str) -> Label:
        """The label of a run that this process does."""
        me = identify(os.getpid())
        assert me is not None, "this process runs"
        return cls(re.sub(r"[^A-Za-z0-9_-]", "-", run_id)[:40], me.pid, me.started, me.boot[:8])

    @classmethod
    def read(cls, text: str) -> Label | None:
        match = _PATTERN.fullmatch(text)
        return None if match is None else cls(match["run"], int(match["pid"]), int(match["started"]), match["boot"])

    def __str__(self) -> str:
        return f"{self.run}.{self.pid}.{self.started}.{self.boot}"

    @property
    def alive(self) -> bool:
        """Whether the process that does the run is there."""
        owner = identify(self.pid)
        return owner is not None and owner.started == self.started and owner.boot[:8] == self.boot

    def processes(self) -> list[int]:
        """The running processes that bear it."""
        return [pid for pid, label in labelled() if label == self]

    def kill(self) -> int:
        """End all that bears it, at once; how many there were."""
        found = self.processes()
        for pid in found:  # one that is stopped does not hear SIGTERM
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        end(self.processes, grace_s=0.0)
        return len(found)


def labelled() -> Iterator[tuple[int, Label]]:
    """Every process of a local run, with its label. What belongs to other users cannot be seen, and is not ours."""
    sign = f"{VARIABLE}=".encode()
    for entry in PROC.iterdir():
        if not entry.name.isdigit() or identify(int(entry.name)) is None:
            continue
        for setting in _environment(entry):
            if setting.startswith(sign):
                label = Label.read(setting.removeprefix(sign).decode(errors="replace"))
                if label is not None:
                    yield int(entry.name), label
                break


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
