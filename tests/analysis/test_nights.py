"""What a night reports, and what it leaves to chance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats

from analysis import results
from analysis.catalogue import METRICS
from analysis.nights import regressions
from experiments.schema import REGRESSIONS

Night = Callable[..., Path]


@pytest.fixture
def night(tmp_path: Path) -> Night:
    def write(name: str, **metrics: list[float]) -> Path:
        rows = [
            (f"{name}-{seed}", "yahoo-hpa", seed, metric, value)
            for metric, values in metrics.items()
            for seed, value in enumerate(values)
        ]
        results.write(
            tmp_path / name,
            "run_summary",
            pd.DataFrame(rows, columns=["run_id", "experiment", "seed", "metric", "value"]),
        )
        return tmp_path / name

    return write


def verdict(table: pd.DataFrame, metric: str) -> str:
    return str(table.set_index("metric").loc[metric, "verdict"])


def test_a_figure_that_got_worse_is_a_regression(night: Night) -> None:
    before = [night("n1", cost=[1.0, 1.1, 0.9], downtime=[9.0, 10.0, 11.0]), night("n2", cost=[1.05, 0.95, 1.0])]
    tonight = night("n3", cost=[2.0, 2.1, 1.9], downtime=[9.5, 10.0, 10.5])
    table = regressions(tonight, before)
    cost = table.set_index("metric").loc["cost"]
    pooled = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0]
    assert cost["p"] == pytest.approx(stats.ttest_ind([2.0, 2.1, 1.9], pooled, equal_var=False).pvalue)
    assert cost["p_holm"] == pytest.approx(2 * cost["p"])
    assert (cost["before"], cost["now"], cost["change"]) == pytest.approx((1.0, 2.0, 1.0))
    assert cost["verdict"] == "regression"
    assert verdict(table, "downtime") == "unchanged"
    assert pq.read_schema(tonight / "regressions.parquet").equals(REGRESSIONS)
    pd.testing.assert_frame_equal(results.read(tonight, "regressions"), table)


def test_less_is_an_improvement(night: Night) -> None:
    table = regressions(night("n2", cost=[1.0, 1.1, 0.9]), [night("n1", cost=[2.0, 2.1, 1.9])])
    assert verdict(table, "cost") == "improvement"
    assert table["change"].item() == pytest.approx(-0.5)


def test_every_metric_with_a_direction_is_judged_and_no_other(night: Night) -> None:
    values = {name: [1.0, 2.0] for name in METRICS}
    table = regressions(night("n2", **values), [night("n1", **values)])
    assert set(table["metric"]) == {name for name, metric in METRICS.items() if metric.better != "neither"}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ([3.0, 3.0, 3.0], [3.0, 3.0], "unchanged"),
        ([0.3, 0.3, 0.3], [0.1 + 0.2] * 2, "unchanged"),
        ([3.0, 3.0, 3.0], [4.0, 4.0], "regression"),
        ([0.0, 0.0], [0.0, 0.0], "unchanged"),
        ([0.0, 0.0], [1.0, 1.0], "regression"),
        ([3.0, 3.0], [3.0], "unchanged"),
        ([3.0, 3.0], [2.0], "improvement"),
        ([3.0, 3.1, 2.9, 3.0], [3.05], "unchanged"),
        ([3.0, 3.1, 2.9, 3.0], [9.0], "regression"),
        ([3.0], [3.0], "unchanged"),
        ([3.0], [4.0], "no history"),
    ],
)
def test_few_or_constant_values(night: Night, before: list[float], now: list[float], expected: str) -> None:
    assert verdict(regressions(night("n2", cost=now), [night("n1", cost=before)]), "cost") == expected


def test_without_history_nothing_is_claimed(night: Night, tmp_path: Path) -> None:
    table = regressions(night("n1", cost=[1.0, 2.0]), [tmp_path / "a night that failed"])
    assert verdict(table, "cost") == "no history"
    assert table[["before", "change", "p", "p_holm"]].isna().all(axis=None)
    assert table["now"].item() == 1.5


def test_only_the_last_fortnight_counts(night: Night) -> None:
    old = [night(f"old{index}", cost=[100.0, 100.0]) for index in range(3)]
    recent = [night(f"recent{index:02}", cost=[1.0, 1.0]) for index in range(14)]
    table = regressions(night("tonight", cost=[1.0, 1.0]), old + recent)
    assert table["before"].item() == 1
    assert verdict(table, "cost") == "unchanged"


def test_nights_without_a_change_rarely_report_one(night: Night) -> None:
    """Over many nights of pure chance, at most about one in twenty reports anything."""
    rng = np.random.default_rng(7)
    judged = [name for name, metric in METRICS.items() if metric.better != "neither"]
    nights = [night(f"n{index:03}", **{name: rng.normal(10, 1, 5).tolist() for name in judged}) for index in range(74)]
    alarms = sum(
        bool((regressions(nights[index], nights[index - 14 : index])["p_holm"] < 0.05).any()) for index in range(14, 74)
    )
    assert alarms <= 9


def test_the_unit_of_cost_is_the_suites(night: Night) -> None:
    tonight = night("n2", cost=[1.0, 1.0], downtime=[1.0, 1.0])
    names = ("nightly", "yahoo-hpa", "yahoo", "sine", "hpa", "simulated", "cost", "EUR", 2, 1.0, 0.0, 1.0, 1.0)
    columns = ["suite", "experiment", "job", "workload", "autoscaler", "place", "metric", "unit", "n", "mean", "std"]
    results.write(tonight, "summary", pd.DataFrame([names], columns=[*columns, "ci_low", "ci_high"]))
    units = regressions(tonight, []).set_index("metric")["unit"]
    assert units.to_dict() == {"cost": "EUR", "downtime": "s"}
