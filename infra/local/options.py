"""What a suite may set of the local place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from workloads.problems import did_you_mean

_CHOICES = {"rescaling": ("reactive", "requirements")}
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
        if key not in known:
            found.append((key, did_you_mean(f'unknown option "{key}"', key, known)))
        elif key in _CHOICES:
            if value not in _CHOICES[key]:
                found.append((key, f'"{value}" is none of {", ".join(_CHOICES[key])}'))
        elif not isinstance(value, int | float) or isinstance(value, bool):
            found.append((key, f'"{value}" is not a number'))
        elif key in _WHOLE and (not isinstance(value, int) or value < (1 if key == "max_workers" else 0)):
            found.append((key, f'"{value}" is not a whole number of at least {int(key == "max_workers")}'))
        elif key in {"cores", "boot_cores"} and not 0 < value <= 64:
            found.append((key, f'"{value}" is not a number of cores above 0'))
        elif value < 0:
            found.append((key, f'"{value}" is less than nothing'))
    return found
