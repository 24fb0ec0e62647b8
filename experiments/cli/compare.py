"""`tidebed compare`: published figures against measured ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from experiments.campaign import Campaign
from experiments.cli.console import Json, output, print_json
from experiments.cli.run import ArchiveOption, SuiteArgument
from experiments.errors import UserError

if TYPE_CHECKING:
    from analysis import report_tables

#: A space that no line breaks at.
_UNBROKEN = "\N{NO-BREAK SPACE}"


def compare(suite: SuiteArgument, archive: ArchiveOption = None, json: Json = False) -> None:
    """Published against measured, a line each, for a suite that says what a paper published.

    Exits with 1 if a figure does not come out, so that a script can ask.
    """
    from analysis import results
    from analysis.figures import records
    from analysis.report_findings import comparison

    campaign = Campaign.open(suite, archive=archive)
    name = campaign.suite.name
    if not campaign.suite.published:
        raise UserError(f"{name}: it names no published figures; `published:` in a suite lists what a paper reports")
    if not results.exists(campaign.archive.results, "comparison"):
        raise UserError(f"{name}: no results in {campaign.archive.root} yet; first: tidebed run {suite}")
    found = results.read(campaign.archive.results, "comparison")
    if json:
        print_json([{key: _plain(value) for key, value in row.items()} for row in records(found)])
    else:
        output.print(_lines(comparison(found, campaign.objectives()), title=f"{name}: published against measured"))
        output.print(f"{found['reproduced'].eq(True).sum()} of {len(found)} reproduced")
    if not found["reproduced"].eq(True).all():
        raise typer.Exit(1)


def _lines(found: report_tables.Table, *, title: str) -> Table:
    """The report's table, a line each: without its notes, and with each source above what it says."""
    shown = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for column in found.columns[1:-1]:
        shown.add_column(column.title, justify="right" if column.numeric else "left")
    for source, *cells, _ in found.rows:
        if source.text:
            shown.add_section()
            shown.add_row(f"[bold]{escape(source.text).replace(' ', _UNBROKEN)}[/]")
        shown.add_row(*(_styled(cell) for cell in cells))
    return shown


def _styled(cell: report_tables.Cell) -> str:
    text = escape(f"{cell.text} ({cell.note})" if cell.note else cell.text)
    return f"[bold red]{text}[/]" if cell.tone == "bad" else text


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
