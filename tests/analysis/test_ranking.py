from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from analysis.cost import Objectives
from analysis.figures import Figure, average, total
from analysis.ranking import Ranking, format_p, rank, rule
from experiments.schema import SUMMARY, TESTS

LATENCY = Objectives(latency_p95_s=1.0, worker_hour=0.1, currency="USD")


def summary(
    figures: dict[str, tuple[float | None, float | None]], *, n: int = 5, workload: str = "day", half: float = 0.01
) -> pd.DataFrame:
    """Cost and violation share of each autoscaler."""
    rows = []
    for autoscaler, (cost, violations) in figures.items():
        keys = ("s", f"{workload}-{autoscaler}", "yahoo", workload, autoscaler, "simulated")
        for metric, value in (("cost", cost), ("slo_violation_share", violations), ("mean_workers", 4.0)):
            known = value is not None and n > 1
            low, high = (value - half, value + half) if known else (math.nan, math.nan)
            rows.append((*keys, metric, "", n, math.nan if value is None else value, half, low, high))
    return pd.DataFrame(rows, columns=SUMMARY.names)


def compared(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    return pd.DataFrame(
        [("yahoo", "day", "simulated", metric, a, b, 0.0, p, p, p < 0.05) for metric, a, b, p in rows],
        columns=TESTS.names,
    )


NO_TESTS = compared()


def order(ranking: Ranking) -> list[tuple[str, str]]:
    return [(standing.rank, standing.autoscaler) for standing in ranking.standings]


def test_those_that_meet_come_first_by_cost_and_the_others_follow_by_violations() -> None:
    figures = {"cheap": (1.0, 0.30), "cheaper": (0.5, 0.40), "dear": (9.0, 0.0), "fair": (3.0, 0.05)}
    overall, scenario = rank(summary(figures), NO_TESTS, LATENCY)
    assert order(scenario) == [("1", "fair"), ("2", "dear"), ("3", "cheap"), ("4", "cheaper")]
    assert [standing.meets for standing in scenario.standings] == [True, True, False, False]
    assert order(overall) == order(scenario)
    assert overall.scenario is None


def test_without_an_objective_all_meet_and_cost_decides() -> None:
    figures = {"a": (2.0, 1.0), "b": (1.0, None)}
    _, scenario = rank(summary(figures), NO_TESTS, Objectives())
    assert order(scenario) == [("1", "b"), ("2", "a")]
    assert all(standing.meets for standing in scenario.standings)
    assert "objectives" not in rule(Objectives())
    assert "objectives" in rule(LATENCY)


def test_unknown_violations_do_not_meet_an_objective() -> None:
    _, scenario = rank(summary({"a": (1.0, None), "b": (2.0, 0.9)}), NO_TESTS, LATENCY)
    assert order(scenario) == [("1", "b"), ("2", "a")]
    assert scenario.standings[1].violations.mean is None


@pytest.mark.parametrize("turned", [False, True])
def test_what_does_not_differ_significantly_shares_a_place(turned: bool) -> None:
    pairs = [("cost", "a", "b", 0.41), ("cost", "a", "c", 0.003), ("cost", "b", "c", 0.0001)]
    if turned:
        pairs = [(metric, b, a, p) for metric, a, b, p in pairs]
    _, scenario = rank(summary({"a": (1.0, 0.0), "b": (1.1, 0.0), "c": (2.0, 0.0)}), compared(*pairs), LATENCY)
    assert order(scenario) == [("1=", "a"), ("1=", "b"), ("3", "c")]
    assert [one.confidence for one in scenario.standings] == ["tie with b (p = 0.41)", "clear (p < 0.001)", "last"]
    assert [one.mean_rank for one in scenario.standings] == [1.5, 1.5, 3.0]


def test_a_chain_of_ties_ends_where_the_first_of_the_group_differs() -> None:
    pairs = compared(("cost", "a", "b", 0.3), ("cost", "b", "c", 0.3), ("cost", "a", "c", 0.01))
    _, scenario = rank(summary({"a": (1.0, 0.0), "b": (1.5, 0.0), "c": (2.0, 0.0)}), pairs, LATENCY)
    assert order(scenario) == [("1=", "a"), ("1=", "b"), ("3", "c")]


def test_a_tie_never_spans_meeting_and_missing() -> None:
    pairs = compared(("slo_violation_share", "a", "b", 0.6), ("cost", "a", "b", 0.9))
    _, scenario = rank(summary({"a": (1.0, 0.049), "b": (1.0, 0.051)}), pairs, LATENCY)
    assert order(scenario) == [("1", "a"), ("2", "b")]
    assert scenario.standings[0].confidence == "b misses, perhaps by chance (p = 0.60)"


def test_one_run_is_not_tested() -> None:
    _, scenario = rank(summary({"a": (1.0, 0.0), "b": (2.0, 0.0)}, n=1), NO_TESTS, LATENCY)
    assert [one.confidence for one in scenario.standings] == ["one run: no test", "last"]
    assert scenario.standings[0].cost == Figure(1.0, None, None, 1)


def test_a_test_of_another_metric_or_place_decides_nothing() -> None:
    elsewhere = compared(("cost", "a", "b", 0.9)).assign(place="local")
    for pairs in (compared(("latency_p95", "a", "b", 0.9)), elsewhere):
        _, scenario = rank(summary({"a": (1.0, 0.0), "b": (2.0, 0.0)}), pairs, LATENCY)
        assert order(scenario) == [("1", "a"), ("2", "b")]
        assert scenario.standings[0].confidence == "not tested"


def test_nothing_in_nothing_out() -> None:
    assert rank(pd.DataFrame(columns=SUMMARY.names), NO_TESTS, LATENCY) == []


def test_over_all_scenarios_meeting_counts_first_then_the_mean_rank_and_the_cost_adds_up() -> None:
    day = {"a": (1.0, 0.0), "b": (2.0, 0.0), "c": (3.0, 0.0)}
    night = {"a": (2.0, 0.0), "b": (1.5, 0.5), "c": (4.0, 0.0)}
    tables = pd.concat([summary(day, half=0.3), summary(night, workload="night", half=0.4)])
    overall, *_ = rank(tables, compared(("cost", "a", "c", 0.001)), LATENCY)
    expected = {"a": (1 + 1) / 2, "b": (2 + 3) / 2, "c": (3 + 2) / 2}
    assert {one.autoscaler: one.mean_rank for one in overall.standings} == expected
    # b and c have the same mean rank, but b misses the objectives at night
    assert order(overall) == [("1", "a"), ("2", "c"), ("3", "b")]
    best = overall.standings[0]
    assert best.cost.mean == pytest.approx(3.0)
    assert best.cost.low == pytest.approx(3.0 - 0.5)
    assert (best.met, best.scenarios, overall.standings[2].meets) == (2, 2, False)
    assert best.confidence == "ahead of c in 2 of 2 scenarios, clearly in 1"


def test_who_did_not_finish_every_scenario_follows_those_who_did() -> None:
    tables = pd.concat(
        [summary({"a": (1.0, 0.0), "b": (2.0, 0.0)}), summary({"b": (2.0, 0.0)}, workload="night")], ignore_index=True
    )
    overall, *_ = rank(tables, NO_TESTS, LATENCY)
    assert [(one.autoscaler, one.scenarios) for one in overall.standings] == [("b", 2), ("a", 1)]


shares = st.floats(0, 1).map(lambda value: round(value, 3))
costs = st.floats(0.01, 100).map(lambda value: round(value, 2))
fields = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(costs, shares), min_size=1)


@given(fields, st.data())
def test_the_order_is_lawful_whatever_the_figures(figures: dict[str, tuple[float, float]], data: st.DataObject) -> None:
    pairs = [
        ("cost" if metric else "slo_violation_share", a, b, data.draw(st.sampled_from([0.001, 0.04, 0.2, 1.0])))
        for a, b in itertools.combinations(sorted(figures), 2)
        for metric in (True, False)
    ]
    table, tests = summary(figures), compared(*pairs)
    _, scenario = rank(table, tests, LATENCY)
    standings = scenario.standings
    assert sorted(one.autoscaler for one in standings) == sorted(figures)
    assert [one.meets for one in standings] == sorted((share <= 0.05 for _, share in figures.values()), reverse=True)
    for meets, position in ((True, 0), (False, 1)):
        values = [figures[one.autoscaler][position] for one in standings if one.meets is meets]
        assert values == sorted(values)
    # Places count whoever is ahead, and mid-ranks are what statistics makes of shared places.
    places = [int(one.rank.rstrip("=")) for one in standings]
    assert places == sorted(places)
    assert [one.mean_rank for one in standings] == list(rankdata(places))
    assert all(("=" in one.rank) == (places.count(place) > 1) for one, place in zip(standings, places, strict=True))
    shuffled = table.sample(frac=1, random_state=3).reset_index(drop=True)
    assert rank(shuffled, tests.iloc[::-1], LATENCY)[1] == scenario


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 10)), min_size=1, max_size=6))
def test_a_total_has_the_spread_of_independent_parts(parts: list[tuple[float, float]]) -> None:
    figures = [Figure(mean, mean - half, mean + half, 5) for mean, half in parts]
    means, halves = np.array(parts).T
    whole, mean = total(figures), average(figures)
    assert whole.mean == pytest.approx(means.sum(), abs=1e-6)
    assert whole.high - whole.mean == pytest.approx(np.sqrt((halves**2).sum()), abs=1e-6)
    assert mean.mean == pytest.approx(means.mean(), abs=1e-6)
    assert total([*figures, Figure()]) == Figure()


def test_p_values_are_rounded_without_crossing_the_line() -> None:
    assert [format_p(p) for p in (0.0004, 0.003, 0.0496, 0.0999, 1.0)] == [
        "p < 0.001",
        "p = 0.003",
        "p = 0.050",
        "p = 0.10",
        "p = 1.00",
    ]
