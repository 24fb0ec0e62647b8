"""`tidebed compare`: published figures against measured ones."""

from __future__ import annotations

import math

import typer
from rich.table import Table

from experiments.campaign import Campaign
from experiments.cli.console import Json, output, print_json
from experiments.cli.run import ArchiveOption, SuiteArgument
from experiments.errors import UserError


def compare(suite: SuiteArgument, archive: ArchiveOption = None, json: Json = False) -> None:
    """Published against measured, a line each, for a suite that says what a paper published.

    Exits with 1 if a figure does not come out, so that a script can ask.
    """
    from analysis import results
    from analysis.figures import number, records

    campaign = Campaign.open(suite, archive=archive)
    name = campaign.suite.name
    if not campaign.suite.published:
        raise UserError(f"{name}: it names no published figures; `published:` in a suite lists what a paper reports")
    if not results.exists(campaign.archive.results, "comparison"):
        raise UserError(f"{name}: no results in {campaign.archive.root} yet; first: tidebed run {suite}")
    rows = records(results.read(campaign.archive.results, "comparison"))
    if json:
        print_json([{key: _plain(value) for key, value in row.items()} for row in rows])
    else:
        table = Table(title=f"{name}: published against measured", title_justify="left", title_style="bold")
        for heading in ("", "source", "scenario", "autoscaler", "metric"):
            table.add_column(heading)
        for heading in ("published", "measured", "off by"):
            table.add_column(heading, justify="right")
        for row in rows:
            published, measured = number(row["published"]), number(row["measured"])
            off = "" if published is None or measured is None or not published else f"{measured / published - 1:+.0%}"
            table.add_row(
                "yes" if row["reproduced"] else "[bold red]no[/]",
                str(row["source"]),
                f"{row['job']} · {row['workload']}",
                str(row["autoscaler"]),
                f"{row['metric']} ({row['kind']})",
                "" if published is None else f"{published:g}",
                "–" if measured is None else f"{measured:.4g}",
                off if row["kind"] == "value" else "",
            )
        output.print(table)
        reproduced = sum(bool(row["reproduced"]) for row in rows)
        output.print(f"{reproduced} of {len(rows)} reproduced")
    if not all(row["reproduced"] for row in rows):
        raise typer.Exit(1)


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
