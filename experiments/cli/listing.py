"""`tidebed list`: what there is to choose from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import typer
from rich.table import Table

from experiments.cli.console import Json, output, print_json

app = typer.Typer(help="Show suites, autoscalers, jobs, workloads, places, faults or profiles.", no_args_is_help=True)


def _show(headings: list[str], rows: Iterable[tuple[str, ...]], *, json: bool) -> None:
    found = list(rows)
    if json:
        print_json([dict(zip(headings, row, strict=True)) for row in found])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, heading in enumerate(headings):
        table.add_column(heading, no_wrap=index == 0, overflow="fold")
    for row in found:
        table.add_row(*(text.replace("[", r"\[") for text in row))
    output.print(table)


@app.command()
def suites(json: Json = False) -> None:
    """The suites that come with Tidebed. Run one with: tidebed run NAME."""
    from experiments.planning import plan
    from experiments.suite import load, suite_names
    from workloads.units import format_duration

    def rows() -> Iterable[tuple[str, ...]]:
        for name in suite_names():
            loaded = load(name)
            experiments = plan(loaded)
            size = f"{len(experiments)} × {loaded.suite.repetitions} × {format_duration(loaded.suite.duration)}"
            yield name, size, loaded.suite.description

    _show(["suite", "experiments × runs × time", "question"], rows(), json=json)


@app.command()
def autoscalers(json: Json = False) -> None:
    """The autoscalers, with their parameters and defaults."""
    from autoscalers.registry import names, policy_type

    def rows() -> Iterable[tuple[str, ...]]:
        for name in names():
            policy = policy_type(name)
            parameters = ", ".join(f"{field.name}={_default(field)}" for field in dataclasses.fields(policy.Params))
            yield name, _first_sentence(policy.__doc__), parameters

    _show(["autoscaler", "what it does", "parameters"], rows(), json=json)


@app.command()
def jobs(json: Json = False) -> None:
    """The benchmark jobs."""
    import jobs as known

    def rows() -> Iterable[tuple[str, ...]]:
        for name in known.names():
            job = known.get(name)
            steps = " → ".join(operator.name for operator in job.topology)
            yield name, job.about, steps, ", ".join(job.profiles)

    _show(["job", "what it does", "operators", "engines"], rows(), json=json)


@app.command()
def workloads(json: Json = False) -> None:
    """The shapes of load; traces come from CSV files: {name: mine, trace: path.csv.gz}."""
    import workloads as known

    _show(["shape", "what it looks like"], ((name, known.describe(name)) for name in known.shape_names()), json=json)


@app.command()
def places(json: Json = False) -> None:
    """The places where runs can happen."""
    import infra

    _show(["place", "what it is"], ((name, infra.get(name).about) for name in infra.names()), json=json)


@app.command()
def faults(json: Json = False) -> None:
    """What may go wrong during a run, on purpose."""
    import infra
    from infra.faults import KINDS

    def rows() -> Iterable[tuple[str, ...]]:
        for name, kind in KINDS.items():
            able = [place for place in infra.names() if infra.get(place).refused_fault(name) is None]
            yield name, kind.about, ", ".join(kind.settings), f"{name}: {kind.example}", ", ".join(able)

    _show(["fault", "what it does", "settings", "example", "places"], rows(), json=json)


@app.command()
def profiles(json: Json = False) -> None:
    """Every constant of the simulator, with its unit and where it comes from."""
    import jobs as known

    def rows() -> Iterable[tuple[str, ...]]:
        for name in known.names():
            for engine, profile in known.get(name).profiles.items():
                for key, constant in profile.constants.items():
                    yield f"{name}/{engine}", key, f"{constant.value:g}", constant.unit, constant.source
                for key, delay in profile.delays.items():
                    spread = f"{delay.at(0.1):g}/{delay.median:g}/{delay.at(0.9):g}"
                    yield f"{name}/{engine}", key, spread, f"{delay.unit} (p10/p50/p90)", delay.source

    _show(["profile", "constant", "value", "unit", "source"], rows(), json=json)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return str(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return str(field.default_factory())
    return "required"


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split())
