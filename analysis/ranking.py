"""Who comes first: the autoscalers of each scenario in order, and over all scenarios.

Within a scenario (job, workload, place) an autoscaler meets the objectives if its mean share of violating
seconds is at most what the suite allows. Those that meet them are ordered by cost, those that miss them
follow, ordered by violations.

Two rules decide what a place in the order is worth:

- An autoscaler whose difference to the first of its group is not significant shares that one's place ("2=").
  It is compared with the first of the group and not with its neighbour, because a chain of neighbours that
  each tie would call everything equal. A group never spans the line between meeting and missing.
- Over all scenarios, who meets the objectives in more of them comes first: a low cost somewhere does not make up
  for objectives missed elsewhere. Then the mean rank counts, where those who share a place get the mean of the
  places they fill.
  An autoscaler that did not finish every scenario follows those that did: its mean is over easier company.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

import pandas as pd

from analysis.cost import Objectives
from analysis.figures import Figure, Figures, Scenario, average, figures_of, mean_of, number, records, total
from analysis.statistics import same

COST = "cost"
VIOLATIONS = "slo_violation_share"

_SHARED = "a place is shared (=) where the difference to the first of the group is not significant."


@dataclass(frozen=True, slots=True)
class Standing:
    """One autoscaler's place, in a scenario or over all of them."""

    rank: str
    """The place as shown: "1", or "2=" where it is shared."""
    autoscaler: str
    meets: bool
    """Whether the objectives are met; over all scenarios, in every one."""
    cost: Figure
    """In the objectives' cost unit; over all scenarios the total, a run each."""
    violations: Figure
    mean_workers: float | None
    latency_p95: float | None
    scaling_actions: float | None
    confidence: str
    """What the place is worth against the next one, in words."""
    mean_rank: float
    met: int
    """Scenarios whose objectives are met."""
    scenarios: int
    """Scenarios with results."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The autoscalers in order."""

    scenario: Scenario | None
    """None for all scenarios together."""
    standings: tuple[Standing, ...]


def rank(summary: pd.DataFrame, tests: pd.DataFrame, objectives: Objectives) -> list[Ranking]:
    """Over all scenarios first, then each scenario; empty without results."""
    figures = figures_of(summary)
    if not figures:
        return []
    pairs = Pairs(tests)
    scenarios = [_rank_scenario(scenario, figures[scenario], pairs, objectives) for scenario in sorted(figures)]
    return [_rank_overall(scenarios, pairs), *scenarios]


class Pairs:
    """The tests of one autoscaler against another, in either order."""

    def __init__(self, tests: pd.DataFrame) -> None:
        self._results: dict[tuple[Scenario, str, frozenset[str]], tuple[float, bool]] = {}
        for row in records(tests):
            p = number(row.get("p_holm"))
            if p is not None:
                scenario = Scenario(str(row["job"]), str(row["workload"]), str(row["place"]))
                pair = frozenset((str(row["a"]), str(row["b"])))
                self._results[scenario, str(row["metric"]), pair] = (p, bool(row["significant"]))

    def result(self, scenario: Scenario, metric: str, a: str, b: str) -> tuple[float, bool] | None:
        """Holm's p and whether the difference is significant; None where there was no test."""
        return self._results.get((scenario, metric, frozenset((a, b))))


def format_p(p: float) -> str:
    """
    >>> format_p(0.41), format_p(0.0496), format_p(1e-9)
    ('p = 0.41', 'p = 0.050', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"


def meets_objectives(violations: Figure, objectives: Objectives) -> bool:
    if not objectives.bounds:
        return True
    return violations.mean is not None and violations.mean <= objectives.allowed_violations


def rule(objectives: Objectives) -> str:
    """How the ranking comes about, in one sentence."""
    if not objectives.bounds:
        return f"The cheapest autoscaler comes first; {_SHARED}"
    return (
        "Autoscalers that keep the objectives come first, cheapest first; those that miss them follow, "
        f"fewest violations first; {_SHARED}"
    )


def _rank_scenario(scenario: Scenario, field: dict[str, Figures], pairs: Pairs, objectives: Objectives) -> Ranking:
    def standing(autoscaler: str, figures: Figures) -> Standing:
        violations = figures.get(VIOLATIONS, Figure())
        meets = meets_objectives(violations, objectives)
        return Standing(
            rank="",
            autoscaler=autoscaler,
            meets=meets,
            cost=figures.get(COST, Figure()),
            violations=violations,
            mean_workers=figures.get("mean_workers", Figure()).mean,
            latency_p95=figures.get("latency_p95", Figure()).mean,
            scaling_actions=figures.get("scaling_actions", Figure()).mean,
            confidence="last",
            mean_rank=math.nan,
            met=int(meets),
            scenarios=1,
        )

    ordered = sorted((standing(*item) for item in field.items()), key=_order)
    duels = _Duels(scenario, pairs)
    confidence = [duels.confidence(ahead, behind) for ahead, behind in pairwise(ordered)]
    confidence.append("last" if len(ordered) > 1 else "alone")
    worded = [replace(one, confidence=text) for one, text in zip(ordered, confidence, strict=True)]
    return Ranking(scenario, tuple(_placed(_groups(worded, duels.tied))))


def _order(standing: Standing) -> tuple[bool, float, float, str]:
    cost = math.inf if standing.cost.mean is None else standing.cost.mean
    violations = math.inf if standing.violations.mean is None else standing.violations.mean
    first, second = (cost, violations) if standing.meets else (violations, cost)
    return not standing.meets, first, second, standing.autoscaler


def _groups(ordered: Iterable[Standing], tied: Callable[[Standing, Standing], bool]) -> list[list[Standing]]:
    """Each group holds the ones that tie with its first."""
    groups: list[list[Standing]] = []
    for standing in ordered:
        if groups and tied(groups[-1][0], standing):
            groups[-1].append(standing)
        else:
            groups.append([standing])
    return groups


def _placed(groups: Iterable[Sequence[Standing]], *, keep_mean_rank: bool = False) -> Iterator[Standing]:
    place = 1
    for group in groups:
        shared = "=" if len(group) > 1 else ""
        for standing in group:
            mean_rank = standing.mean_rank if keep_mean_rank else place + (len(group) - 1) / 2
            yield replace(standing, rank=f"{place}{shared}", mean_rank=mean_rank)
        place += len(group)


@dataclass(frozen=True, slots=True)
class _Duels:
    """Two autoscalers of one scenario against each other, in the metric that orders them."""

    scenario: Scenario
    pairs: Pairs

    def _metric(self, ahead: Standing, behind: Standing) -> str:
        return COST if ahead.meets and behind.meets else VIOLATIONS

    def _test(self, ahead: Standing, behind: Standing) -> tuple[float, bool] | None:
        return self.pairs.result(self.scenario, self._metric(ahead, behind), ahead.autoscaler, behind.autoscaler)

    def _equal(self, ahead: Standing, behind: Standing) -> bool:
        first, second = _order(ahead)[1], _order(behind)[1]
        return math.isfinite(first) and same(first, second)

    def tied(self, ahead: Standing, behind: Standing) -> bool:
        if ahead.meets != behind.meets:
            return False
        test = self._test(ahead, behind)
        return self._equal(ahead, behind) or (test is not None and not test[1])

    def clear(self, ahead: Standing, behind: Standing) -> bool:
        test = self._test(ahead, behind)
        return test is not None and test[1]

    def confidence(self, ahead: Standing, behind: Standing) -> str:
        if min(max(one.cost.n, one.violations.n) for one in (ahead, behind)) <= 1:
            return "one run: no test"
        test = self._test(ahead, behind)
        if ahead.meets and not behind.meets:
            if test is None:
                return f"{behind.autoscaler} misses (not tested)"
            return f"{behind.autoscaler} misses, {'clearly' if test[1] else 'perhaps by chance'} ({format_p(test[0])})"
        if self._equal(ahead, behind):
            return f"equal to {behind.autoscaler}"
        if test is None:
            return "not tested"
        return f"clear ({format_p(test[0])})" if test[1] else f"tie with {behind.autoscaler} ({format_p(test[0])})"


def _rank_overall(scenarios: Sequence[Ranking], pairs: Pairs) -> Ranking:
    if len(scenarios) == 1:
        return Ranking(None, scenarios[0].standings)
    by_autoscaler: dict[str, dict[Scenario, Standing]] = {}
    for ranking in scenarios:
        for standing in ranking.standings:
            if ranking.scenario is not None:
                by_autoscaler.setdefault(standing.autoscaler, {})[ranking.scenario] = standing
    overall = [_over_all(list(one.values())) for one in by_autoscaler.values()]

    def order(standing: Standing) -> tuple[int, int, float, float, str]:
        cost = math.inf if standing.cost.mean is None else standing.cost.mean
        return -standing.scenarios, -standing.met, standing.mean_rank, cost, standing.autoscaler

    ordered = sorted(overall, key=order)

    def confidence(ahead: Standing, behind: Standing) -> str:
        ours, theirs = by_autoscaler[ahead.autoscaler], by_autoscaler[behind.autoscaler]
        common = [scenario for scenario in ours if scenario in theirs]
        if not common:
            return f"no scenario in common with {behind.autoscaler}"
        won = [scenario for scenario in common if _order(ours[scenario]) < _order(theirs[scenario])]
        clear = sum(_Duels(one, pairs).clear(ours[one], theirs[one]) for one in won)
        return f"ahead of {behind.autoscaler} in {len(won)} of {len(common)} scenarios, clearly in {clear}"

    confidences = [*(confidence(ahead, behind) for ahead, behind in pairwise(ordered)), "last"]
    worded = [replace(one, confidence=text) for one, text in zip(ordered, confidences, strict=True)]
    groups = _groups(worded, lambda a, b: (a.scenarios, a.met, a.mean_rank) == (b.scenarios, b.met, b.mean_rank))
    return Ranking(None, tuple(_placed(groups, keep_mean_rank=True)))


def _over_all(standings: Sequence[Standing]) -> Standing:
    """One autoscaler over its scenarios: the cost adds up, everything else is averaged."""
    met = sum(standing.meets for standing in standings)
    return Standing(
        rank="",
        autoscaler=standings[0].autoscaler,
        meets=met == len(standings),
        cost=total([standing.cost for standing in standings]),
        violations=average([standing.violations for standing in standings]),
        mean_workers=mean_of([standing.mean_workers for standing in standings]),
        latency_p95=mean_of([standing.latency_p95 for standing in standings]),
        scaling_actions=mean_of([standing.scaling_actions for standing in standings]),
        confidence="",
        mean_rank=fmean(standing.mean_rank for standing in standings),
        met=met,
        scenarios=len(standings),
    )
