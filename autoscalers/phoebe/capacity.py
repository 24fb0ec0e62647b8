"""How much each scale-out can take: ridge regression over what profiling saw at some of them.

Reference
---------
Geldenhuys et al. (Phoebe, ICWS 2022): the capacity model; the authors' code (dos-group/phoebe) leaves the penalty to
scikit-learn's cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoscalers.model import Floats


@dataclass(frozen=True, slots=True)
class CapacityModel:
    """A straight line: events/s over workers.

    >>> model = CapacityModel.fitted([2, 5, 8, 11], [41_000, 99_000, 161_000, 219_000])
    >>> model.of([4, 14]).round(-3).tolist()
    [80000.0, 279000.0]
    """

    intercept: float
    slope: float

    @classmethod
    def fitted(cls, workers: Sequence[int], throughput: Sequence[float]) -> CapacityModel:
        """From the throughput under overload; a single scale-out makes a line through the origin."""
        if len(set(workers)) == 1:
            return cls(0.0, float(np.mean(throughput)) / workers[0])
        from sklearn.linear_model import RidgeCV

        model = RidgeCV().fit(np.array(workers, dtype=np.float64)[:, None], np.array(throughput))
        return cls(float(model.intercept_), float(model.coef_[0]))

    def of(self, workers: Sequence[int]) -> Floats:
        """Events/s; a line that is steep enough to fall below nothing stops there."""
        return np.maximum(self.intercept + self.slope * np.array(workers, dtype=np.float64), 0.0)
