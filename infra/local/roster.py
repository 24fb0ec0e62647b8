"""The workers of a run as the exporter is told: a file, replaced whole at each change."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from infra.local import cgroups
from infra.processes import sessions


@dataclass(slots=True)
class Member:
    """One worker. Its index is never given to another one in the same run."""

    index: int
    started: float
    """Seconds since the epoch."""
    cores: float
    memory_bytes: int
    """What it may use, by its engine's settings."""
    ready: bool = False
    ready_since: float = float("nan")
    metrics_port: int | None = None
    folders: dict[str, Path] = field(default_factory=dict)
    """Of its control group, by controller."""
    pid: int = 0


@dataclass(slots=True)
class Roster:
    """All workers that run now, and how their engine tells its progress."""

    engine: str = ""
    since: float = float("inf")
    """When the measurement began, in seconds since the epoch: results of earlier events are none of its."""
    driver_port: int | None = None
    """Where a Spark driver tells what its executors did."""
    restarts: int = 0
    """How often the job stood still and began again."""
    members: list[Member] = field(default_factory=list)

    def write(self, path: Path) -> None:
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")
        draft.replace(path)

    @classmethod
    def read(cls, path: Path) -> Roster:
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
        members = [
            Member(**{**entry, "folders": {name: Path(folder) for name, folder in entry["folders"].items()}})
            for entry in values["members"]
        ]
        return cls(**{**values, "members": members})


def processes(member: Member) -> list[int]:
    """A worker's process and all that it started: its control group; without one, its session, which none leaves."""
    return cgroups.pids(member.folders) or [pid for pid, session in sessions() if session == member.pid]


def executors(member: Member) -> set[str]:
    """The ids of the Spark executors that a worker has started."""
    found = set()
    for pid in processes(member):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"--executor-id" in words:
                found.add(words[words.index(b"--executor-id") + 1].decode())
    return found
