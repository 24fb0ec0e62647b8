"""The report's tables as plain cells, the same for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.catalogue import METRICS
from analysis.cost import Objectives
from analysis.figures import Figure, Figures, Scenario, number, records
from analysis.ranking import COST, VIOLATIONS, Pairs, Ranking, Standing, format_p
from analysis.report_numbers import NONE, change, interval, quantity
from analysis.report_verdict import Field, relative_cost

#: More tests than this are not read; then only those of the metrics that decide the ranking are listed.
MOST_TESTS = 300
_DECISIVE = (COST, VIOLATIONS, "latency_p95")


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column."""

    title: str
    about: str = ""
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table says in one place."""

    text: str
    note: str = ""
    """In small print beside it: a confidence interval, an explanation."""
    tone: str = ""
    """"best", "good", "bad", or plain."""
    autoscaler: str = ""
    """The autoscaler that the cell names, to show its mark."""
    anchor: str = ""
    """The part of the report that tells more."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns; the first cell of a row is its head."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def unit_of(metric: str, objectives: Objectives) -> str:
    return objectives.cost_unit if metric == COST else METRICS[metric].unit if metric in METRICS else ""


def title_of(metric: str) -> str:
    return METRICS[metric].title if metric in METRICS else metric


def ranked(ranking: Ranking, objectives: Objectives, baseline: str | None, fields: Sequence[Field]) -> Table:
    """The ranking with everything that decides it."""
    several = len(fields) > 1
    columns = [Column("Rank"), Column("Autoscaler")]
    if objectives.bounds:
        columns.append(Column("Objectives"))
    if several:
        columns.append(Column("Mean rank", numeric=True))
    columns.append(Column("Total cost" if several else "Cost", METRICS[COST].about, numeric=True))
    if baseline is not None:
        columns.append(Column(f"vs {baseline}", "cost against the baseline's", numeric=True))
    if objectives.bounds:
        columns.append(Column("Violations", METRICS[VIOLATIONS].about, numeric=True))
    columns += [
        Column("Workers", METRICS["mean_workers"].about, numeric=True),
        Column("p95 latency", METRICS["latency_p95"].about, numeric=True),
        Column("Actions", METRICS["scaling_actions"].about, numeric=True),
        Column("Confidence", "against the next one"),
    ]

    def row(one: Standing) -> tuple[Cell, ...]:
        cells = [Cell(one.rank), Cell(one.autoscaler, autoscaler=one.autoscaler)]
        if objectives.bounds:
            cells.append(_met(one, several=several))
        if several:
            partial = "" if one.scenarios == len(fields) else f"{one.scenarios} of {len(fields)} scenarios"
            cells.append(Cell(f"{one.mean_rank:.2f}", partial))
        cells.append(_estimated(one.cost, objectives.cost_unit))
        if baseline is not None:
            cells.append(
                Cell("baseline")
                if one.autoscaler == baseline
                else Cell(change(relative_cost(one.autoscaler, baseline, fields)))
            )
        if objectives.bounds:
            cells.append(_estimated(one.violations, "share"))
        cells += [
            Cell(quantity(one.mean_workers)),
            Cell(quantity(one.latency_p95, "s")),
            Cell(quantity(one.scaling_actions)),
            Cell(one.confidence),
        ]
        return tuple(cells)

    return Table("Ranking", tuple(columns), tuple(row(one) for one in ranking.standings))


def overview(rankings: Sequence[tuple[str, str, Ranking]], order: Sequence[str]) -> Table:
    """Who stands where in each scenario, given as (title, anchor, ranking)."""

    def row(title: str, anchor: str, ranking: Ranking) -> tuple[Cell, ...]:
        places = {one.autoscaler: one for one in ranking.standings}
        cells = (
            Cell(NONE)
            if (one := places.get(name)) is None
            else Cell(one.rank, "" if one.meets else "missed", _tone(one))
            for name in order
        )
        return Cell(title, anchor=anchor), *cells

    columns = (Column("Scenario"), *(Column(name, numeric=True) for name in order))
    return Table("Rank in each scenario", columns, tuple(row(*one) for one in rankings))


def _tone(one: Standing) -> str:
    return "bad" if not one.meets else "best" if one.rank.rstrip("=") == "1" else ""


def _met(one: Standing, *, several: bool) -> Cell:
    tone = "good" if one.meets else "bad"
    if not several:
        return Cell("met" if one.meets else "missed", tone=tone)
    return Cell("met" if one.meets else "missed", f"{one.met} of {one.scenarios}", tone)


def _estimated(figure: Figure, unit: str, tone: str = "") -> Cell:
    return Cell(quantity(figure.mean, unit), interval(figure, unit), tone)


def metrics(scenario: Scenario, field: Field, order: Sequence[str], pairs: Pairs, objectives: Objectives) -> Table:
    """Every figure of a scenario. The best are emphasised, with those that do not differ significantly from them."""
    known = dict.fromkeys(metric for name in order for metric, figure in field[name].items() if figure.mean is not None)
    rows = []
    for metric in [*(name for name in METRICS if name in known), *(name for name in known if name not in METRICS)]:
        figures = {name: field[name].get(metric, Figure()) for name in order}
        best = _best(scenario, metric, figures, pairs)
        unit = unit_of(metric, objectives)
        cells = (_estimated(figure, unit, "best" if name in best else "") for name, figure in figures.items())
        rows.append((Cell(title_of(metric), METRICS[metric].about if metric in METRICS else ""), *cells))
    columns = (Column("Metric"), *(Column(name, numeric=True) for name in order))
    return Table("All metrics", columns, tuple(rows))


def _best(scenario: Scenario, metric: str, figures: Figures, pairs: Pairs) -> set[str]:
    """Nobody where the metric does not judge, or where all are alike."""
    means = {name: figure.mean for name, figure in figures.items() if figure.mean is not None}
    better = METRICS[metric].better if metric in METRICS else "neither"
    if better == "neither" or len(means) < 2:
        return set()
    top = (min if better == "lower" else max)(means.values())
    leader = next(name for name, mean in means.items() if mean == top)
    tests = {name: pairs.result(scenario, metric, leader, name) for name in means}
    best = {name for name, mean in means.items() if mean == top or ((test := tests[name]) and not test[1])}
    return best if len(best) < len(means) else set()


def pairwise_tests(here: pd.DataFrame, objectives: Objectives) -> Table:
    """Every pair of autoscalers of one scenario, metric by metric."""
    caption = "Pairwise tests (Welch, Holm's correction within a metric)"
    if len(here) > MOST_TESTS:
        here = here[here["metric"].isin(_DECISIVE)]
        caption += "; only the metrics that decide the ranking, the others are in tests.parquet"

    def row(test: Mapping[str, Any]) -> tuple[Cell, ...]:
        metric = str(test["metric"])
        p, corrected = number(test["p"]), number(test["p_holm"])
        significant = bool(test["significant"]) and corrected is not None
        return (
            Cell(title_of(metric)),
            Cell(str(test["a"]), autoscaler=str(test["a"])),
            Cell(str(test["b"]), autoscaler=str(test["b"])),
            Cell(quantity(number(test["difference"]), unit_of(metric, objectives))),
            Cell(p_value(p)),
            Cell(p_value(corrected)),
            Cell("significant" if significant else "not tested" if corrected is None else "not significant"),
        )

    columns = (
        Column("Metric"),
        Column("a"),
        Column("b"),
        Column("a − b", numeric=True),
        Column("p", numeric=True),
        Column("p (Holm)", numeric=True),
        Column("Difference"),
    )
    return Table(caption, columns, tuple(row(test) for test in records(here)))


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.41), p_value(1e-9), p_value(None)
    ('0.41', '< 0.001', '–')
    """
    return NONE if p is None else format_p(p).removeprefix("p ").removeprefix("= ")
