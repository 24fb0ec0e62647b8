"""`tidebed validate`: the simulated place against measured runs."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli.console import Json, errors, output, print_json, progress
from experiments.errors import UserError

if TYPE_CHECKING:
    from experiments.validation.sources import Data
    from experiments.validation.validation import Validation


def validate(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="A folder with phoebe_runs, demeter_runs or daedalus_measured.",
            show_default="extracts that come with Tidebed",
        ),
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="REGEX", help="Only runs whose names match.")] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Compute constants from the ADS runs and show them beside those in use, instead."
        ),
    ] = False,
    page: Annotated[Path, typer.Option(help="Where the page with pictures goes.")] = Path("validation.html"),
    json: Json = False,
) -> None:
    """Replay measured Flink runs in the simulated place and say how close it comes.

    The load, the rescales and the failures are those that were measured; only the plant is free. Constants were fitted
    on runs of the job ADS; runs of CARS test them. An aim that is missed is told, and is no fault of the command.

    [dim]tidebed validate
    tidebed validate data --only cars_phoebe
    tidebed validate data --calibrate[/]
    """
    from experiments.validation import calibration, sources, summary, terminal

    pattern = _pattern(only)
    measured = sources.read(data or sources.EXTRACTS)
    if calibrate:
        with errors.status("calibrating"):
            estimates = calibration.calibrate(measured)
        if json:
            print_json(summary.plain_estimates(estimates))
        else:
            terminal.show_estimates(estimates, output)
        return
    began = time.perf_counter()
    found = _replayed(measured, pattern)
    took_s = time.perf_counter() - began
    if not found.runs and not found.groups and not found.minutes:
        names = ", ".join(run.name for run in measured.runs)
        raise UserError(f'--only: no run matches "{only}"; there are: {names}')
    _write(page, found, data.resolve().name if data else "extracts that come with Tidebed")
    if json:
        print_json({**summary.plain(found), "page": str(page)})
        return
    terminal.show(found, took_s, output)
    output.print(f"page with pictures: {page}", markup=False, soft_wrap=True)


def _pattern(only: str | None) -> re.Pattern[str] | None:
    try:
        return None if only is None else re.compile(only)
    except re.error as fault:
        raise UserError(f'--only: "{only}" is no regular expression ({fault}); cars_phoebe would be one') from fault


def _replayed(measured: Data, pattern: re.Pattern[str] | None) -> Validation:
    from experiments.validation.validation import validate as compare

    with progress() as bar:
        task = bar.add_task("replaying", total=len(measured.runs))
        return compare(measured, pattern, lambda _: bar.advance(task))


def _write(page: Path, found: Validation, source: str) -> None:
    from experiments.validation.page import render

    try:
        page.write_text(render(found, source), encoding="utf-8")
    except OSError as fault:
        raise UserError(
            f"--page: {page} cannot be written ({fault.strerror}); give a file in a folder that exists"
        ) from fault
