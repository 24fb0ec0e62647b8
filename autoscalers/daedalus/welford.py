"""Running means, variances and covariances: Welford's algorithm, a batch of observations at a time.

A batch is joined to what was seen before by the deviations from the means before and after it, which is Welford's
step for many observations at once and exact for batches of any size.

Reference
---------
Welford (1962), Note on a Method for Calculating Corrected Sums of Squares and Products; used by Pfister et al.
(Daedalus, ICPE 2024, sections 3.1 and 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from autoscalers.model import Floats


@dataclass(slots=True)
class Moments:
    """Mean and variance of one quantity.

    >>> seen = Moments()
    >>> seen.update(np.array([1.0, 2.0])); seen.update(np.array([6.0, np.nan]))
    >>> seen.count, seen.mean, seen.variance
    (3, 3.0, 7.0)
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared deviations from the mean."""

    def update(self, values: Floats) -> None:
        """More observations; those that are NaN were not made."""
        known = values[np.isfinite(values)]
        if known.size == 0:
            return
        self.count += known.size
        from_old = known - self.mean
        self.mean += float(from_old.sum()) / self.count
        self.squares += float((from_old * (known - self.mean)).sum())

    @property
    def variance(self) -> float:
        """Of the sample; NaN below two observations."""
        return self.squares / (self.count - 1) if self.count > 1 else float("nan")


@dataclass(slots=True)
class Regressions:
    """Simple linear regressions y = a + b x, one for each of several columns.

    >>> line = Regressions(1)
    >>> x = np.array([[0.2], [0.4], [0.8]])
    >>> line.update(x[:2], 100 * x[:2] - 5); line.update(x[2:], 100 * x[2:] - 5)
    >>> float(line.predict(np.array([1.0]))[0].round(6))
    95.0
    """

    columns: int
    count: Floats = field(init=False)
    mean_x: Floats = field(init=False)
    mean_y: Floats = field(init=False)
    squares_x: Floats = field(init=False)
    """Sums of squared deviations of x."""
    products: Floats = field(init=False)
    """Sums of products of the deviations of x and y."""

    def __post_init__(self) -> None:
        self.count, self.mean_x, self.mean_y, self.squares_x, self.products = np.zeros((5, self.columns))

    def update(self, x: Floats, y: Floats) -> None:
        """More observations, [t, column]; a pair with a NaN was not made."""
        known = np.isfinite(x) & np.isfinite(y)
        x, y = np.where(known, x, 0.0), np.where(known, y, 0.0)
        self.count = self.count + known.sum(axis=0)
        seen = np.maximum(self.count, 1)
        from_x = np.where(known, x - self.mean_x, 0.0)
        from_y = np.where(known, y - self.mean_y, 0.0)
        self.mean_x = self.mean_x + from_x.sum(axis=0) / seen
        self.mean_y = self.mean_y + from_y.sum(axis=0) / seen
        self.squares_x = self.squares_x + (from_x * (x - self.mean_x)).sum(axis=0)
        self.products = self.products + (from_x * (y - self.mean_y)).sum(axis=0)

    @property
    def spread(self) -> Floats:
        """Standard deviation of x."""
        return np.asarray(np.sqrt(np.maximum(self.squares_x, 0.0) / np.maximum(self.count - 1, 1)))

    @property
    def slope(self) -> Floats:
        """cov(x, y) / var(x); NaN where x never differed."""
        nothing = np.full(self.columns, np.nan)
        slopes: Floats = np.divide(self.products, self.squares_x, out=nothing, where=self.squares_x > 0)
        return slopes

    def predict(self, x: Floats) -> Floats:
        """y at one x for each column: mean(y) - slope mean(x) + slope x."""
        return np.asarray(self.mean_y + self.slope * (x - self.mean_x))
