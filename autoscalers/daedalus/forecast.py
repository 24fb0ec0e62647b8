"""Analyse: the workload of the next minutes, a value a second.

An ARIMA model is trained on the workload there is, and carried on with the new observations in each loop. Each loop
also judges the forecast of the one before by its weighted absolute percentage error. After a poor one a straight line
through the latest observations stands in for the model; after many poor ones in a row the model is trained anew.

Where the paper is silent: a model is trained as soon as there are five minutes of workload, and again when there is as
much as it will ever look at; until the first, the line serves.

Reference
---------
Pfister et al. (Daedalus, ICPE 2024), section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from autoscalers.daedalus.arima import Arima
from autoscalers.model import Floats

A = TypeVar("A")
R = TypeVar("R")


def wape(actual: Floats, forecast: Floats) -> float:
    """Weighted absolute percentage error: the sum of the errors over the sum of the actual values.

    >>> wape(np.array([100.0, 300.0]), np.array([110.0, 270.0]))
    0.1
    """
    total = float(np.abs(actual).sum())
    error = float(np.abs(actual - forecast).sum())
    return error / total if total > 0.0 else 0.0 if error == 0.0 else float("inf")


def straight_line(latest: Floats, ahead: int) -> Floats:
    """The least-squares line through the latest observations, carried on.

    >>> straight_line(np.array([1.0, 2.0, 3.0]), 2).round(6).tolist()
    [4.0, 5.0]
    """
    if latest.size < 2:
        return np.full(ahead, latest[-1] if latest.size else 0.0)
    slope, level = np.polyfit(np.arange(latest.size), latest, 1)
    return np.asarray(level + slope * np.arange(latest.size, latest.size + ahead))


@dataclass(slots=True)
class Forecaster:
    """Forecasts of one workload.

    >>> seen = Forecaster(horizon_s=900)
    >>> float(seen.update(np.full(60, 200.0)).max().round(6))
    200.0
    """

    horizon_s: int = 900
    history_s: int = 900
    """The latest seconds that models are made from."""
    least_s: int = 300
    """Seconds of workload that a first model needs."""
    poor_wape: float = 0.25
    retrain_after: int = 15
    """Poor forecasts in a row."""
    last_wape: float = float("nan")
    """Of the model's latest forecast that could be judged."""
    trainings: int = 0
    _history: Floats = field(default_factory=lambda: np.empty(0))
    _model: Arima | None = None
    _predicted: Floats | None = None
    _poor: int = 0
    _loops: int = 0
    _trained_s: int = 0
    """Seconds of workload that there were when the orders were chosen."""

    def update(self, workload: Floats) -> Floats:
        """Learn the latest workload and forecast the next seconds; what is NaN was not measured."""
        latest = _filled(workload, self._history)
        self._judge(latest)
        self._history = np.concatenate([self._history, latest])[-self.history_s :]
        self._loops += 1
        self._predicted = None
        self._learn()
        if self._model is not None:
            predicted = _attempt(self._model.steps, self.horizon_s)
            if predicted is not None and np.isfinite(predicted).all():
                self._predicted = np.maximum(predicted, 0.0)
        if self._predicted is None or self._poor > 0:
            return np.maximum(straight_line(latest, self.horizon_s), 0.0)
        return self._predicted

    @property
    def is_model(self) -> bool:
        """Whether the latest forecast is the model's, not the line's."""
        return self._predicted is not None and self._poor == 0

    def _judge(self, latest: Floats) -> None:
        if self._predicted is None or not 0 < latest.size <= self._predicted.size:
            return
        self.last_wape = wape(latest, self._predicted[: latest.size])
        self._poor = self._poor + 1 if self.last_wape > self.poor_wape else 0

    def _learn(self) -> None:
        """Train or update: whichever is due."""
        seconds = self._history.size
        full = seconds == self.history_s
        due = self._trained_s == 0 or (full and self._trained_s < self.history_s) or self._poor >= self.retrain_after
        if seconds >= self.least_s and due:
            self._model = _attempt(Arima.chosen, self._history)
            self._trained_s, self._poor = seconds, 0
            self.trainings += 1
        elif self._model is not None:
            self._model = _attempt(self._model.updated, self._history) or _attempt(self._model.filtered, self._history)
        elif self._trained_s and self._loops % self.retrain_after == 0:
            self._trained_s = 0  # nothing could be fitted then; there is other workload now


def _attempt(step: Callable[[A], R], argument: A) -> R | None:
    """The library raises plain exceptions where a history allows no such fit; the line serves then."""
    try:
        return step(argument)
    except Exception:  # noqa: BLE001 - see above
        return None


def _filled(workload: Floats, before: Floats) -> Floats:
    """Gaps closed by straight lines; at the edges the nearest value stands, and 0 if there is none."""
    known = np.isfinite(workload)
    if known.all():
        return np.asarray(workload, dtype=np.float64)
    if not known.any():
        return np.full(workload.size, before[-1] if before.size else 0.0)
    seconds = np.arange(workload.size)
    return np.interp(seconds, seconds[known], workload[known])
