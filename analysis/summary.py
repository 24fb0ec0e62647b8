"""What the runs' figures say about experiments: means with their intervals, and which autoscalers differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.catalogue import METRICS
from analysis.runs import RunRecord
from analysis.statistics import ALPHA, Floats, estimate, holm, welch
from experiments.schema import RESULT_TABLES

#: What autoscalers are tested for: every metric with a better direction, and throughput, in which all should agree.
TESTED = tuple(name for name, metric in METRICS.items() if metric.better != "neither" or name == "throughput")


def run_summary(runs: Sequence[RunRecord], figures: pd.DataFrame) -> pd.DataFrame:
    """A row a run and metric, in the order of runs and catalogue; what a run has no value for is left out."""
    rows = [
        (run.run_id, run.experiment, run.seed, metric, value)
        for run, values in zip(runs, figures.loc[[run.run_id for run in runs], list(METRICS)].to_numpy(), strict=True)
        for metric, value in zip(METRICS, values, strict=True)
    ]
    table = pd.DataFrame(rows, columns=RESULT_TABLES["run_summary"].names)
    return table.dropna(subset=["value"], ignore_index=True)


def samples(values: pd.DataFrame) -> dict[tuple[str, str], Floats]:
    """The repetitions' values by experiment and metric, in the order of the table."""
    gathered: dict[tuple[str, str], list[float]] = {}
    for experiment, metric, value in zip(values["experiment"], values["metric"], values["value"], strict=True):
        gathered.setdefault((experiment, metric), []).append(value)
    return {key: np.array(found) for key, found in gathered.items()}


def summary(runs: Sequence[RunRecord], values: pd.DataFrame, *, suite: str, cost_unit: str) -> pd.DataFrame:
    """A row an experiment and metric: mean, spread and confidence interval over the repetitions."""
    first = {run.experiment: run for run in reversed(runs)}
    rows = []
    for (experiment, metric), sample in samples(values).items():
        run = first[experiment]
        unit = cost_unit if metric == "cost" else METRICS[metric].unit
        names = (suite, experiment, run.job, run.workload, run.autoscaler, run.place, metric, unit)
        rows.append((*names, *astuple(estimate(sample))))
    return pd.DataFrame(rows, columns=RESULT_TABLES["summary"].names)


def pairwise_tests(runs: Sequence[RunRecord], values: pd.DataFrame) -> pd.DataFrame:
    """Welch's test of every pair of autoscalers on the same job, workload and place, metric by metric.

    The pairs of one metric in one such setting are a family for Holm's correction: together they
    answer one question, which of these autoscalers differ in this metric.
    """
    found = samples(values)
    settings: dict[tuple[str, str, str], dict[str, str]] = {}
    for run in runs:
        settings.setdefault(run.setting, {})[run.autoscaler] = run.experiment
    rows: list[tuple[object, ...]] = []
    for setting, experiments in settings.items():
        for metric in TESTED:
            by_autoscaler = {
                autoscaler: found[experiment, metric]
                for autoscaler, experiment in experiments.items()
                if (experiment, metric) in found
            }
            pairs = list(combinations(by_autoscaler.items(), 2))
            p_values = [welch(left, right) for (_, left), (_, right) in pairs]
            for ((a, left), (b, right)), p, corrected in zip(pairs, p_values, holm(p_values), strict=True):
                significant = corrected is not None and corrected < ALPHA
                rows.append((*setting, metric, a, b, left.mean() - right.mean(), p, corrected, significant))
    return pd.DataFrame(rows, columns=RESULT_TABLES["tests"].names)
