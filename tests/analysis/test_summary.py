"""Means and pairwise tests from per-run values, against scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.catalogue import METRICS
from analysis.runs import RunRecord
from analysis.summary import pairwise_tests, run_summary, summary

RNG = np.random.default_rng(1)
SAMPLES = {"hpa": RNG.normal(10, 1, 5), "daedalus": RNG.normal(8, 1, 5), "static": np.full(5, 12.0)}


def campaign(samples: dict[str, np.ndarray], workload: str = "sine") -> tuple[list[RunRecord], pd.DataFrame]:
    """Runs whose every metric has the given values."""
    runs, figures = [], {}
    for autoscaler, values in samples.items():
        for seed, value in enumerate(values):
            run_id = f"{workload}-{autoscaler}-{seed}"
            experiment = f"{workload}-{autoscaler}"
            runs.append(RunRecord(run_id, Path(), experiment, "yahoo", workload, autoscaler, "local", seed, 60.0))
            figures[run_id] = dict.fromkeys(METRICS, value)
    return runs, pd.DataFrame.from_dict(figures, orient="index")


def test_the_summary_has_every_experiment_and_metric_in_order() -> None:
    runs, figures = campaign(SAMPLES)
    table = summary(runs, run_summary(runs, figures), suite="nightly", cost_unit="EUR")
    assert table["experiment"].unique().tolist() == ["sine-hpa", "sine-daedalus", "sine-static"]
    assert table["metric"].tolist() == [*METRICS] * 3
    hpa = table[(table["autoscaler"] == "hpa") & (table["metric"] == "latency_p95")].iloc[0]
    low, high = stats.t.interval(0.95, 4, loc=SAMPLES["hpa"].mean(), scale=stats.sem(SAMPLES["hpa"]))
    assert (hpa["n"], hpa["mean"]) == (5, pytest.approx(SAMPLES["hpa"].mean()))
    assert (hpa["ci_low"], hpa["ci_high"]) == pytest.approx((low, high))
    assert set(table.loc[table["metric"] == "cost", "unit"]) == {"EUR"}
    assert set(table["suite"]) == {"nightly"}


def test_a_metric_without_values_has_no_row() -> None:
    runs, figures = campaign(SAMPLES)
    figures.loc[figures.index.str.contains("hpa"), "jitter"] = np.nan
    figures.loc["sine-static-0", "jitter"] = np.nan
    table = summary(runs, run_summary(runs, figures), suite="s", cost_unit="").set_index(["autoscaler", "metric"])
    assert ("hpa", "jitter") not in table.index
    assert table.loc[("static", "jitter"), "n"] == 4


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # scipy, on samples without spread
def test_pairs_are_tested_as_scipy_does_and_corrected_within_their_metric() -> None:
    runs, figures = campaign(SAMPLES)
    table = pairwise_tests(runs, run_summary(runs, figures))
    found = table[table["metric"] == "cost"].set_index(["a", "b"])
    pairs = [("hpa", "daedalus"), ("hpa", "static"), ("daedalus", "static")]
    assert found.index.tolist() == pairs
    p_values = [stats.ttest_ind(SAMPLES[a], SAMPLES[b], equal_var=False).pvalue for a, b in pairs]
    assert found["p"].tolist() == pytest.approx(p_values)
    order = np.argsort(p_values)
    corrected = np.empty(3)
    corrected[order] = np.minimum(1, np.maximum.accumulate(np.array(p_values)[order] * [3, 2, 1]))
    assert found["p_holm"].tolist() == pytest.approx(corrected)
    assert found["significant"].tolist() == (corrected < 0.05).tolist()
    assert found.loc[("hpa", "static"), "difference"] == pytest.approx(SAMPLES["hpa"].mean() - 12)


def test_what_only_one_test_of_many_would_find_is_not_significant() -> None:
    samples = {"a": np.array([10.0, 11.0, 12.0]), "b": np.array([12.5, 13.5, 14.5]), "c": np.array([11.0, 12.0, 13.5])}
    runs, figures = campaign(samples)
    table = pairwise_tests(runs, run_summary(runs, figures)).query("metric == 'cost'").set_index(["a", "b"])
    assert table.loc[("a", "b"), "p"] < 0.05 < table.loc[("a", "b"), "p_holm"]
    assert not table["significant"].any()


def test_only_what_judges_is_tested_and_throughput() -> None:
    runs, figures = campaign(SAMPLES)
    tested = set(pairwise_tests(runs, run_summary(runs, figures))["metric"])
    assert "throughput" in tested
    assert not tested & {"jitter", "decision_ms_p99"}
    assert {"cost", "downtime", "accuracy_under"} <= tested


def test_settings_are_not_mixed() -> None:
    runs, figures = campaign({"hpa": SAMPLES["hpa"]})
    more_runs, more_figures = campaign({"daedalus": SAMPLES["daedalus"]}, workload="flash")
    assert pairwise_tests(runs + more_runs, run_summary(runs + more_runs, pd.concat([figures, more_figures]))).empty


def test_one_repetition_gives_a_difference_but_no_p() -> None:
    runs, figures = campaign({"hpa": np.array([3.0]), "static": np.array([5.0])})
    table = pairwise_tests(runs, run_summary(runs, figures))
    assert set(table["difference"]) == {-2.0}
    assert table["p"].isna().all()
    assert not table["significant"].any()


def test_deterministic_runs_differ_or_do_not() -> None:
    runs, figures = campaign({"a": np.full(3, 0.1), "b": np.full(3, 0.1), "c": np.full(3, 0.2)})
    table = pairwise_tests(runs, run_summary(runs, figures))
    found = table[table["metric"] == "cost"].set_index(["a", "b"])["significant"]
    assert found.to_dict() == {("a", "b"): False, ("a", "c"): True, ("b", "c"): True}
