"""Figures with their uncertainty: what the summary says of each experiment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean
from typing import Any

import pandas as pd


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of an experiment: the mean over runs with its confidence interval; None where nothing was measured."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Scenario:
    """What the autoscalers are compared on."""

    job: str
    workload: str
    place: str


#: Metrics that may be negative. No interval of another reaches below zero, whatever the formula says.
SIGNED = frozenset({"jitter"})

Figures = dict[str, Figure]
"""One experiment's figures by metric."""


def figures_of(summary: pd.DataFrame) -> dict[Scenario, dict[str, Figures]]:
    """The summary by scenario, autoscaler and metric."""
    figures: dict[Scenario, dict[str, Figures]] = {}
    for row in records(summary):
        scenario = Scenario(str(row["job"]), str(row["workload"]), str(row["place"]))
        experiment = figures.setdefault(scenario, {}).setdefault(str(row["autoscaler"]), {})
        metric, runs = str(row["metric"]), int(number(row.get("n")) or 0)
        low, mean, high = (number(row.get(name)) for name in ("ci_low", "mean", "ci_high"))
        if low is not None and metric not in SIGNED:
            low = max(0.0, low)
        experiment[metric] = Figure(mean, low, high, runs)
    return figures


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows, by column name."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def number(value: object) -> float | None:
    """A finite figure, or None.

    >>> number(float("nan")), number(3), number(None)
    (None, 3.0, None)
    """
    if isinstance(value, float | Real) and math.isfinite(value):  # float first: it is the quicker question
        return float(value)
    return None


def total(parts: Sequence[Figure]) -> Figure:
    """The sum of independent figures: half-widths add up as squares do.

    >>> total([Figure(10, 7, 13, 5), Figure(20, 16, 24, 5)])
    Figure(mean=30.0, low=25.0, high=35.0, n=5)
    """
    means = [part.mean for part in parts if part.mean is not None]
    if len(means) < len(parts):
        return Figure()
    mean = math.fsum(means)
    below = [part.mean - part.low for part in parts if part.mean is not None and part.low is not None]
    above = [part.high - part.mean for part in parts if part.mean is not None and part.high is not None]
    bounded = len(below) == len(above) == len(parts)
    return Figure(
        mean,
        mean - math.hypot(*below) if bounded else None,
        mean + math.hypot(*above) if bounded else None,
        min(part.n for part in parts),
    )


def average(parts: Sequence[Figure]) -> Figure:
    whole, count = total(parts), len(parts)
    low, mean, high = (None if x is None else x / count for x in (whole.low, whole.mean, whole.high))
    return Figure(mean, low, high, whole.n)


def mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
