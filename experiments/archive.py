"""The archive: a folder a run, finished when its manifest is there, and the results beside them.

The manifest is written last and never before all tables are complete, so a reader needs no
lock, and a crash leaves only runs that are plainly unfinished. This also holds on object
stores, where nothing renames atomically.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.errors import UserError
from experiments.schema import RUN_TABLES, SCHEMA_VERSION

ROOT = Path(__file__).parents[1]


def default_root() -> Path:
    """Where archives go unless told otherwise: $TIDEBED_ARCHIVE, or ./archive."""
    return Path(os.environ.get("TIDEBED_ARCHIVE", "archive"))


@dataclass(frozen=True)
class RunFolder:
    """One run's files."""

    path: Path

    @property
    def finished(self) -> bool:
        return (self.path / "manifest.json").is_file()

    @property
    def failure(self) -> str | None:
        """The last line of what went wrong, if the latest attempt failed."""
        try:
            return str(json.loads((self.path / "failed.json").read_text())["error"])
        except (OSError, ValueError, KeyError):
            return None

    @property
    def log(self) -> Path:
        return self.path / "logs" / "run.log"

    def begin(self, record: Mapping[str, Any]) -> None:
        """Make room for a new attempt: what an earlier one left is unfinished, hence worthless."""
        (self.path / "manifest.json").unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)
        self.log.parent.mkdir(parents=True)
        _write_json(self.path / "run.json", record)

    def finish(self, seed: int, durations: Mapping[str, float]) -> None:
        """Seal the run."""
        files = {name: self.path / f"{name}.parquet" for name in RUN_TABLES} | {"run": self.path / "run.json"}
        _write_json(
            self.path / "manifest.json",
            {
                "schema_version": SCHEMA_VERSION,
                "sha256": {file.name: _checksum(file) for file in files.values()},
                "seed": seed,
                "durations_s": durations,
                "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
                **surroundings(),
            },
        )

    def fail(self, error: str, trace: str) -> None:
        """Record why there is no manifest."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        (self.path / "logs" / "traceback.txt").write_text(trace, encoding="utf-8")
        _write_json(self.path / "failed.json", {"error": error, "at": datetime.now(UTC).isoformat(timespec="seconds")})


@dataclass(frozen=True)
class Archive:
    """One suite's part of the archive."""

    root: Path
    suite: str

    @property
    def results(self) -> Path:
        return self.root / self.suite / "results"

    def make_room(self) -> None:
        """Make the folder for runs; one that cannot be is told once, not once a run."""
        try:
            (self.root / self.suite / "runs").mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UserError(f"archive {self.root}: cannot be written to: {fault.strerror}") from None

    def run(self, run_id: str) -> RunFolder:
        return RunFolder(self.root / self.suite / "runs" / run_id)


@cache
def surroundings() -> dict[str, Any]:
    """What a reader needs to know to run it again: versions, commit, host."""
    packages = ["tidebed", "numpy", "numba", "pyarrow", "pandas", "pyspark", "apache-airflow"]
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in packages}},
        "git_commit": _git_commit(),
        "host": {
            "name": platform.node(),
            "system": platform.platform(terse=True),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "not installed"


def _git_commit() -> str:
    """The commit of the code that runs, marked where the tree differs from it."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return "unknown"
    command = [git, "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    return answer.stdout.strip() or "unknown"


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all: a reader never meets half a file."""
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")
    draft.replace(path)
