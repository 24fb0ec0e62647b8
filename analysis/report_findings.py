"""The tables beside the ranking: what got worse, what the papers say, what is planned and what failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.cost import Objectives
from analysis.figures import number, records
from analysis.report_model import ExperimentInfo, FailedRun
from analysis.report_numbers import NONE, change, count, quantity
from analysis.report_tables import Cell, Column, Table, p_value, title_of, unit_of

#: The verdicts that are listed, the worst first, and how they are shown.
_TONES = {"regression": "bad", "improvement": "good"}

Row = Mapping[str, Any]


def regressions(rows: pd.DataFrame, experiments: Sequence[ExperimentInfo]) -> Table:
    """What changed against the nights before: what got worse comes first, the largest change on top."""
    labels = {experiment.id: experiment.label for experiment in experiments}

    def badness(found: Row) -> tuple[int, float, str, str]:
        # From nothing to something has no relative size; it counts as the largest.
        change = number(found["change"])
        size = math.inf if change is None else abs(change)
        return list(_TONES).index(found["verdict"]), -size, str(found["experiment"]), str(found["metric"])

    def row(found: Row) -> tuple[Cell, ...]:
        metric, unit, verdict = str(found["metric"]), str(found["unit"] or ""), str(found["verdict"])
        experiment = str(found["experiment"])
        return (
            Cell(labels.get(experiment, experiment)),
            Cell(title_of(metric)),
            Cell(quantity(number(found["before"]), unit)),
            Cell(quantity(number(found["now"]), unit)),
            Cell(change(number(found["change"]))),
            Cell(p_value(number(found["p_holm"]))),
            Cell(verdict, tone=_TONES[verdict]),
        )

    columns = (
        Column("Experiment"),
        Column("Metric"),
        Column("Before", numeric=True),
        Column("Now", numeric=True),
        Column("Change", numeric=True),
        Column("p (Holm)", numeric=True),
        Column("Verdict"),
    )
    ordered = sorted((found for found in records(rows) if found["verdict"] in _TONES), key=badness)
    return Table("Tonight against the nights before", columns, tuple(row(found) for found in ordered))


def regressions_in_words(rows: pd.DataFrame) -> str:
    """How many figures changed, which way, and how many did not."""
    verdicts = Counter(rows["verdict"])
    said = (
        f"Of {count(len(rows), 'figure')} {verdicts['regression']} got worse against the nights before, "
        f"{verdicts['improvement']} got better, and {verdicts['unchanged']} did not change significantly"
    )
    return f"{said}; without history so far: {verdicts['no history']}." if verdicts["no history"] else f"{said}."


def comparison(rows: pd.DataFrame, objectives: Objectives) -> Table:
    """Published against measured, as the rows come: a paper's figures stay together.

    What all rows share is not said in each: the scenario where there is one, the source below the first that has it.
    """
    several = len(rows[["job", "workload"]].drop_duplicates()) > 1
    told = rows["source"].ne(rows["source"].shift()).tolist()

    def row(found: Row, first: bool) -> tuple[Cell, ...]:
        kind, metric = str(found["kind"]), str(found["metric"])
        reproduced = found["reproduced"]
        known = isinstance(reproduced, bool)
        published, measured, tolerance = (number(found[name]) for name in ("published", "measured", "tolerance"))
        return (
            Cell(str(found["source"] or NONE) if first else ""),
            *([Cell(f"{found['job']}, {found['workload']}")] if several else []),
            Cell(str(found["autoscaler"]), autoscaler=str(found["autoscaler"])),
            Cell(title_of(metric), kind if kind != "value" else ""),
            Cell(_compared(published, kind, unit_of(metric, objectives))),
            Cell(_compared(measured, kind, unit_of(metric, objectives))),
            Cell(_off(published, measured) if kind == "value" else NONE),
            Cell(_tolerance(tolerance, kind)),
            Cell("yes" if reproduced else "no", tone="good" if reproduced else "bad") if known else Cell(NONE),
            Cell(str(found["note"] or "")),
        )

    columns = (
        Column("Source"),
        *([Column("Scenario")] if several else []),
        Column("Autoscaler"),
        Column("Figure"),
        Column("Published", numeric=True),
        Column("Measured", numeric=True),
        Column("Off by", numeric=True),
        Column("Tolerance", numeric=True),
        Column("Reproduced"),
        Column("Note"),
    )
    shown = tuple(row(found, first) for found, first in zip(records(rows), told, strict=True))
    return Table("Published against measured", columns, shown)


def _compared(value: float | None, kind: str, unit: str) -> str:
    if kind == "change":
        return change(value)
    return NONE if kind == "ordering" else quantity(value, unit)


def _off(published: float | None, measured: float | None) -> str:
    return change(measured / published - 1) if published and measured is not None else NONE


def _tolerance(tolerance: float | None, kind: str) -> str:
    """Of a value it is relative, of a change it is in percentage points."""
    if kind == "bound":
        return "at most"
    if tolerance is None or kind == "ordering":
        return NONE
    if kind != "change" and tolerance > 1:
        return f"× or ÷ {tolerance + 1:g}"  # an order of magnitude
    return f"±{tolerance * 100:g} points" if kind == "change" else f"±{quantity(tolerance, 'share')}"


def failed(runs: Sequence[FailedRun]) -> Table:
    columns = (Column("Run"), Column("What"), Column("Last line of the error"), Column("Log"))
    rows = tuple((Cell(run.run_id), Cell(run.label), Cell(run.error), Cell(run.log)) for run in runs)
    return Table("Failed runs", columns, rows)


def experiments(planned: Sequence[ExperimentInfo]) -> Table:
    """Every experiment of the suite, so that what is missing is seen."""

    def row(one: ExperimentInfo) -> tuple[Cell, ...]:
        finished = Cell(f"{one.finished} of {one.planned}", tone="" if one.finished >= one.planned else "bad")
        return Cell(one.label), Cell(one.autoscaler, autoscaler=one.autoscaler), finished, Cell(one.id)

    columns = (Column("Experiment"), Column("Autoscaler"), Column("Runs", numeric=True), Column("Id"))
    return Table("Experiments", columns, tuple(row(one) for one in planned))
