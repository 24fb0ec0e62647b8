"""How late results are: gradient boosting over scale-out and throughput, and what counts as late.

Latencies fall into two classes, found by clustering their logarithms: those of a job that keeps up, and those of one
that does not. What was seen while profiling is only the start; the run adds its own observations.

Reference
---------
Geldenhuys et al. (Phoebe, ICWS 2022): the latency model. Depth 10, three trees an observation and two clusters by
Birch are those of the authors' code (dos-group/phoebe). Their scaling of latencies before the logarithm is left out:
its quantile range of 0 to 1 per cent makes the unit an accident of the two smallest values.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Flags, Floats

DEPTH = 10
TREES_PER_OBSERVATION = 3
#: Boosting ends early once what is left of the latencies' variance is this share: further trees change nothing.
_NEGLIGIBLE = 1e-10


@dataclass(slots=True)
class LatencyModel:
    """Observations so far; models are made anew whenever they are asked after new ones.

    >>> model = LatencyModel(seed=1)
    >>> for workers, rate, latency in [(2, 10, 1.0), (4, 10, 1.1), (2, 50, 30.0), (4, 50, 1.2)]:
    ...     model.add(workers, rate, latency)
    >>> latencies, low = model.at(np.array([2, 4]), 50.0)
    >>> low.tolist()
    [False, True]
    """

    seed: int
    _seen: list[tuple[float, float, float]] = field(default_factory=list)
    _trees: Any = None
    _border: float = float("inf")
    """The logarithm of a latency above which it belongs to the late ones."""

    @property
    def observations(self) -> int:
        return len(self._seen)

    def add(self, workers: int, throughput: float, latency_s: float) -> None:
        """One spell: mean throughput and mean latency at a scale-out."""
        if np.isfinite(throughput) and np.isfinite(latency_s) and latency_s > 0.0:
            self._seen.append((float(workers), throughput, latency_s))
            self._trees = None

    def at(self, workers: NDArray[np.int64], throughput: float) -> tuple[Floats, Flags]:
        """The latencies of scale-outs at a throughput, and which of them are of the low class."""
        if self._trees is None:
            self._fit()
        latencies = np.asarray(self._trees.predict(np.column_stack([workers, np.full(len(workers), throughput)])))
        return latencies, np.log(np.maximum(latencies, _LEAST_S)) <= self._border

    def _fit(self) -> None:
        import sklearn
        from sklearn.ensemble import GradientBoostingRegressor

        seen = np.array(self._seen)
        latency = seen[:, 2]
        self._border = border(latency)
        enough = float(latency.var()) * _NEGLIGIBLE
        trees = GradientBoostingRegressor(
            max_depth=DEPTH, n_estimators=TREES_PER_OBSERVATION * len(seen), random_state=self.seed
        )
        with sklearn.config_context(skip_parameter_validation=True, assume_finite=True):  # checks a tree take as long
            self._trees = trees.fit(
                seen[:, :2], latency, monitor=lambda step, fit, _: bool(fit.train_score_[step] <= enough)
            )


def prepare() -> None:
    """Load what models are made with, which takes a second."""
    import sklearn.cluster
    import sklearn.ensemble
    import sklearn.linear_model  # noqa: F401


def border(latency: Floats) -> float:
    """The logarithm that divides two clusters of latencies; infinite if they are all alike.

    >>> round(float(np.exp(border(np.array([1.0, 1.1, 1.2, 1.4, 16.0, 40.0])))), 1)
    4.7
    >>> border(np.array([1.0, 1.1, 1.2]))
    inf
    """
    from sklearn.cluster import Birch

    logs = np.log(latency)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer than two clusters is an answer, too
        label = Birch(n_clusters=2).fit_predict(logs[:, None])
    if np.unique(label).size < 2:
        return float("inf")
    late = label == label[np.argmax(logs)]
    return float((logs[~late].max() + logs[late].min()) / 2)


_LEAST_S = 1e-6
