"""The ranking as a table in the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from math import floor, log10
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

if TYPE_CHECKING:
    from analysis.figures import Figure
    from analysis.ranking import Ranking


#: Columns of a terminal from which on a sentence fits beside the figures.
_ROOMY = 120


def title(ranking: Ranking) -> str:
    if ranking.scenario is None:
        return "all scenarios"
    scenario = ranking.scenario
    return f"{scenario.job} · {scenario.workload} · {scenario.place}"


def table(ranking: Ranking, cost_unit: str, width: int) -> Table:
    """One line an autoscaler, best first; the words on confidence only where there is room for them."""
    shown = Table(title=title(ranking), title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    shown.add_column("", no_wrap=True)
    shown.add_column("autoscaler", overflow="fold")
    for heading in (cost_unit, "violations", "workers", "p95", "actions"):
        shown.add_column(heading, justify="right", no_wrap=True)
    from analysis.report_numbers import quantity

    share = partial(quantity, unit="share")
    roomy = width >= _ROOMY
    if roomy:
        shown.add_column("confidence")
    money = _money(standing.cost.mean for standing in ranking.standings)
    for standing in ranking.standings:
        cells = [
            standing.rank,
            standing.autoscaler,
            _with_interval(standing.cost, money.format),
            _with_interval(standing.violations, share),
            _number(standing.mean_workers, "{:.1f}"),
            quantity(standing.latency_p95, "s"),
            _number(standing.scaling_actions, "{:.0f}"),
            standing.confidence,
        ]
        shown.add_row(*(cells if roomy else cells[:-1]), style="" if standing.meets else "dim")
    if any(not standing.meets for standing in ranking.standings):
        shown.caption = "dim: misses the objectives"
        shown.caption_justify = "left"
    return shown


def as_json(ranking: Ranking) -> dict[str, Any]:
    return {"scenario": title(ranking), "standings": [asdict(standing) for standing in ranking.standings]}


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _money(costs: Iterable[float | None]) -> str:
    """Cents, or as many decimals as it takes to tell the costs of short runs apart.

    >>> _money([4.41, 3.9]), _money([0.0022, 0.00087]), _money([None])
    ('{:.2f}', '{:.5f}', '{:.2f}')
    """
    highest = max((cost for cost in costs if cost), default=1.0)
    return f"{{:.{max(2, 2 - floor(log10(highest)))}f}}"


def _with_interval(figure: Figure, show: Callable[[float], str]) -> str:
    if figure.mean is None:
        return "–"
    text = show(figure.mean)
    # the upper half: the lower one may be cut at zero
    return text if figure.high is None else f"{text} ±{show(figure.high - figure.mean)}"
