"""Small statistics on the runs' figures: intervals, Welch's test, Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
ALPHA = 0.05

#: Figures that differ by less than this share are the same figure, summed in another order.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of some repetitions with Student's 95 % interval; a single one has neither spread nor interval."""

    n: int
    mean: float
    std: float | None
    ci_low: float | None
    ci_high: float | None


def estimate(values: ArrayLike) -> Estimate:
    """Mean, standard deviation (n − 1) and confidence interval.

    >>> found = estimate([4.0, 5.0, 6.0])
    >>> found.mean, found.std, round(found.ci_low, 3), round(found.ci_high, 3)
    (5.0, 1.0, 2.516, 7.484)
    >>> estimate([4.0])
    Estimate(n=1, mean=4.0, std=None, ci_low=None, ci_high=None)
    """
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if sample.size < 2:
        return Estimate(sample.size, mean, None, None, None)
    std = math.sqrt(_variance(sample))
    half = float(stdtrit(sample.size - 1, (1 + CONFIDENCE) / 2)) * std / math.sqrt(sample.size)
    return Estimate(sample.size, mean, std, mean - half, mean + half)


def welch(a: ArrayLike, b: ArrayLike) -> float | None:
    """Two-sided p-value of Welch's test that a and b have the same mean; None if either has fewer than two values.

    Samples without any spread, as deterministic runs give them, are the same (p = 1) or not (p = 0).

    >>> welch([1.0, 1.0, 1.0], [1.0, 1.0]), welch([1.0, 1.0, 1.0], [2.0, 2.0])
    (1.0, 0.0)
    """
    left, right = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if min(left.size, right.size) < 2:
        return None
    difference = float(left.mean() - right.mean())
    error_left, error_right = _variance(left) / left.size, _variance(right) / right.size
    error = error_left + error_right
    if error == 0:
        return float(same(left.mean(), right.mean()))
    freedom = error**2 / (error_left**2 / (left.size - 1) + error_right**2 / (right.size - 1))
    return float(2 * stdtr(freedom, -abs(difference) / math.sqrt(error)))


def new_value(value: float, history: ArrayLike) -> float | None:
    """Two-sided p-value that one new value comes from where the history does; None if that has fewer than two values.

    Student's test with one value on one side, since Welch's needs a spread on both.

    >>> new_value(3.0, [3.0, 3.0]), new_value(4.0, [3.0, 3.0])
    (1.0, 0.0)
    """
    sample = np.asarray(history, dtype=float)
    if sample.size < 2:
        return None
    error = math.sqrt(_variance(sample) * (1 + 1 / sample.size))
    if error == 0:
        return float(same(value, sample.mean()))
    return float(2 * stdtr(sample.size - 1, -abs(value - sample.mean()) / error))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction of a family of tests; what could not be tested is not in the family.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    tested = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        corrected[index] = largest
    return corrected


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=SAME, abs_tol=0.0)


def _variance(sample: Floats) -> float:
    """With n − 1; exactly zero where the values differ by rounding alone."""
    if same(float(sample.min()), float(sample.max())):
        return 0.0
    return float(sample.var(ddof=1))
