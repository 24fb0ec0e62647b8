"""Forecasts: against the library's own, against known courses, and the rules about poor ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from statsforecast.arima import forecast_arima

from autoscalers.daedalus.arima import Arima
from autoscalers.daedalus.forecast import Forecaster, straight_line, wape


def noisy(course: np.ndarray, seed: int = 1, share: float = 0.01) -> np.ndarray:
    return course * (1 + share * np.random.default_rng(seed).standard_normal(course.size))


@pytest.mark.parametrize("slope", [0.0, 40.0], ids=["flat", "rising"])
def test_the_means_are_those_of_the_library(slope: float) -> None:
    model = Arima.chosen(noisy(50_000 + slope * np.arange(600.0)))
    own = model.steps(300)
    assert own == pytest.approx(forecast_arima(model.fitted, 300)["mean"], rel=1e-9)


def test_an_update_moves_the_coefficients_and_the_state() -> None:
    course = noisy(50_000 + 20 * np.arange(1200.0))
    model = Arima.chosen(course[:900])
    later = model.updated(course[300:])
    assert later.order == model.order
    assert later.steps(60) == pytest.approx(50_000 + 20 * np.arange(1200, 1260), rel=0.02)


def test_a_random_walk_is_forecast_by_its_last_value() -> None:
    walk = 1e5 + np.cumsum(np.random.default_rng(5).normal(0, 100, 900))
    assert Arima.chosen(walk).filtered(walk).steps(10) == pytest.approx(walk[-1], rel=0.02)


def test_a_smooth_wave_is_forecast_within_five_percent() -> None:
    wave = 40_000 + 30_000 * np.sin(np.arange(7200) / 10_800 * 2 * np.pi)
    seen = Forecaster()
    errors = []
    for minute in range(100):
        forecast = seen.update(wave[60 * minute : 60 * minute + 60])
        errors.append(wape(wave[60 * minute + 60 : 60 * minute + 120], forecast[:60]))
    assert max(errors) < 0.05
    assert seen.is_model


def test_a_line_serves_until_there_is_a_model_and_after_a_poor_forecast() -> None:
    seen = Forecaster()
    ramp = noisy(1000.0 + np.arange(600.0), share=0.001)
    first = seen.update(ramp[:60])
    assert not seen.is_model
    assert first == pytest.approx(straight_line(ramp[:60], 900))
    for minute in range(1, 6):
        seen.update(ramp[60 * minute : 60 * minute + 60])
    assert seen.is_model
    seen.update(np.full(60, 10_000.0))
    assert seen.last_wape > 0.25
    assert not seen.is_model


def test_consistently_poor_forecasts_make_it_train_anew() -> None:
    seen = Forecaster(poor_wape=1e-12, retrain_after=3)
    load = noisy(np.full(3600, 1000.0))
    trainings = []
    for minute in range(24):
        seen.update(load[60 * minute : 60 * minute + 60])
        trainings.append(seen.trainings)
    assert trainings[4] == 1
    assert trainings[14] > trainings[10] > 1


def test_gaps_are_closed_and_forecasts_are_never_negative() -> None:
    seen = Forecaster()
    falling = np.linspace(1000, 10, 60)
    falling[10:20] = np.nan
    forecast = seen.update(falling)
    assert np.isfinite(forecast).all()
    assert forecast.min() == 0.0
    assert np.isfinite(seen.update(np.full(60, np.nan))).all()


def test_a_load_of_zero_is_no_problem() -> None:
    seen = Forecaster()
    for _ in range(20):
        assert seen.update(np.zeros(60)).max() == pytest.approx(0.0, abs=1e-6)


def test_it_goes_on_after_pickling() -> None:
    seen = Forecaster()
    load = noisy(np.full(900, 1000.0))
    for minute in range(10):
        seen.update(load[60 * minute : 60 * minute + 60])
    revived = pickle.loads(pickle.dumps(seen))
    assert revived.update(load[600:660]) == pytest.approx(seen.update(load[600:660]))
