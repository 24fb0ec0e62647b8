"""The results in tables for a terminal, no wider than 118 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from experiments.validation.aims import Aim
from experiments.validation.calibration import Estimate
from experiments.validation.scores import Pair
from experiments.validation.spreads import Group, Spread
from experiments.validation.validation import MinutesResult, RunResult, Validation

WIDTH = 118
_NONE = "–"
_COLOURS = {"met": "green", "partly": "yellow", "missed": "red", "not tested": "dim"}


def show(found: Validation, took_s: float, console: Console) -> None:
    """Runs first, the aims last: that is what stays on the screen."""
    hours = sum(one.run.seconds for one in found.runs) / 3600.0
    if found.runs:
        _print(console, _runs(found.runs))
        console.print(
            "simulated over measured; outside outages: seconds that no rescale and no failure touches;\n"
            "overloaded: % of the time in which the measured job was ten seconds late or more\n",
            style="dim",
        )
    if found.minutes:
        _print(console, _minutes(found.minutes))
    if found.groups:
        _print(console, _groups(found.groups))
        console.print(
            "p10/p25/p50/p75/p90 of interruptions that began while latency was usual; the error of the median in %;\n"
            "outages are not told where workers were read once a minute (Phoebe)\n",
            style="dim",
        )
    _print(console, _aims(found.aims))
    for aim in found.aims:
        if aim.why:
            console.print(f"  {aim.title}: {aim.why}", markup=False, style="dim", width=WIDTH)
    for remark in found.remarks:
        console.print(f"  {remark}", markup=False, style="dim", width=WIDTH)
    tested = sum(not one.run.calibrated for one in found.runs)
    console.print(f"{len(found.runs)} runs ({tested} for testing), {hours:.0f} h, replayed in {took_s:.1f} s")


def show_estimates(estimates: Sequence[Estimate], console: Console) -> None:
    """Each constant that the data tell beside the one in use."""
    table = _table("constants as the data tell them", "constant", ">found", ">in use", "unit", ">n", "from")
    where = ""
    for one in estimates:
        if one.where != where:
            where = one.where
            table.add_row(f"[bold]{where}[/]")
        table.add_row(f"  {one.name}", _values(one.found), _values(one.used), one.unit, f"{one.n}", one.how)
    _print(console, table)
    console.print("several values: p0/p10/p25/p50/p75/p90/p100", style="dim")


def _values(values: Sequence[float]) -> str:
    """
    >>> _values([0.0394]), _values([18829.3]), _values([1.0, 2.0, 24.0])
    ('0.0394', '18,829', '1/2/24')
    """
    if len(values) > 1:
        return "/".join(f"{value:.3g}" for value in values)
    return f"{values[0]:,.0f}" if abs(values[0]) >= 1000 else f"{values[0]:.3g}"


def _aims(found: Sequence[Aim]) -> Table:
    table = _table("aims, on runs that nothing was fitted on", "aim", ">within", "", ">cases", ">median error")
    for aim in found:
        colour = _COLOURS[aim.verdict]
        table.add_row(
            aim.title,
            aim.aimed,
            f"[{colour}]{aim.verdict}[/]",
            f"{len(aim.within)} of {len(aim.cases)}",
            aim.shown(aim.median).lstrip("+") if aim.cases else _NONE,
        )
    return table


def _runs(found: Sequence[RunResult]) -> Table:
    table = _table(
        "errors of each run in %",
        "\nrun",
        ">through-\nput",
        ">latency\nmean",
        ">\np95",
        ">outside\nmean",
        ">outages\np95",
        ">lag\nmean",
        ">\nfinal",
        ">CPU\npoints",
        ">over-\nloaded",
    )
    for calibrated in (False, True):
        several = [one for one in found if one.run.calibrated == calibrated]
        if several:
            table.add_row(_USED[calibrated])
        for one in several:
            score = one.score
            table.add_row(
                f"  {one.run.name}",
                _error(score.throughput),
                _error(score.latency_mean),
                _error(score.latency_p95),
                _error(score.latency_mean_outside),
                _error(score.latency_p95_outside),
                _error(score.lag_mean),
                _error(score.lag_final),
                _points(score.cpu),
                _NONE if math.isnan(score.late) else f"{100.0 * score.late:.0f}",
            )
    return table


_USED = {False: "[bold]test[/]", True: "[bold]calibrated on[/]"}


def _minutes(found: Sequence[MinutesResult]) -> Table:
    table = _table("CPU in quiet minutes", "run", "used for", ">minutes", ">measured", ">simulated", ">points")
    for one in found:
        used = "calibrated on" if one.calibrated else "test"
        cpu = one.cpu
        table.add_row(one.run, used, f"{one.minutes:,}", f"{cpu.measured:.3f}", f"{cpu.simulated:.3f}", _points(cpu))
    return table


def _groups(found: Sequence[Group]) -> Table:
    table = _table("interruptions", "kind", "", ">n", ">measured", ">simulated", ">median")
    for calibrated in (False, True):
        several = [group for group in found if group.calibrated == calibrated]
        if several:
            table.add_row(_USED[calibrated])
        for group in several:
            name = f"  {group.name}"
            for figure, title in (("outage_s", "outage"), ("recovery_s", "recovery")):
                measured, simulated = group.spreads(figure)
                if measured.n and simulated.n:
                    off = _error(Pair(measured.median, simulated.median))
                    cases = f"{measured.n}/{simulated.n}"
                    table.add_row(name, title, cases, _quantiles(measured), _quantiles(simulated), off)
                    name = ""
    return table


def _quantiles(spread: Spread) -> str:
    return "/".join(f"{one:.0f}" for one in spread.quantiles)


def _error(pair: Pair) -> str:
    """Per cent with a sign; a factor where that reads better.

    >>> _error(Pair(100.0, 98.2)), _error(Pair(1.0, 19.4)), _error(Pair(float("nan"), 1.0))
    ('-1.8', 'x 19', '–')
    """
    error = pair.error
    if not math.isfinite(error):
        return _NONE
    if error > _TENFOLD:
        return f"x {error + 1.0:.0f}"
    return f"{100.0 * error:+.1f}" if abs(error) < _TENTH else f"{100.0 * error:+.0f}"


_TENTH, _TENFOLD = 0.0995, 9.0


def _points(pair: Pair) -> str:
    return _NONE if not math.isfinite(pair.difference) else f"{100.0 * pair.difference:+.1f}"


def _table(title: str, *headings: str) -> Table:
    """Headings that begin with ">" are of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    for index, heading in enumerate(headings):
        numeric = heading.startswith(">")
        table.add_column(heading.lstrip(">"), justify="right" if numeric else "left", no_wrap=numeric or index < _HEADS)
    return table


def _print(console: Console, table: Table) -> None:
    console.print(table, width=min(WIDTH, max(console.width, _NARROW)))
    console.print()


#: Columns that name a row.
_HEADS = 2
#: A terminal narrower than this wraps.
_NARROW = 80
