"""The benchmark jobs: one package each, found by name.

A package outside adds one through the entry-point group `tidebed.jobs`, naming a `Job`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from jobs.model import Job

__all__ = ["Job", "get", "names"]


@cache
def _known() -> dict[str, Job]:
    found: list[Job] = [
        importlib.import_module(f"jobs.{module.name}").JOB for module in pkgutil.iter_modules(__path__) if module.ispkg
    ]
    found += [entry.load() for entry in entry_points(group="tidebed.jobs")]
    return {job.name: job for job in sorted(found, key=lambda job: job.name)}


def names() -> list[str]:
    return list(_known())


def get(name: str) -> Job:
    return _known()[name]
