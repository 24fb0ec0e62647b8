"""Published figures against the measured ones: does a paper's table come out?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from analysis.figures import Figures, Scenario, figures_of
from experiments.schema import COMPARISON


@dataclass(frozen=True, slots=True)
class Published:
    """One statement of a paper about a scenario: a value, a bound, a relative change, or an ordering.

    Exactly one of `value`, `at_most`, `change` (with `versus`) and `ordering` is given.
    """

    source: str
    scenario: Scenario
    metric: str
    autoscaler: str = ""
    value: float | None = None
    at_most: float | None = None
    change: float | None = None
    """Relative difference to `versus`: -0.55 is 55 % less."""
    versus: str = ""
    ordering: tuple[str, ...] = ()
    """Autoscalers from the smallest mean to the largest."""
    tolerance: float = 0.0
    """Of a value, relative to it; of a change, in absolute terms."""
    factor: float | None = None
    """Of a value, in place of a tolerance: how many times larger or smaller it may be."""
    note: str = ""

    @property
    def kind(self) -> str:
        if self.ordering:
            return "ordering"
        return "change" if self.change is not None else "bound" if self.at_most is not None else "value"

    @property
    def figure(self) -> float | None:
        """What was published; None for an ordering."""
        return {"change": self.change, "bound": self.at_most, "value": self.value}.get(self.kind)

    @property
    def subject(self) -> str:
        if self.ordering:
            return " < ".join(self.ordering)
        return f"{self.autoscaler} against {self.versus}" if self.versus else self.autoscaler


def compare(summary: pd.DataFrame, statements: Sequence[Published]) -> pd.DataFrame:
    """One row a statement; what was not measured is not reproduced."""
    figures = figures_of(summary)
    rows = [_row(statement, figures.get(statement.scenario, {})) for statement in statements]
    return pd.DataFrame(rows, columns=COMPARISON.names)


def _row(statement: Published, measured: Mapping[str, Figures]) -> dict[str, Any]:
    value, reproduced = _judge(statement, measured)
    return {
        "source": statement.source,
        "job": statement.scenario.job,
        "workload": statement.scenario.workload,
        "autoscaler": statement.subject,
        "metric": statement.metric,
        "kind": statement.kind,
        "published": statement.figure,
        "measured": value,
        "tolerance": statement.tolerance if statement.factor is None else statement.factor - 1,
        "reproduced": reproduced,
        "note": statement.note,
    }


def _judge(statement: Published, measured: Mapping[str, Figures]) -> tuple[float | None, bool]:
    def mean(autoscaler: str) -> float | None:
        figure = measured.get(autoscaler, {}).get(statement.metric)
        return None if figure is None else figure.mean

    if statement.ordering:
        means = [mean(autoscaler) for autoscaler in statement.ordering]
        return None, all(a is not None and b is not None and a < b for a, b in pairwise(means))
    value = mean(statement.autoscaler)
    if statement.change is not None:
        base = mean(statement.versus)
        value = None if value is None or not base else value / base - 1
        return value, value is not None and abs(value - statement.change) <= statement.tolerance
    if statement.at_most is not None:
        return value, value is not None and value <= statement.at_most
    wanted = statement.value or 0.0
    if statement.factor is not None:
        return value, value is not None and wanted / statement.factor <= value <= wanted * statement.factor
    return value, value is not None and abs(value - wanted) <= statement.tolerance * abs(wanted)
