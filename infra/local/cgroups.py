"""CPU quotas by control group, version 1 and 2.

A worker joins its group just after its start, before it has children, so that all it starts later is in the group
too. Where groups may not be made, everything runs on without quotas, and the run says so.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
FAMILY = "tidebed"
PERIOD_US = 100_000
_V1 = ("cpu", "cpuacct", "memory")


@dataclass(slots=True)
class Group:
    """One worker's control group, or, without permission, none: then its figures are None."""

    label: str
    name: str
    root: Path = ROOT
    cores: float | None = None
    """The quota; None for none."""
    folders: dict[str, Path] = field(default_factory=dict)
    """By controller; empty where groups may not be made."""

    @classmethod
    def make(cls, label: str, name: str, root: Path = ROOT) -> Group:
        group = cls(label, name, root)
        with suppress(OSError):
            group.folders = group._made()
        return group

    @property
    def enforced(self) -> bool:
        return bool(self.folders)

    def limit(self, cores: float | None) -> None:
        """Change the quota, also of processes that run."""
        self.cores = cores
        if not self.folders:
            return
        quota = None if cores is None else max(1_000, round(cores * PERIOD_US))
        cpu = self.folders["cpu"]
        if unified(self.root):
            (cpu / "cpu.max").write_text(f"{quota or 'max'} {PERIOD_US}")
        else:
            (cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (cpu / "cpu.cfs_quota_us").write_text(str(quota or -1))

    def add(self, pid: int) -> None:
        for folder in set(self.folders.values()):
            with suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """The kernel keeps a group until its last process is gone, so ask until it goes."""
        for folder in set(self.folders.values()):
            _remove(folder)
        self.folders = {}

    def _made(self) -> dict[str, Path]:
        if unified(self.root):
            for parent in (self.root, self.root / FAMILY, self.root / FAMILY / self.label):
                parent.mkdir(exist_ok=True)
                (parent / "cgroup.subtree_control").write_text("+cpu +memory")
            folder = self.root / FAMILY / self.label / self.name
            folder.mkdir(exist_ok=True)
            return dict.fromkeys(_V1, folder)
        folders = {controller: self.root / controller / FAMILY / self.label / self.name for controller in _V1}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        return folders


def unified(root: Path = ROOT) -> bool:
    """Whether this is version 2."""
    return (root / "cgroup.controllers").exists()


def cpu_seconds(folders: dict[str, Path]) -> float:
    """CPU time of all that ever was in the group; NaN without one."""
    with suppress(OSError, KeyError, ValueError):
        if "cpuacct" in folders and (folders["cpuacct"] / "cpuacct.usage").exists():
            return int((folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        stat = dict(line.split() for line in (folders["cpu"] / "cpu.stat").read_text().splitlines())
        return int(stat["usage_usec"]) / 1e6
    return float("nan")


def pids(folders: dict[str, Path]) -> list[int]:
    with suppress(OSError, KeyError):
        return [int(pid) for pid in (folders["cpu"] / "cgroup.procs").read_text().split()]
    return []


def labels(root: Path = ROOT) -> set[str]:
    """The labels of all runs that have groups."""
    return {folder.name for family in _families(root) for folder in family.iterdir() if folder.is_dir()}


def remove_run(label: str, root: Path = ROOT) -> int:
    """Remove a run's groups, the innermost first; how many there were."""
    removed = 0
    for family in _families(root):
        top = family / label
        if not top.is_dir():
            continue
        for folder in (*(child for child in top.iterdir() if child.is_dir()), top):
            removed += _remove(folder)
    return removed


def permission(root: Path = ROOT) -> str | None:
    """Why no quotas can be set; None if they can."""
    probe = Group.make(f"probe-{os.getpid()}", "probe", root)
    try:
        if not probe.enforced:
            return f"control groups below {root} cannot be made by this user"
        probe.limit(0.5)
    except OSError as fault:
        return f"CPU quotas cannot be set below {root}: {fault.strerror}"
    else:
        return None
    finally:
        remove_run(probe.label, root)


def _families(root: Path) -> list[Path]:
    tops = [root / FAMILY] if unified(root) else [root / controller / FAMILY for controller in _V1]
    # what is mounted twice (cpu and cpuacct often are) is one place
    return list({family.resolve(): family for family in tops if family.is_dir()}.values())


def _remove(folder: Path, patience_s: float = 5.0) -> bool:
    limit = time.monotonic() + patience_s
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return False
        except OSError:
            if time.monotonic() >= limit:
                return False
            time.sleep(0.05)
        else:
            return True
