from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.cost import Objectives
from analysis.figures import Figure, Figures, Scenario
from analysis.palette import marks
from analysis.plots_tradeoff import Point, pareto, trade_off
from analysis.ranking import Pairs, Ranking, Standing
from analysis.report_content import build
from analysis.report_model import Tables
from analysis.report_numbers import change, interval, quantity
from analysis.report_verdict import best_at, relative_cost, verdict

USD = Objectives(latency_p95_s=1.0, worker_hour=0.06, currency="USD")


def standing(rank: str, autoscaler: str, cost: float, violations: float = 0.0, **changes: object) -> Standing:
    facts: dict[str, object] = {
        "meets": violations <= 0.05,
        "mean_workers": 4.0,
        "latency_p95": 0.3,
        "scaling_actions": 5.0,
        "confidence": "",
        "mean_rank": float(rank.rstrip("=")),
        "met": int(violations <= 0.05),
        "scenarios": 1,
    }
    figures = {"cost": Figure(cost, cost, cost, 5), "violations": Figure(violations, violations, violations, 5)}
    return Standing(rank=rank, autoscaler=autoscaler, **figures, **(facts | changes))


def field(**costs: float) -> dict[str, Figures]:
    return {name: {"cost": Figure(cost, n=5)} for name, cost in costs.items()}


def said(standings: list[Standing], *fields: dict[str, Figures], objectives: Objectives = USD) -> str:
    ranking = Ranking(None, tuple(standings))
    return verdict(ranking, objectives, "static", fields).replace("\N{NO-BREAK SPACE}", " ")


def test_a_clear_winner_is_named_with_its_cost_against_the_baseline() -> None:
    found = said([standing("1", "hpa", 0.21), standing("2", "static", 0.39)], field(hpa=0.21, static=0.39))
    assert found == "hpa serves the objectives at the lowest cost: 0.210 USD a run, 46 % below static."


def test_a_tie_is_called_one() -> None:
    tied = [standing("1=", "hpa", 0.21), standing("1=", "ds2", 0.22), standing("3", "static", 0.39)]
    found = said(tied, field(hpa=0.21, ds2=0.22, static=0.39))
    assert (
        found
        == "hpa and ds2 serve the objectives at the lowest cost, too close to call: 0.210 USD and 0.220 USD a run."
    )


def test_where_all_miss_the_closest_is_named() -> None:
    found = said([standing("1", "hpa", 0.5, 0.12), standing("2", "static", 0.4, 0.3)], field(hpa=0.5, static=0.4))
    assert found == (
        "No autoscaler meets the objectives; hpa comes closest, violating them in 12 % of the seconds "
        "(5 % allowed), at 0.500 USD a run, 25 % above static."
    )


def test_without_objectives_the_words_are_about_cost_alone() -> None:
    found = said(
        [standing("1", "hpa", 12.0), standing("2", "static", 24.0)],
        field(hpa=12.0, static=24.0),
        objectives=Objectives(),
    )
    assert found == "hpa runs at the lowest cost: 12 worker h a run, 50 % below static."


def test_the_baseline_itself_may_win() -> None:
    found = said([standing("1", "static", 0.2), standing("2", "hpa", 0.3)], field(hpa=0.3, static=0.2))
    assert found.endswith("0.200 USD a run, and it is the baseline.")


def test_nothing_finished() -> None:
    assert verdict(None, USD, None, []) == "No run finished, so there is nothing to rank."


def test_cost_is_compared_over_the_scenarios_that_both_have() -> None:
    fields = [field(a=1.0, static=2.0), field(a=1.0), field(static=8.0)]
    assert relative_cost("a", "static", fields) == pytest.approx(-0.5)
    assert relative_cost("a", None, fields) is None
    assert relative_cost("b", "static", fields) is None


def test_who_never_scales_is_not_called_steady() -> None:
    figures = {"static": (3.0, 0.0), "hpa": (2.0, 9.0), "ds2": (1.0, 4.0)}
    only = {
        name: {"cost": Figure(cost, n=5), "scaling_actions": Figure(actions, n=5)}
        for name, (cost, actions) in figures.items()
    }
    ranking = Ranking(None, tuple(standing("1", name, cost) for name, (cost, _) in figures.items()))
    scenario = Scenario("yahoo", "day", "simulated")
    empty = Tables.load(Path("nowhere"))["tests"]
    best = {one.title: one for one in best_at(ranking, USD, {scenario: only}, Pairs(empty))}
    assert best["Steadiest"].autoscalers == ("ds2",)
    assert best["Lowest cost"].autoscalers == ("ds2",)
    assert "Quickest recovery" not in best


@example(1.8e306, "share")
@given(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(["s", "share", "events/s", "events", "worker s", "workers", "USD", "ms", "1/h", ""]),
)
def test_a_quantity_reads_as_a_number_or_a_dash(value: float, unit: str) -> None:
    shown = quantity(value, unit)
    if not math.isfinite(100 * value if unit == "share" else value):
        assert shown == "–"
    else:
        figure = shown.split("\N{NO-BREAK SPACE}")[0]
        assert re.fullmatch(r"−?(<0\.0001|<0\.01|[\d,]+(\.\d{1,6})?)", figure)


@given(st.floats(1e-3, 1e9), st.sampled_from(["s", "events/s", "worker s", "USD"]))
def test_rounding_keeps_the_size(value: float, unit: str) -> None:
    figure, *suffix = quantity(value, unit).split("\N{NO-BREAK SPACE}")
    scales = {"ms": 1e-3, "min": 60, "h": 3600, "k": 1e3, "M": 1e6, "G": 1e9}
    scale = math.prod(scales.get(part, 1) for part in suffix)
    assert float(figure.replace(",", "")) * scale == pytest.approx(value, rel=0.006)


def test_intervals_and_changes() -> None:
    assert interval(Figure(0.21, 0.198, 0.2249, 5), "USD") == "0.198\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}0.225"
    assert interval(Figure(0.21, 0.198, 0.2249, 1), "USD") == ""
    assert interval(Figure(0.0, 0.0, 0.0, 5), "share") == "no spread"
    assert [change(value) for value in (-0.46, 1.42, None)] == ["−46\xa0%", "+142\xa0%", "–"]


coordinates = st.tuples(st.integers(0, 20), st.integers(0, 20))


@given(st.lists(coordinates, min_size=1, max_size=12))
def test_the_front_holds_exactly_what_nothing_beats(places: list[tuple[int, int]]) -> None:
    points = [Point(str(i), Figure(float(x)), Figure(float(y)), meets=True) for i, (x, y) in enumerate(places)]
    front = {places[int(point.autoscaler)] for point in pareto(points)}

    def beaten(x: int, y: int) -> bool:
        return any((a <= x and b <= y) and (a, b) != (x, y) for a, b in places)

    assert front == {place for place in places if not beaten(*place)}


def test_the_trade_off_marks_who_misses_and_where_the_line_is() -> None:
    standings = [standing("1", "hpa", 1.0, 0.01), standing("2", "ds2", 0.5, 0.2)]
    picture = trade_off(standings, marks(["hpa", "ds2"], None), USD)
    assert picture is not None
    dots = {trace["name"]: trace["marker"]["symbol"] for trace in picture.data if "name" in trace}
    assert dots == {"hpa": "circle", "ds2": "square-open"}
    assert [shape["y1"] for shape in picture.layout["shapes"]] == [5.0, 5.0]
    named = [note["text"] for note in picture.layout["annotations"] if note.get("name") == "name"]
    assert sorted(named) == ["ds2", "hpa"]
    assert not picture.keyed
    assert trade_off([], {}, USD) is None


def test_scenarios_come_in_the_suites_order(tmp_path: Path, campaign: type) -> None:
    context = campaign(jobs=["yahoo", "wordcount"], workloads=["flash crowd"], repetitions=2).write(tmp_path)
    content = build(context, Tables.load(tmp_path))
    assert [one.title for one in content.scenarios] == ["yahoo under flash crowd", "wordcount under flash crowd"]
    assert content.size == "8 experiments, 16 finished runs"
