"""The page's tables, in the report's cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.report_numbers import NONE, change, quantity
from analysis.report_tables import Cell, Column, Table
from experiments.validation.aims import Aim
from experiments.validation.scores import Pair
from experiments.validation.spreads import Group, Spread
from experiments.validation.validation import MinutesResult, RunResult

_TONES = {"met": "good", "partly": "", "missed": "bad", "not tested": ""}


def aims(found: Sequence[Aim]) -> Table:
    columns = (
        Column("Aim"),
        Column("within", numeric=True),
        Column("verdict", "met: by all; partly: by half or more"),
        Column("cases that meet it", numeric=True),
        Column("median error", numeric=True),
        Column("what misses it"),
    )
    rows = tuple(
        (
            Cell(aim.title),
            Cell(aim.aimed),
            Cell(aim.verdict, tone=_TONES[aim.verdict]),
            Cell(f"{len(aim.within)} of {len(aim.cases)}"),
            Cell(aim.shown(aim.median).lstrip("+") if aim.cases else NONE),
            Cell(aim.why),
        )
        for aim in found
    )
    return Table("The aims, on runs that nothing was fitted on", columns, rows)


def runs(results: Sequence[RunResult]) -> Table:
    columns = (
        Column("Run"),
        Column("used for"),
        Column("throughput", numeric=True),
        Column("latency, mean", "outside outages", numeric=True),
        Column("latency, p95", "outside outages", numeric=True),
        Column("latency of all seconds, mean", numeric=True),
        Column("lag, mean", numeric=True),
        Column("CPU, points", numeric=True),
        Column("overloaded", "share of the time in which the measured job was ten seconds late or more", numeric=True),
    )
    rows = tuple(
        (
            Cell(one.run.name, anchor=anchor(one)),
            Cell(used_for(one.run.calibrated)),
            _error(one.score.throughput, 0.02),
            _error(one.score.latency_mean_outside, 0.15),
            _error(one.score.latency_p95_outside),
            _error(one.score.latency_mean),
            _error(one.score.lag_mean),
            _points(one.score.cpu),
            Cell(quantity(one.score.late, "share")),
        )
        for one in results
    )
    return Table("Errors of each replay, relative to what was measured", columns, rows)


def minutes(results: Sequence[MinutesResult]) -> Table:
    columns = (
        Column("Run"),
        Column("used for"),
        Column("quiet minutes", numeric=True),
        Column("CPU measured", numeric=True),
        Column("CPU simulated", numeric=True),
        Column("points", numeric=True),
    )
    rows = tuple(
        (
            Cell(one.run),
            Cell(used_for(one.calibrated)),
            Cell(f"{one.minutes:,}"),
            Cell(quantity(one.cpu.measured, "share")),
            Cell(quantity(one.cpu.simulated, "share")),
            _points(one.cpu, 0.05),
        )
        for one in results
    )
    return Table("CPU in quiet minutes", columns, rows)


def spreads(groups: Sequence[Group]) -> Table:
    columns = (
        Column("Interruption"),
        Column("used for"),
        Column("figure"),
        Column("measured: n, p10 · p25 · p50 · p75 · p90", numeric=True),
        Column("simulated", numeric=True),
        Column("median", numeric=True),
    )
    rows = []
    for group in groups:
        for figure, title in (("outage_s", "outage"), ("peak_s", "latency peak"), ("recovery_s", "recovery")):
            measured, simulated = group.spreads(figure)
            if measured.n and simulated.n:
                off = Pair(measured.median, simulated.median)
                rows.append(
                    (
                        Cell(group.name),
                        Cell(used_for(group.calibrated)),
                        Cell(title),
                        Cell(_quantiles(measured)),
                        Cell(_quantiles(simulated)),
                        _error(off, 0.2 if figure == "recovery_s" else math.inf),
                    )
                )
    return Table("Outages, latency peaks and recoveries in seconds", columns, tuple(rows))


def used_for(calibrated: bool) -> str:
    return "calibrated on" if calibrated else "test"


def anchor(result: RunResult) -> str:
    return f"run-{result.run.name}"


def _quantiles(spread: Spread) -> str:
    return f"{spread.n}: " + " · ".join(f"{one:.0f}" for one in spread.quantiles)


def _error(pair: Pair, limit: float = math.inf) -> Cell:
    if not math.isfinite(pair.error):
        return Cell(NONE)
    tone = "" if math.isinf(limit) else "good" if abs(pair.error) <= limit else "bad"
    return Cell(change(pair.error), tone=tone)


def _points(pair: Pair, limit: float = math.inf) -> Cell:
    if not math.isfinite(pair.difference):
        return Cell(NONE)
    tone = "" if math.isinf(limit) else "good" if abs(pair.difference) <= limit else "bad"
    return Cell(f"{100.0 * pair.difference:+.1f}".replace("-", "−"), tone=tone)
