"""From the list under a suite's key `faults` to faults, with every mistake told at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from infra.faults.kinds import KINDS, parse_frequency, parse_interval, parse_span, parse_worker
from workloads.problems import as_line, did_you_mean
from workloads.units import format_duration, parse_count, parse_duration, shown

T = TypeVar("T")
Path = tuple[str | int, ...]
Problem = tuple[Path, str]


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a suite's list. Exactly one of `at_s`, `every_s` and `rate` says when it comes."""

    kind: str
    at_s: tuple[float, ...] = ()
    every_s: float | None = None
    rate: float | None = None
    """Times a second, at random."""
    until_s: float | None = None
    """None: to the end of the run."""
    lasts_s: float = 0.0
    workers: int = 0
    worker: int | str = "random"
    amount: float = 1.0


def problems(specs: object, duration_s: float | None = None) -> list[Problem]:
    """Everything that is wrong with a suite's list, as (way to the value, what would be valid).

    >>> problems([{"crash": {"at": "7h"}}], 6 * 3600)
    [((0, 'crash', 'at'), '"7h" is not before the end of the run, which lasts 6h')]
    """
    return _read(specs, duration_s)[1]


def parse(specs: object) -> tuple[Fault, ...]:
    """The faults of a list; a ValueError names all that is wrong with it.

    >>> parse([{"crash": {"every": "45m", "until": "5h"}}])[0].every_s
    2700.0
    """
    faults, found = _read(specs, None)
    if found:
        raise ValueError("\n".join(as_line((("faults", *path), message)) for path, message in found))
    return tuple(faults)


def kind_of(spec: object) -> str | None:
    """The kind that an entry names; None if it names none that there is."""
    name = next(iter(spec)) if isinstance(spec, Mapping) and len(spec) == 1 else None
    return name if name in KINDS else None


def _read(specs: object, duration_s: float | None) -> tuple[list[Fault], list[Problem]]:
    if not isinstance(specs, list | tuple):
        return [], [((), f"{shown(specs)} is not a list of faults; write e.g. [crash: {{at: 30m}}]")]
    faults, found = [], []
    for index, spec in enumerate(specs):
        reader = _Reader(spec, index, duration_s)
        faults += reader.faults
        found += reader.problems
    return faults, found


class _Reader:
    """One entry, read setting by setting, so that all its mistakes are told at once."""

    def __init__(self, spec: object, index: int, duration_s: float | None) -> None:
        self.faults: list[Fault] = []
        self.problems: list[Problem] = []
        self._duration_s = duration_s
        self._path: Path = (index,)
        if isinstance(spec, str) and spec in KINDS:
            spec = {spec: {}}
        if not isinstance(spec, Mapping) or len(spec) != 1:
            self._complain(f"{shown(spec)} is not one fault with its settings; write e.g. crash: {{at: 30m}}")
            return
        name, options = next(iter(spec.items()))
        if name not in KINDS:
            self._complain(did_you_mean(f"there is no fault {shown(name)}", str(name), KINDS))
            return
        self._path = (index, name)
        self._name, self._kind = str(name), KINDS[name]
        self._options: Mapping[Any, Any] = {} if options is None else options
        if isinstance(self._options, Mapping):
            self._settings()
        else:
            self._complain(f"{shown(options)} are no settings; write e.g. {name}: {self._kind.example}")

    def _complain(self, message: str, *where: str | int) -> None:
        self.problems.append(((*self._path, *where), message))

    def _setting(self, key: str, read: Callable[[object], T], default: T) -> T:
        if key not in self._options:
            return default
        try:
            return read(self._options[key])
        except ValueError as error:
            self._complain(str(error), key)
            return default

    def _settings(self) -> None:
        kind = self._kind
        anyone: int | str = "random"
        for key in self._options:
            if key not in kind.settings:
                self._complain(did_you_mean(f"{self._name} has no such setting", str(key), kind.settings), str(key))
        for key in kind.needs:
            if key not in self._options:
                self._complain(f'"{key}" is missing; write e.g. {self._name}: {kind.example}')
        fault = Fault(
            kind=self._name,
            at_s=self._at(),
            every_s=self._setting("every", parse_interval, None),
            rate=self._setting("rate", parse_frequency, None),
            until_s=self._setting("until", parse_span, None),
            lasts_s=self._setting("for", parse_span, 0.0) if kind.lasts else 0.0,
            workers=self._setting("workers", parse_count, 1) if kind.hits != "all" else 0,
            worker=self._setting("worker", parse_worker, anyone),
            amount=self._setting(kind.amount, kind.read_amount, 1.0) if kind.amount else 1.0,
        )
        self._check_times(fault)
        if fault.workers > 1 and isinstance(fault.worker, int):
            self._complain("one index cannot mean several workers; write worker: hottest or random", "worker")
        if not self.problems:
            self.faults.append(fault)

    def _at(self) -> tuple[float, ...]:
        value = self._options.get("at", ())
        several = isinstance(value, list | tuple)
        times = []
        if several and not value and "at" in self._options:
            self._complain("the list is empty; write e.g. [30m, 2h]", "at")
        for index, item in enumerate(value if several else [value]):
            where = ("at", index) if several else ("at",)
            try:
                times.append(parse_duration(item))
            except ValueError as error:
                self._complain(str(error), *where)
                continue
            self._check_end(times[-1], item, *where)
        return tuple(sorted(times))

    def _check_end(self, time_s: float, written: object, *where: str | int) -> None:
        if self._duration_s is not None and time_s >= self._duration_s:
            end = format_duration(self._duration_s)
            self._complain(f"{shown(written)} is not before the end of the run, which lasts {end}", *where)

    def _check_times(self, fault: Fault) -> None:
        given = [key for key in ("at", "every", "rate") if key in self._options]
        if not given:
            self._complain(f"say when with at, every or rate; write e.g. {self._name}: {self._kind.example}")
        for key in given[1:]:
            self._complain(f"{given[0]} says already when; give one of at, every and rate", key)
        if fault.every_s is not None:
            self._check_end(fault.every_s, self._options["every"], "every")
            if fault.until_s is not None and fault.until_s < fault.every_s:
                self._complain("this is before the first one, which comes after one interval", "until")
        if "until" in self._options and given == ["at"]:
            self._complain('"until" goes with every or rate; "at" names each moment', "until")
