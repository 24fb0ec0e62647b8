"""A workload as a YAML mapping.

    {name: day, shape: daily, peak: 60k, noise: 5%}
    {name: busy, sum: [{shape: sine, peak: 40k}, {shape: spikes, peak: 20k, count: 4}], peak: 50k, clip: [1k, 45k]}
    {name: taxi, trace: data/taxi.csv.gz, peak: 50k, stretch: 6h}

A mapping has exactly one base: `shape` (with the shape's own keys), `trace` (a file), `sum` or `product` (lists of
such mappings). Modifiers follow, always in this order, whatever the order of the keys:

1. `repeat: 1h`      play the first hour over and over; `repeat: true` repeats a trace as a whole
2. `shift: 30m`      move it later, or earlier if negative; what leaves at one end comes back at the other
3. `stretch: 6h`     let a trace as a whole, or one cycle, take six hours
4. `peak: 50k`       scale it so that the run's highest rate is this one (for a shape, `peak` is its own key)
5. `noise: 5%`       white noise; or `noise: {white: 3%, correlated: 5%, correlation_time: 2m, counted: 1m}`
6. `clip: [1k, 45k]` cut it off below and above

Noise comes after the peak, so it may exceed it; clip comes last, so nothing exceeds that. `name` is for the suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, TypeAdapter, ValidationError

from workloads import problems
from workloads.combine import Product, Sum
from workloads.model import Workload, WorkloadError
from workloads.modify import Clip, Repeat, Shift, Stretch, ToPeak
from workloads.noise import Noise
from workloads.problems import Problem
from workloads.shapes import Shape, defaults, shape_names, shape_type
from workloads.trace import load_trace
from workloads.units import (
    OptionalRate,
    OptionalSeconds,
    Seconds,
    Share,
    SignedSeconds,
    parse_rate,
    parse_share,
    parse_whole_seconds,
    shown,
)

BASES: Final = ("shape", "trace", "sum", "product")
#: Keys whose value is a list by nature; a suite must not take these for a choice of values.
LIST_KEYS: Final = frozenset({"sum", "product", "clip", "times"})
_DEEPEST: Final = 12

_Keys = Mapping[str, Any]
_Path = problems.Path
M = TypeVar("M")


def _parse_repeat(value: object) -> int | bool:
    return bool(value) if value is None or isinstance(value, bool) else parse_whole_seconds(value)


def _parse_clip(value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{shown(value)} is not two bounds; write e.g. [1k, 45k]")
    low, high = (parse_rate(bound) for bound in value)
    if low > high:
        raise ValueError(f"the lower bound {shown(value[0])} is above the upper bound {shown(value[1])}")
    return low, high


class NoiseLevels(BaseModel):
    """`noise` as a mapping."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    white: Share = 0.0
    correlated: Share = 0.0
    correlation_time: Seconds = 60
    counted: OptionalSeconds = None


class Modifiers(BaseModel):
    """What may follow a base."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: object = None
    repeat: Annotated[int | bool, PlainValidator(_parse_repeat)] = False
    shift: SignedSeconds = 0
    stretch: OptionalSeconds = None
    peak: OptionalRate = None
    noise: object = None
    """Validated apart from the others: it is a share or a mapping."""
    clip: Annotated[tuple[float, float] | None, PlainValidator(_parse_clip)] = None


_MODIFIERS: Final = tuple(Modifiers.model_fields)


class _Reader:
    """Reads one mapping and gathers every problem on the way, so that they are told all at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []

    def workload(self, spec: object, path: _Path = ()) -> Workload | None:
        if not isinstance(spec, Mapping):
            self.wrong(path, f"{shown(spec)} is not a workload; write e.g. {{shape: sine, peak: 60k}}")
            return None
        if len(path) > 2 * _DEEPEST:
            self.wrong(path, f"sums and products go more than {_DEEPEST} deep")
            return None
        keys = {str(key): value for key, value in spec.items()}
        own = self.own_keys(keys)
        base = self.base(own, keys, path)
        noise = self.noise(keys.get("noise"), (*path, "noise"))
        modifiers = self.modifiers({key: value for key, value in keys.items() if key not in own}, keys, path)
        return None if base is None or noise is None else self.modified(base, modifiers, noise, path)

    @staticmethod
    def own_keys(keys: _Keys) -> _Keys:
        """What belongs to the base; the others are modifiers, or unknown."""
        if _named_shape(keys):
            mine = set(keys) - set(_MODIFIERS) | {"peak"}
        elif "shape" in keys:  # not known: any shape's key may be right, and all shapes have a peak
            mine = _all_shape_keys() - {"peak"} | set(BASES)
        else:
            mine = set(BASES)
        return {key: value for key, value in keys.items() if key in mine}

    def base(self, own: _Keys, keys: _Keys, path: _Path) -> Workload | None:
        given = [base for base in BASES if base in keys]
        match given:
            case []:
                if not any(problems.suggestion(key, BASES) for key in keys if key not in _MODIFIERS):
                    self.wrong(path, "it needs one of shape, trace, sum or product")
                return None
            case ["shape"]:
                return self.shape(own, path)
            case ["trace"]:
                return self.trace(keys["trace"], (*path, "trace"))
            case ["sum" | "product" as base]:
                parts = self.parts(keys[base], (*path, base))
                return None if parts is None else (Sum if base == "sum" else Product)(parts)
            case _:
                self.wrong(path, f"it has {' and '.join(given)}; only one of them makes a workload")
                return None

    def shape(self, own: _Keys, path: _Path) -> Workload | None:
        name, kind = own["shape"], _named_shape(own)
        if kind is None:
            what = f"there is no shape {shown(name)}" if isinstance(name, str) else f"{shown(name)} is not a shape"
            self.wrong((*path, "shape"), problems.did_you_mean(what, str(name), shape_names()))
            return None
        parameters = {key: value for key, value in own.items() if key != "shape"}
        return self.checked(kind, parameters, path, known=(*defaults(kind), *_MODIFIERS))

    def trace(self, file: object, path: _Path) -> Workload | None:
        if not isinstance(file, str | Path) or not str(file):
            self.wrong(path, f"{shown(file)} is not a path to a CSV file")
            return None
        try:
            return load_trace(self.folder / file)
        except WorkloadError as error:
            self.wrong(path, str(error))
            return None

    def parts(self, specs: object, path: _Path) -> tuple[Workload, ...] | None:
        if not isinstance(specs, list | tuple) or not specs:
            self.wrong(path, "it takes a list of workloads, at least one")
            return None
        parts = [self.workload(spec, (*path, index)) for index, spec in enumerate(specs)]
        sound = tuple(part for part in parts if part is not None)
        return sound if len(sound) == len(parts) else None

    def noise(self, noise: object, path: _Path) -> NoiseLevels | None:
        if isinstance(noise, Mapping):
            levels = {str(key): value for key, value in noise.items()}
            return self.checked(NoiseLevels, levels, path, known=tuple(NoiseLevels.model_fields))
        try:
            return NoiseLevels(white=0.0 if noise is None else parse_share(noise))
        except ValueError as error:
            self.wrong(path, str(error))
            return None

    def modifiers(self, others: _Keys, keys: _Keys, path: _Path) -> Modifiers:
        """The modifiers that are sound, so that what they say can be checked even if others are not."""
        known = set(_MODIFIERS)
        if not any(base in keys for base in BASES):
            known.update(BASES)
        elif "shape" in keys:
            known.update(_all_shape_keys())
        before = len(self.problems)
        modifiers = self.checked(Modifiers, others, path, known)
        unsound = {where[len(path)] for where, _ in self.problems[before:]}
        return modifiers or Modifiers(**{key: value for key, value in others.items() if key not in unsound})

    def modified(self, base: Workload, modifiers: Modifiers, noise: NoiseLevels, path: _Path) -> Workload | None:
        """The base with its modifiers, in the order that the module's docstring gives."""
        workload = base
        if modifiers.repeat is not False:
            every = workload.span_s if modifiers.repeat is True else modifiers.repeat
            if every is None:
                self.wrong((*path, "repeat"), "say how long one round takes, e.g. repeat: 1h")
                return None
            try:
                workload = Repeat(workload, every)
            except ValueError as error:
                self.wrong((*path, "repeat"), str(error))
                return None
        if modifiers.shift:
            workload = Shift(workload, modifiers.shift)
        if modifiers.stretch is not None:
            workload = Stretch(workload, modifiers.stretch)
        if modifiers.peak is not None:
            workload = ToPeak(workload, modifiers.peak)
        if noise.white or noise.correlated or noise.counted:
            levels = (noise.white, noise.correlated, noise.correlation_time, noise.counted or 0)
            workload = Noise(workload, *levels)
        return workload if modifiers.clip is None else Clip(workload, *modifiers.clip)

    def checked(self, kind: type[M], values: _Keys, path: _Path, known: Iterable[str]) -> M | None:
        try:
            return TypeAdapter(kind).validate_python(values)
        except ValidationError as error:
            self.problems.extend(problems.from_validation(error, path, known))
            return None

    def wrong(self, path: _Path, message: str) -> None:
        self.problems.append((path, message))


def _named_shape(keys: _Keys) -> type[Shape] | None:
    name = keys.get("shape")
    return shape_type(name) if isinstance(name, str) else None


def _all_shape_keys() -> set[str]:
    kinds = (shape_type(name) for name in shape_names())
    return {key for kind in kinds if kind is not None for key in defaults(kind)}


def _read(mapping: object, base: Path | None, duration_s: float | None = None) -> tuple[Workload | None, list[Problem]]:
    reader = _Reader(base or Path())
    workload = reader.workload(mapping)
    if workload is not None and duration_s is not None and (problem := workload.too_short_for(duration_s)):
        reader.wrong((), problem)
    return workload, reader.problems


def spec_errors(mapping: object, base: Path | None, duration_s: float | None = None) -> list[Problem]:
    """All that is wrong, as (path, message); traces are read. With a duration, also whether it lasts that long.

    >>> spec_errors({"shape": "sin", "peak": "60k"}, None)
    [(('shape',), 'there is no shape "sin" — did you mean "sine"?')]
    """
    return _read(mapping, base, duration_s)[1]


def parse(mapping: object, base: Path | None = None) -> Workload:
    """The workload that a mapping describes; traces are looked for in the folder `base`.

    >>> parse({"shape": "ramp", "peak": "40", "low": 0}).curve(5)
    array([ 0., 10., 20., 30., 40.])
    """
    workload, found = _read(mapping, base)
    if workload is None or found:
        raise WorkloadError("\n".join(problems.as_line(problem) for problem in found))
    return workload
