"""A suite: the YAML file that names experiments, checked whole before anything starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from experiments.document import Location, Problem, read
from experiments.errors import UserError, did_you_mean
from experiments.matrix import split
from workloads.units import Duration, Quantity, Share

SHIPPED = Path(__file__).parent / "suites"
MAX_DURATION_S = 366 * 86400.0


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Entry(_Model):
    """A name with options: `static`, `static: {workers: 12}`, or the same with a label."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)
    label: str | None = None


def _entry(value: Any) -> Any:
    named = split(value)
    if named is None:
        raise ValueError("write a name, or a name with options such as static: {workers: 12}")
    name, options = named
    return {"name": name, "options": options, "label": value.get("label") if isinstance(value, Mapping) else None}


def _run_length(seconds: float) -> float:
    if not 1 <= seconds <= MAX_DURATION_S:
        raise ValueError("a run lasts at least 1s and at most 366d")
    return seconds


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


RunLength = Annotated[Duration, AfterValidator(_run_length)]
Named = Annotated[Entry, BeforeValidator(_entry)]


class Money(_Model):
    """An amount with its currency, as in `0.0612 USD`."""

    amount: float = Field(ge=0)
    currency: str


def _money(value: Any) -> Any:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?\d+)?)\s*([A-Z]{3})\s*", str(value))
    if match is None:
        raise ValueError(f'"{value}" is not an amount of money; write e.g. 0.0612 USD')
    return {"amount": float(match[1]), "currency": match[2]}


Price = Annotated[Money, BeforeValidator(_money)]


class Objectives(_Model):
    """Service-level objectives on each second, and prices."""

    latency_mean: Duration | None = None
    latency_p50: Duration | None = None
    latency_p95: Duration | None = None
    latency_p99: Duration | None = None
    backlog: Quantity | None = None
    violations: Share = 0.05
    worker_hour: Price | None = None
    node_hour: Price | None = None
    violation_minute: Price | None = None

    @property
    def currency(self) -> str:
        return next(
            (price.currency for price in (self.worker_hour, self.node_hour, self.violation_minute) if price), ""
        )


class Cell(_Model):
    """A selection of the matrix: what is given must match."""

    job: str | None = None
    workload: str | None = None
    autoscaler: str | None = None
    place: str | None = None


class Addition(_Model):
    """A cell beside the matrix. What it leaves out is taken from the suite if there is just one."""

    job: Named | None = None
    workload: str | dict[str, Any] | None = None
    autoscaler: Named | None = None
    place: Named | None = None
    duration: RunLength | None = None


class Statement(_Model):
    """What a paper reports: a value, a bound, a change against another autoscaler, or an ordering from the smallest."""

    source: str
    job: str | None = None
    workload: str | None = None
    place: str | None = None
    metric: str
    autoscaler: str | None = None
    value: float | None = None
    at_most: float | None = None
    change: float | None = None
    versus: str | None = None
    ordering: list[str] = []
    tolerance: Share = 0.0
    factor: float | None = Field(default=None, gt=1)
    note: str = ""


class Suite(_Model):
    """Experiments as a matrix: jobs × workloads × autoscalers × places, each repeated."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    description: str = ""
    place: Annotated[list[Named], BeforeValidator(_as_list)] = [Entry(name="simulated")]
    repetitions: int = Field(default=5, ge=1, le=10_000, strict=True)
    duration: RunLength
    seed: int = Field(default=1, ge=0, strict=True)
    initial_workers: int | None = Field(default=None, ge=1, strict=True)
    jobs: list[Named] = Field(min_length=1)
    workloads: list[dict[str, Any]] = Field(min_length=1)
    autoscalers: list[Named] = Field(min_length=1)
    faults: list[Any] = []
    """What goes wrong in every run; checked and read by `infra.faults`."""
    objectives: Objectives = Objectives()
    baseline: str | None = None
    include: list[Addition] = []
    exclude: list[Cell] = []
    published: list[Statement] = []


class LoadedSuite(_Model):
    """A suite and the file it came from, against which relative paths are read."""

    suite: Suite
    path: Path


def suite_names() -> list[str]:
    """The suites that Tidebed ships."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def find(name_or_path: str) -> Path:
    """A shipped suite by its name, any other by the path of its file."""
    if name_or_path in suite_names():
        return SHIPPED / f"{name_or_path}.yaml"
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"} or path.exists():
        if not path.is_file():
            raise UserError(f"{name_or_path}: there is no such file")
        return path
    raise UserError(f'unknown suite "{name_or_path}"{did_you_mean(name_or_path, suite_names())}')


def load(name_or_path: str) -> LoadedSuite:
    """Read and check a suite; every problem at once, as a UserError."""
    from experiments import checks  # the registries it asks load every policy; suite_names() must stay light

    document = read(find(name_or_path))
    problems = list(document.problems)
    suite: Suite | None = None
    if not isinstance(document.data, Mapping):
        raise document.error([Problem((), "a suite is a mapping with the keys name, duration, jobs, workloads, ...")])
    try:
        suite = Suite.model_validate(document.data)
    except ValidationError as fault:
        problems += [_translate(error) for error in fault.errors()]
    problems += checks.problems(document.data, document.path.parent)
    if problems or suite is None:
        raise document.error(problems)
    return LoadedSuite(suite=suite, path=document.path)


#: What pydantic calls a fault, and what a person is told. {} are the fault's own figures.
_MESSAGES = {
    "missing": "this key is missing",
    "string_type": "this must be text",
    "int_type": "this must be a whole number",
    "int_parsing": "this must be a whole number",
    "int_from_float": "this must be a whole number",
    "list_type": "this must be a list",
    "dict_type": "this must be a mapping",
    "model_type": "this must be a mapping",
    "too_short": "at least {min_length} is needed here",
    "greater_than": "this must be more than {gt}",
    "greater_than_equal": "this must be at least {ge}",
    "less_than_equal": "this must be at most {le}",
    "string_pattern_mismatch": "write small letters, digits, dots and dashes, as in advertising-day",
}


def _translate(error: Mapping[str, Any]) -> Problem:
    location: Location = tuple(error["loc"])
    context = error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        known = list(_known_keys(location))
        return Problem(location, f'unknown key "{location[-1]}"{did_you_mean(str(location[-1]), known)}')
    if error["type"] == "value_error":
        return Problem(location, str(context["error"]))
    if error["type"] in _MESSAGES:
        return Problem(location, _MESSAGES[error["type"]].format(**context))
    return Problem(location, error["msg"])


_PARTS: dict[str, type[_Model]] = {
    "objectives": Objectives,
    "include": Addition,
    "exclude": Cell,
    "published": Statement,
}


def _known_keys(location: Location) -> list[str]:
    model = _PARTS.get(str(location[0]), Suite) if len(location) > 1 else Suite
    return list(model.model_fields)
