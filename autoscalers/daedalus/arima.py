"""ARIMA models of a bounded history: orders chosen, coefficients estimated, state carried on.

The three have different prices at a sample a second (a quarter of an hour of history, one core): choosing the orders
takes 50-200 ms, a few steps of the coefficients' estimation 2-4 ms, filtering the history with given coefficients about
1 ms. statsforecast does all three; only the means of the forecast are computed here, without the variances that nobody
asks for, which take it most of its time. To load it takes seconds: `prepare` does so before the first forecast.

Coefficients are estimated by the conditional sum of squares: statsforecast 2.1's pure maximum likelihood ("ML") ends
where it starts, at zero, on loads of this size.

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

#: Steps of the optimiser in each update, from where the last one ended.
_UPDATE_STEPS = 5


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

    def updated(self, history: Floats) -> Arima:
        """The same orders, with the coefficients a few steps on to those of another history, unless these explode."""
        from statsforecast.arima import Arima as Fit

        coefficients = self.fitted["coef"]
        given = {
            "include_drift": "drift" in coefficients,
            "include_mean": "intercept" in coefficients,
            "init": np.array(list(coefficients.values())),
            "optim_control": {"maxiter": _UPDATE_STEPS},
        }
        fitted = _quietly(lambda: Fit(history, order=self.order, method="CSS", **given))
        model = Arima(fitted, history.size) if coefficients else self
        return (model if model.is_stable else self).filtered(history)

    @property
    def is_stable(self) -> bool:
        """Whether the autoregressive part dies away."""
        weights = [self.fitted["coef"][f"ar{lag}"] for lag in range(1, self.order[0] + 1)]
        return bool((np.abs(np.roots([1.0, *(-weight for weight in weights)])) < 1.0).all())

    def filtered(self, history: Floats) -> Arima:
        """The same coefficients, with the state at the end of another history.

        Nothing is estimated: with all coefficients given, "ML" is the way to have the history filtered.
        """
        from statsforecast.arima import forward_arima

        return Arima(_quietly(lambda: forward_arima(self.fitted, history, method="ML")), history.size)

    def steps(self, ahead: int) -> Floats:
        """The means of the next steps."""
        space, coefficients = self.fitted["model"], self.fitted["coef"]
        power = np.asarray(space["T"])
        weights = np.asarray(space["Z"])[None, :] @ power  # a row a step: what its mean makes of the state
        while len(weights) < ahead:  # twice as many steps with each power of the transition
            weights = np.concatenate([weights, weights @ power])
            power = power @ power
        means: Floats = weights[:ahead] @ np.asarray(space["a"])
        means += coefficients.get("intercept", 0.0)
        means += coefficients.get("drift", 0.0) * (self.observed + np.arange(1, ahead + 1))
        return means


def prepare() -> None:
    """Load the library."""
    import statsforecast.arima  # noqa: F401


def _quietly(fit: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """An optimiser that stops early has found something all the same."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return fit()
