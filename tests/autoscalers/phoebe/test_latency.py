from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from autoscalers.phoebe.latency import LatencyModel, border
from tests.autoscalers.phoebe.measured import Spell, spells


def modelled(seen: list[Spell], seed: int = 0) -> LatencyModel:
    model = LatencyModel(seed=seed)
    for spell in seen:
        model.add(spell.workers, spell.throughput, spell.latency_s)
    return model


@pytest.fixture(scope="module")
def levels() -> list[Spell]:
    """The profiling of Phoebe's authors without the overloads: each scale-out's last level was too much for it."""
    return [spell for spell in spells() if not spell.overload]


def test_the_border_lies_between_keeping_up_and_falling_behind(levels: list[Spell]) -> None:
    """3.5 s, a scale-out that begins to fall behind, may be on either side."""
    latencies = sorted(spell.latency_s for spell in levels if not 3 < spell.latency_s < 4)
    widest = max(range(1, len(latencies)), key=lambda index: latencies[index] / latencies[index - 1])
    assert latencies[widest - 1] < np.exp(border(np.array([spell.latency_s for spell in levels]))) < latencies[widest]


def test_what_was_seen_is_known(levels: list[Spell]) -> None:
    model = modelled(levels)
    for spell in levels:
        latency, low = model.at(np.array([spell.workers]), spell.throughput)
        assert latency[0] == pytest.approx(spell.latency_s, rel=1e-3)
        assert low[0] == (spell.latency_s < 5)


def test_most_of_what_was_left_out_is_put_into_its_class(levels: list[Spell]) -> None:
    """The last level of each scale-out is a surprise to any model that did not see it; all others are not."""
    right = 0
    ordinary = [spell for spell in levels if spell.latency_s < 3]
    for left_out in ordinary[::4]:
        _, low = modelled([spell for spell in levels if spell != left_out]).at(
            np.array([left_out.workers]), left_out.throughput
        )
        right += bool(low[0])
    assert right >= 0.8 * len(ordinary[::4])


def test_ending_early_changes_nothing(levels: list[Spell]) -> None:
    """Against three trees an observation, to the last of them."""
    table = np.array([(spell.workers, spell.throughput) for spell in levels])
    latency = np.array([spell.latency_s for spell in levels])
    whole = GradientBoostingRegressor(max_depth=10, n_estimators=3 * len(levels), random_state=0).fit(table, latency)
    model = modelled(levels)
    workers = np.arange(2, 25)
    for rate in (30_000.0, 130_000.0, 290_000.0):
        expected = whole.predict(np.column_stack([workers, np.full(workers.size, rate)]))
        assert model.at(workers, rate)[0] == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_what_a_run_shows_replaces_a_guess(levels: list[Spell]) -> None:
    model = modelled(levels)
    workers = np.array([20])
    assert model.at(workers, 170_000.0)[0][0] < 2.0
    model.add(20, 170_000.0, 30.0)
    assert model.observations == len(levels) + 1
    assert model.at(workers, 170_000.0)[0][0] == pytest.approx(30.0, rel=0.01)


def test_what_was_not_measured_teaches_nothing() -> None:
    model = LatencyModel(seed=1)
    for throughput, latency in ((np.nan, 1.0), (10.0, np.nan), (10.0, 0.0)):
        model.add(3, throughput, latency)
    assert model.observations == 0


def test_a_job_that_always_kept_up_has_no_late_class() -> None:
    model = LatencyModel(seed=1)
    for workers in (2, 4, 8):
        model.add(workers, 1000.0, 1.0 + workers / 100)
    assert border(np.array([1.0, 1.01])) == np.inf
    assert model.at(np.array([2, 8]), 5000.0)[1].all()


def test_the_same_seed_gives_the_same_model(levels: list[Spell]) -> None:
    one, other = (modelled(levels, seed=4).at(np.arange(2, 25), 150_000.0)[0] for _ in range(2))
    assert one.tolist() == other.tolist()
