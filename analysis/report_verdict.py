"""The campaign's outcome in words: who should run the job, and who is best at what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.cost import Objectives
from analysis.figures import Figures, Scenario, mean_of
from analysis.ranking import COST, Pairs, Ranking, Standing, format_p
from analysis.report_numbers import NONE, change, count, quantity

Field = Mapping[str, Figures]
"""The figures of each autoscaler in one scenario."""


@dataclass(frozen=True, slots=True)
class BestAt:
    """Who is best at one thing."""

    title: str
    autoscalers: tuple[str, ...]
    value: str
    note: str


def relative_cost(autoscaler: str, baseline: str | None, fields: Sequence[Field]) -> float | None:
    """The cost against the baseline's, over the scenarios that both have; None without any."""
    if baseline is None or autoscaler == baseline:
        return None
    ours = theirs = 0.0
    for field in fields:
        if autoscaler in field and baseline in field:
            a, b = (field[name][COST].mean if COST in field[name] else None for name in (autoscaler, baseline))
            if a is None or b is None:
                return None
            ours, theirs = ours + a, theirs + b
    return ours / theirs - 1 if theirs > 0 else None


def verdict(ranking: Ranking | None, objectives: Objectives, baseline: str | None, fields: Sequence[Field]) -> str:
    """One sentence that answers which autoscaler to take."""
    if ranking is None:
        return "No run finished, so there is nothing to rank."
    words = _Words(ranking, objectives, baseline, fields)
    if len(fields) > 1:
        return words.over_scenarios()
    return words.one_scenario()


@dataclass(frozen=True, slots=True)
class _Words:
    ranking: Ranking
    objectives: Objectives
    baseline: str | None
    fields: Sequence[Field]

    def one_scenario(self) -> str:
        standings = self.ranking.standings
        first = [one for one in standings if one.rank == standings[0].rank]
        best = first[0]
        price = self._price(first)
        if not best.meets:
            closest = "" if len(standings) == 1 else "No autoscaler meets the objectives; "
            missed = "comes closest, violating" if closest else "misses the objectives: it violates"
            allowed = quantity(self.objectives.allowed_violations, "share")
            share = quantity(best.violations.mean, "share")
            return (
                f"{closest}{best.autoscaler} {missed} them in {share} of the seconds ({allowed} allowed), at {price}."
            )
        verb = "serves" if len(first) == 1 else "serve"
        what = f"{verb} the objectives" if self.objectives.bounds else "runs" if len(first) == 1 else "run"
        if len(standings) == 1:
            return f"{best.autoscaler} {what} at {price}."
        tie = "" if len(first) == 1 else ", too close to call"
        return f"{_names(first)} {what} at the lowest cost{tie}: {price}."

    def over_scenarios(self) -> str:
        best, rivals = self.ranking.standings[0], self.ranking.standings
        everywhere = [one for one in rivals if one.meets and one.scenarios == len(self.fields)]
        cheapest = min(everywhere, key=lambda one: (one.cost.mean is None, one.cost.mean), default=None)
        scenarios = count(len(self.fields), "scenario")
        what = "serves the objectives" if self.objectives.bounds else "runs"
        if cheapest is not None and cheapest.autoscaler == best.autoscaler:
            everywhere_in = "both scenarios" if len(self.fields) == 2 else f"all {scenarios}"
            return f"{best.autoscaler} {what} in {everywhere_in} at the lowest cost: {self._price([best])}."
        ranks = f"{best.autoscaler} ranks best over {scenarios} (mean rank {best.mean_rank:.1f})"
        if cheapest is None:
            met = f"meets the objectives in {best.met} of its {best.scenarios}"
            return f"No autoscaler meets the objectives everywhere; {ranks} and {met}, at {self._price([best])}."
        least = f"{cheapest.autoscaler} costs least in total: {self._price([cheapest])}"
        return f"{ranks}, at {self._price([best])}; {least}."

    def _price(self, standings: Sequence[Standing]) -> str:
        unit = self.objectives.cost_unit
        costs = list(dict.fromkeys(quantity(one.cost.mean, unit) for one in standings))
        span = costs[0] if len(costs) == 1 else f"{costs[0]} {'and' if len(costs) == 2 else 'to'} {costs[-1]}"
        each = "a run" if len(self.fields) == 1 else "for a run of each"
        relative = self._relative(standings[0]) if len(standings) == 1 else ""
        return f"{span} {each}{relative}"

    def _relative(self, standing: Standing) -> str:
        difference = relative_cost(standing.autoscaler, self.baseline, self.fields)
        if standing.autoscaler == self.baseline:
            return ", and it is the baseline"
        if difference is None:
            return ""
        size = change(abs(difference)).lstrip("+±")
        if size.startswith("0"):
            return f", as much as {self.baseline}"
        return f", {size} {'below' if difference < 0 else 'above'} {self.baseline}"


def _names(standings: Sequence[Standing]) -> str:
    names = [one.autoscaler for one in standings]
    if len(names) > 3:
        names = [*names[:3], f"{len(names) - 3} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


#: What one can be best at: the metrics whose sum counts, whether scenarios add up, and what the figure means.
_DISCIPLINES: tuple[tuple[str, tuple[str, ...], bool, str], ...] = (
    ("Lowest cost", (COST,), True, "{}"),
    ("Lowest latency", ("latency_p95",), False, "p95 {}"),
    ("Steadiest", ("scaling_actions",), False, "{} actions a run"),
    ("Quickest recovery", ("recovery_time",), False, "{} to catch up"),
    ("Closest to demand", ("accuracy_over", "accuracy_under"), False, "{} off on average"),
)
_UNITS = {"latency_p95": "s", "scaling_actions": "", "recovery_time": "s", "accuracy_over": "share"}


def best_at(ranking: Ranking, objectives: Objectives, fields: Mapping[Scenario, Field], pairs: Pairs) -> list[BestAt]:
    """Who leads in each discipline; one that nobody was measured in is left out."""
    most = max(standing.scenarios for standing in ranking.standings)
    rivals = {one.autoscaler: one for one in ranking.standings if one.scenarios == most}
    found = []
    for title, metrics, summed, wording in _DISCIPLINES:
        by_scenario = {
            scenario: {name: value for name in rivals if (value := _value(field.get(name), metrics)) is not None}
            for scenario, field in fields.items()
        }
        means = {name: mean_of([values.get(name) for values in by_scenario.values() if values]) for name in rivals}
        scores = {name: mean for name, mean in means.items() if mean is not None}
        if not scores:
            continue
        lowest = min(scores.values())
        winners = tuple(name for name, score in scores.items() if score == lowest)
        figure = lowest * len(by_scenario) if summed else lowest
        unit = objectives.cost_unit if metrics == (COST,) else _UNITS[metrics[0]]
        notes = [] if len(winners) > 1 else [_lead(winners[0], metrics, by_scenario, pairs)]
        if not all(rivals[name].meets for name in winners):
            notes.append("misses the objectives")
        text = wording.format(quantity(figure, unit)) if figure is not None else NONE
        found.append(BestAt(title, winners, text, "; ".join(note for note in notes if note)))
    return found


def _value(figures: Figures | None, metrics: tuple[str, ...]) -> float | None:
    if figures is None:
        return None
    parts = [figures[metric].mean if metric in figures else None for metric in metrics]
    known = [part for part in parts if part is not None]
    # Who never scales is not steady but fixed, and has nothing to recover from.
    if len(known) < len(parts) or (metrics == ("scaling_actions",) and known == [0.0]):
        return None
    return sum(known)


def _lead(
    winner: str, metrics: tuple[str, ...], by_scenario: Mapping[Scenario, Mapping[str, float]], pairs: Pairs
) -> str:
    """What the lead is worth: its test in a single scenario, else the scenarios it holds in."""
    if len(by_scenario) > 1:
        won = sum(bool(values) and values.get(winner) == min(values.values()) for values in by_scenario.values())
        return f"best in {won} of {len(by_scenario)} scenarios"
    ((scenario, values),) = by_scenario.items()
    others = sorted((value, name) for name, value in values.items() if name != winner)
    if not others or len(metrics) > 1:
        return ""
    test = pairs.result(scenario, metrics[0], winner, others[0][1])
    if test is None:
        return ""
    return f"clear ({format_p(test[0])})" if test[1] else f"tie with {others[0][1]} ({format_p(test[0])})"
