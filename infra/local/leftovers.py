"""What crashed runs left behind, found by label: processes, control groups, folders."""

from __future__ import annotations

import shutil

from infra.local import cgroups, paths
from infra.local.labels import Label, labelled


def sweep() -> list[str]:
    """Remove all that belongs to runs whose process is gone; a line for each run."""
    return [line for label in sorted(_found(), key=str) if not label.alive and (line := remove(label))]


def remove(label: Label) -> str:
    """Remove what bears this label, and say what it was; empty if nothing was there."""
    killed = label.kill()
    groups = cgroups.remove_run(str(label))
    folder = paths.state() / "runs" / str(label)
    there = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    parts = [
        *([f"{killed} processes"] if killed else []),
        *([f"{groups} control groups"] if groups else []),
        *([f"the folder {folder}"] if there else []),
    ]
    return f"local run {label.run}: removed {', '.join(parts)}" if parts else ""


def _found() -> set[Label]:
    runs = paths.state() / "runs"
    folders = (entry.name for entry in runs.iterdir()) if runs.is_dir() else ()
    named = {label for name in (*folders, *cgroups.labels()) if (label := Label.read(name)) is not None}
    return named | {label for _, label in labelled()}
