"""What a suite may set of the local place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from workloads.problems import did_you_mean

_CHOICES = {"rescaling": ("reactive", "requirements")}
_MOST_CORES = 64
_WHOLE = ("max_workers", "work_ns", "partitions", "generators")


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the place, with their defaults."""

    cores: float = 0.25
    """A worker's CPU quota."""
    boot_cores: float = 1.0
    """What it may use until it serves and is warm."""
    warm_s: float = 5.0
    """How long a worker that joins keeps its boot quota once the job runs on it."""
    warmup_s: float = 10.0
    """Load before the measurement, at the curve's first rate, with the boot quota."""
    max_workers: int = 8
    work_ns: int = 2_000
    """Extra work of each event, in nanoseconds of a core at 3 GHz."""
    checkpoint_s: float = 10.0
    """Flink: between two checkpoints."""
    batch_s: float = 1.0
    """Spark: between two batches, if they are done by then; a pool: between two commits."""
    partitions: int = 0
    """Of the input topic; 0 leaves it to the job."""
    generators: int = 0
    """Processes that make the load; 0 takes as many as the peak needs."""
    rescaling: str = ""
    """Flink: `reactive`, or `requirements` over REST with a checkpoint first; empty leaves it to the engine's name."""

    checkpoint_first: bool = True
    """Flink with `requirements`: a checkpoint before each rescale, so that little is done twice."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Options:
        return cls(**options)


def problems(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key, what is wrong) for each setting that is not understood.

    >>> problems({"cores": 0})
    [('cores', '"0" is not a number of cores above 0')]
    """
    known = [field.name for field in fields(Options)]
    found = []
    for key, value in options.items():
        wrong = _wrong(key, value) if key in known else did_you_mean(f'unknown option "{key}"', key, known)
        if wrong is not None:
            found.append((key, wrong))
    return found


def _wrong(key: str, value: Any) -> str | None:
    if key in _CHOICES:
        return None if value in _CHOICES[key] else f'"{value}" is none of {", ".join(_CHOICES[key])}'
    if key == "checkpoint_first":
        return None if isinstance(value, bool) else f'"{value}" is neither true nor false'
    if not isinstance(value, int | float) or isinstance(value, bool):
        return f'"{value}" is not a number'
    least = int(key == "max_workers")
    if key in _WHOLE and (not isinstance(value, int) or value < least):
        return f'"{value}" is not a whole number of at least {least}'
    if key in {"cores", "boot_cores"} and not 0 < value <= _MOST_CORES:
        return f'"{value}" is not a number of cores above 0'
    return f'"{value}" is less than nothing' if value < 0 else None
