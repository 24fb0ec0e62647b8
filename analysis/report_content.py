"""Everything a report says, in the order it is said; how it looks is up to the renderers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from analysis import report_findings as findings
from analysis import report_tables
from analysis.cost import Objectives
from analysis.figures import Scenario, figures_of
from analysis.ranking import Pairs, Ranking, rank
from analysis.report_model import ReportContext, Tables
from analysis.report_numbers import count, quantity
from analysis.report_tables import Table
from analysis.report_verdict import BestAt, Field, best_at, verdict


@dataclass(frozen=True, slots=True)
class ScenarioContent:
    """One job under one workload in one place."""

    scenario: Scenario
    anchor: str
    title: str
    full_title: str
    """With the place, where the campaign ran in several."""
    verdict: str
    ranking: Ranking
    field: Field
    baseline: str | None
    ranked: Table
    metrics: Table
    tests: Table
    experiments: Mapping[str, str]
    """Experiment ids by autoscaler."""


@dataclass(frozen=True, slots=True)
class Content:
    """The whole report."""

    context: ReportContext
    baseline: str | None
    """The suite's baseline, if it has results."""
    verdict: str
    objectives: str
    size: str
    notices: tuple[tuple[str, str], ...]
    """What must not be overlooked: (text, anchor of where it is told)."""
    ranking: Ranking | None
    ranked: Table | None
    overview: Table | None
    """Where there are several scenarios: who stands where."""
    best: tuple[BestAt, ...]
    scenarios: tuple[ScenarioContent, ...]
    regressions: Table | None
    regressions_in_words: str
    comparison: Table | None
    comparison_tally: str
    failed: Table | None
    experiments: Table
    tables: Tables


def build(context: ReportContext, tables: Tables) -> Content:
    """Put the tables into words and order."""
    objectives = context.objectives
    fields = figures_of(tables["summary"])
    rankings = rank(tables["summary"], tables["tests"], objectives)
    overall = rankings[0] if rankings else None
    known = {name for field in fields.values() for name in field}
    baseline = context.baseline if context.baseline in known else None
    everything = list(fields.values())
    pairs = Pairs(tables["tests"])
    by_scenario = {ranking.scenario: ranking for ranking in rankings[1:]}
    scenarios = tuple(
        _scenario(
            f"scenario-{index}",
            by_scenario[scenario],
            fields[scenario],
            baseline,
            context=context,
            tables=tables,
            pairs=pairs,
        )
        for index, scenario in enumerate(_in_suite_order(fields, context), 1)
    )
    compared, regressed = tables["comparison"], tables["regressions"]
    return Content(
        context=context,
        baseline=baseline,
        verdict=verdict(overall, objectives, baseline, everything),
        objectives=objectives_in_words(objectives),
        size=_size(context),
        notices=tuple(_notices(context, int((regressed["verdict"] == "regression").sum()))),
        ranking=overall,
        ranked=report_tables.ranked(overall, objectives, baseline, everything) if overall else None,
        overview=_overview(overall, scenarios) if overall and len(scenarios) > 1 else None,
        best=tuple(best_at(overall, objectives, fields, pairs)) if overall and len(overall.standings) > 1 else (),
        scenarios=scenarios,
        regressions=None if regressed.empty else findings.regressions(regressed, context.experiments),
        regressions_in_words=findings.regressions_in_words(regressed),
        comparison=None if compared.empty else findings.comparison(compared, objectives),
        comparison_tally=f"{compared['reproduced'].eq(True).sum()} of {count(len(compared), 'published figure')}",
        failed=findings.failed(context.failed) if context.failed else None,
        experiments=findings.experiments(context.experiments),
        tables=tables,
    )


def _scenario(
    anchor: str,
    ranking: Ranking,
    field: Field,
    baseline: str | None,
    *,
    context: ReportContext,
    tables: Tables,
    pairs: Pairs,
) -> ScenarioContent:
    scenario = ranking.scenario
    assert scenario is not None, "a scenario's ranking names it"
    objectives = context.objectives
    baseline = baseline if baseline in field else None
    order = [standing.autoscaler for standing in ranking.standings]
    summary = tables["summary"]
    here = summary[_within(summary, scenario)]
    title = f"{scenario.job} under {scenario.workload}"
    return ScenarioContent(
        scenario=scenario,
        anchor=anchor,
        title=title,
        full_title=f"{title}, {scenario.place}" if len(context.places) > 1 else title,
        verdict=verdict(ranking, objectives, baseline, [field]),
        ranking=ranking,
        field=field,
        baseline=baseline,
        ranked=report_tables.ranked(ranking, objectives, baseline, [field]),
        metrics=report_tables.metrics(scenario, field, order, pairs, objectives),
        tests=report_tables.pairwise_tests(tables["tests"][_within(tables["tests"], scenario)], objectives),
        experiments=dict(zip(here["autoscaler"], here["experiment"], strict=True)),
    )


def _overview(overall: Ranking, scenarios: Iterable[ScenarioContent]) -> Table:
    order = [standing.autoscaler for standing in overall.standings]
    return report_tables.overview([(one.full_title, one.anchor, one.ranking) for one in scenarios], order)


def _within(frame: pd.DataFrame, scenario: Scenario) -> pd.Series[bool]:
    return (
        (frame["job"] == scenario.job) & (frame["workload"] == scenario.workload) & (frame["place"] == scenario.place)
    )


def _in_suite_order(fields: Iterable[Scenario], context: ReportContext) -> list[Scenario]:
    """As the suite names them; what it does not name follows by name."""
    named = dict.fromkeys(experiment.scenario for experiment in context.experiments)
    found = set(fields)
    return [*(scenario for scenario in named if scenario in found), *sorted(found - set(named))]


def _size(context: ReportContext) -> str:
    experiments = count(len(context.experiments), "experiment")
    finished = sum(experiment.finished for experiment in context.experiments)
    return f"{experiments}, {count(finished, 'finished run')}"


def _notices(context: ReportContext, worse: int) -> Iterator[tuple[str, str]]:
    planned = sum(experiment.planned for experiment in context.experiments)
    missing = sum(max(0, experiment.planned - experiment.finished) for experiment in context.experiments)
    if context.failed:
        of = f" of {planned:,}" if planned >= len(context.failed) else ""
        yield f"{len(context.failed)}{of} {'runs' if planned != 1 else 'run'} failed.", "failed"
    elif missing:
        yield f"{missing} of {count(planned, 'run')} are missing: this report is of what is there.", "experiments"
    if worse:
        yield f"{count(worse, 'figure')} got worse against the nights before.", "regressions"


_BOUNDS = {
    "latency_mean_s": ("mean latency", "s"),
    "latency_p50_s": ("median latency", "s"),
    "latency_p95_s": ("p95 latency", "s"),
    "latency_p99_s": ("p99 latency", "s"),
    "backlog": ("backlog", "events"),
}


def objectives_in_words(objectives: Objectives) -> str:
    """
    >>> objectives_in_words(Objectives(latency_p95_s=1.0, worker_hour=0.06, currency="USD")).replace("\\xa0", " ")
    'p95 latency ≤ 1 s in all but 5 % of the seconds; a worker-hour at 0.0600 USD'
    """
    bounds = [f"{_BOUNDS[name][0]} ≤ {quantity(bound, _BOUNDS[name][1])}" for name, bound in objectives.bounds.items()]
    parts = []
    if bounds:
        allowed = objectives.allowed_violations
        kept = f"in all but {quantity(allowed, 'share')} of the seconds" if allowed else "in every second"
        parts.append(f"{' and '.join(bounds)} {kept}")
    else:
        parts.append("no objective, so cost alone decides")
    if objectives.worker_hour is not None:
        parts.append(f"a worker-hour at {quantity(objectives.worker_hour, objectives.currency)}")
    if objectives.node_hour is not None:
        parts.append(f"a node-hour at {quantity(objectives.node_hour, objectives.currency)}")
    if objectives.violation_minute is not None:
        parts.append(f"a violated minute at {quantity(objectives.violation_minute, objectives.currency)}")
    if not objectives.priced:
        parts.append("no price, so cost is counted in worker-hours")
    return "; ".join(parts)
