"""ARIMA models of a bounded history: orders chosen, coefficients estimated, state carried on.

The three have different prices at a sample a second (half an hour of history, one core): choosing the orders takes
some hundred milliseconds, estimating the coefficients some ten, and filtering the history with given coefficients one
or two. statsforecast does all three; only the means of the forecast are computed here, without the variances that
nobody asks for, which take it most of its time.

Reference
---------
Hyndman & Khandakar (2008), Automatic Time Series Forecasting: the search for the orders; Durbin & Koopman (2012),
Time Series Analysis by State Space Methods: filter and forecast.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoscalers.model import Floats


@dataclass(frozen=True, slots=True)
class Arima:
    """A fitted model. `steps` turns it into a forecast.

    >>> ramp = 100.0 + 2.0 * np.arange(400) + np.random.default_rng(1).normal(size=400)
    >>> model = Arima.chosen(ramp)
    >>> bool(abs(model.steps(100)[-1] - 1098.0) < 5)
    True
    """

    fitted: dict[str, Any]
    """As statsforecast describes a model."""
    observed: int

    @classmethod
    def chosen(cls, history: Floats) -> Arima:
        """Orders by information criterion, coefficients by maximum likelihood."""
        from statsforecast.arima import auto_arima_f

        return cls(_quietly(lambda: auto_arima_f(history, period=1, seasonal=False, approximation=True)), history.size)

    @property
    def order(self) -> tuple[int, int, int]:
        """(p, d, q)."""
        arma = self.fitted["arma"]
        return int(arma[0]), int(arma[5]), int(arma[1])

    def estimated(self, history: Floats) -> Arima:
        """The same orders, with coefficients of another history."""
        from statsforecast.arima import Arima as Fit

        coefficients = self.fitted["coef"]
        given = {"include_drift": "drift" in coefficients, "include_mean": "intercept" in coefficients}
        fitted = _quietly(lambda: Fit(history, order=self.order, method="ML", **given))
        return Arima(fitted, history.size)

    def filtered(self, history: Floats) -> Arima:
        """The same coefficients, with the state at the end of another history."""
        from statsforecast.arima import forward_arima

        return Arima(_quietly(lambda: forward_arima(self.fitted, history, method="ML")), history.size)

    def steps(self, ahead: int) -> Floats:
        """The means of the next steps."""
        space, coefficients = self.fitted["model"], self.fitted["coef"]
        means = np.empty(ahead)
        state, transition, design = np.asarray(space["a"]), np.asarray(space["T"]), np.asarray(space["Z"])
        for step in range(ahead):
            state = transition @ state
            means[step] = design @ state
        means += coefficients.get("intercept", 0.0)
        means += coefficients.get("drift", 0.0) * (self.observed + np.arange(1, ahead + 1))
        return means


def _quietly(fit: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """An optimiser that stops early has found something all the same."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return fit()
