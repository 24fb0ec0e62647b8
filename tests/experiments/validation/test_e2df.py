"""The tables of E2DF on the authors' load: where nodes go, where operators live, and what is asked for wrongly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscalers.model import RegionView
from experiments.validation import e2df, homes


def test_nodes_are_packed_scattered_or_empty() -> None:
    totals = dict.fromkeys(e2df.PARTS, 0.0)
    e2df._add_nodes(totals, RegionView(nodes=6, idle=1, unmet=0, booting=1, free=5, slots=2))
    assert totals == {"packed": 3, "scattered": 1, "empty": 2}, "five replicas on four nodes, where three would do"


def test_both_tables_are_there() -> None:
    figures = e2df.published()
    assert len(figures) == 6 + 10
    assert set(figures) <= set(e2df.combinations())
    assert all(set(row) == set(e2df.METRICS) for row in figures.values())


def test_four_operators_can_live_in_three_regions_in_14_ways() -> None:
    assert len(set(homes.ways(4, 3))) == 14
    assert {frozenset(way) for way in homes.ways(4, 3)} == {frozenset(range(count)) for count in (1, 2, 3)}


def test_all_that_table_1_reports_is_measured() -> None:
    found = e2df.measured(e2df.combinations()["static/threshold"], np.full(120, 300.0), {"nodes": 10.0})
    assert found["slo_violation_share"] < 0.1
    assert 0 < found["reconfigured_share"] < 0.2
    assert found["mean_nodes"] == pytest.approx(30, abs=0.2), "from 12 nodes a region to 10, after a minute"
    assert sum(found[part] for part in e2df.PARTS) == pytest.approx(found["mean_nodes"], abs=0.5)


def test_the_suites_own_load_is_that_of_their_runs() -> None:
    run = replace(e2df.combinations()["rl/rl"], duration_s=86_400)
    rates = e2df.suite_rates(run)
    assert rates.size == 1440
    assert 0 <= rates.min() < 100 < 450 < rates.max() <= 700


@pytest.mark.parametrize("wrong", [[], ["no-such-file"], [__file__, "rl/nothing"], [__file__, "no_such_name=1"]])
def test_wrong_arguments_are_told_in_one_line(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert e2df.main(wrong) == 2
    assert capsys.readouterr().err.startswith("write: python -m experiments.validation.e2df")


@pytest.mark.parametrize("wrong", [[], ["no-such-file"], [__file__, "more"]])
def test_so_are_those_about_homes(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert homes.main(wrong) == 2
    assert capsys.readouterr().err.startswith("write: python -m experiments.validation.homes")
