"""Noise: mean 1, the deviation asked for, the right memory, and independent streams."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads import parse
from workloads.combine import Product, Sum
from workloads.model import Timeline
from workloads.modify import Clip, ToPeak
from workloads.noise import Noise, autocorrelated
from workloads.shapes import Constant, RandomWalk

SECONDS = 400_000


def correlation(left, right):
    return float(np.corrcoef(left, right)[0, 1])


@pytest.mark.parametrize("share", ["1%", "20%", "80%"])
def test_white_noise_has_mean_one_and_its_deviation(share):
    factors = parse({"shape": "constant", "peak": 1, "noise": share}).curve(SECONDS)
    deviation = float(share.rstrip("%")) / 100
    assert factors.mean() == pytest.approx(1, abs=6 * deviation / math.sqrt(SECONDS))
    assert factors.std() == pytest.approx(deviation, rel=0.03)
    assert abs(correlation(factors[1:], factors[:-1])) < 0.01
    assert factors.min() > 0


def test_correlated_noise_forgets_with_its_time_constant():
    spec = {"shape": "constant", "peak": 1, "noise": {"correlated": "10%", "correlation_time": "20s"}}
    factors = parse(spec).curve(2_000_000)
    assert factors.mean() == pytest.approx(1, abs=0.003)
    assert factors.std() == pytest.approx(0.1, rel=0.03)
    for lag in (1, 20, 40):
        assert correlation(factors[lag:], factors[:-lag]) == pytest.approx(math.exp(-lag / 20), abs=0.02)


def test_both_kinds_multiply():
    spec = {"shape": "constant", "peak": 1, "noise": {"white": "20%", "correlated": "30%", "correlation_time": "5s"}}
    factors = parse(spec).curve(SECONDS)
    # Var of a product of independent factors with mean 1: (1 + a²)(1 + b²) - 1
    assert factors.std() == pytest.approx(math.sqrt(1.04 * 1.09 - 1), rel=0.03)
    assert factors.mean() == pytest.approx(1, abs=0.01)


def test_the_filter_is_the_recursion():
    """The same shocks through the textbook recursion, one second after the other."""
    shocks = np.random.default_rng(5).standard_normal(200)
    kept = math.exp(-1 / 7)
    expected = [shocks[0]]
    for shock in shocks[1:]:
        expected.append(kept * expected[-1] + math.sqrt(1 - kept**2) * shock)
    assert autocorrelated(np.random.default_rng(5), 200, 7) == pytest.approx(expected)


def test_it_is_stationary_from_the_first_second():
    first = [autocorrelated(np.random.default_rng(seed), 1, 500.0)[0] for seed in range(4000)]
    assert np.std(first) == pytest.approx(1, abs=0.05)


def test_parts_of_a_sum_are_independent():
    noisy = Noise(Constant(peak=1.0), white=0.2)
    both = Sum((noisy, noisy)).curve(SECONDS)
    # Two independent noises add up in variance, two copies of one would add up in deviation.
    assert both.std() == pytest.approx(0.2 * math.sqrt(2), rel=0.03)


def test_all_components_draw_from_their_own_stream():
    root = Timeline(2000, seed=3)
    streams = [
        root.generator(),
        root.part(0).generator(),
        root.part(1).generator(),
        root.part(0).part(0).generator(),
        root.noise_generator(0),
        root.noise_generator(1),
        root.below_noise().noise_generator(0),
        root.part(0).noise_generator(0),
        np.random.default_rng(3),  # what else a run may derive from its seed
        Timeline(2000, seed=4).generator(),
    ]
    table = np.corrcoef([stream.standard_normal(2000) for stream in streams])
    assert np.abs(table - np.eye(len(streams))).max() < 0.1


def test_noise_upon_noise_is_independent():
    once = Noise(Constant(peak=1.0), white=0.1)
    twice = Noise(once, white=0.1).curve(SECONDS)
    assert twice.std() == pytest.approx(math.sqrt(1.01**2 - 1), rel=0.03)


@given(st.integers(0, 1000))
def test_modifiers_leave_the_walk_below_as_it_was(seed):
    walk = RandomWalk(peak=100.0)
    rates = walk.curve(300, seed)
    assert Clip(walk, 0, 1e9).curve(300, seed) == pytest.approx(rates)
    assert ToPeak(walk, 5.0).curve(300, seed) == pytest.approx(rates * 5 / rates.max())
    faint = Noise(walk, white=1e-9).curve(300, seed)
    assert faint == pytest.approx(rates, rel=1e-6)


def test_products_are_independent_too():
    noisy = Noise(Constant(peak=1.0), white=0.2)
    assert Product((noisy, noisy)).curve(SECONDS).mean() == pytest.approx(1, abs=0.005)


def test_counted_noise_is_poissons_and_holds_for_a_while():
    rates = parse({"shape": "constant", "peak": 400, "noise": {"counted": "1m"}}).curve(60 * 5000, seed=4)
    minutes = rates.reshape(-1, 60)
    assert (minutes == minutes[:, :1]).all(), "the same all through a minute"
    counts = minutes[:, 0]
    assert counts == pytest.approx(np.round(counts)), "a steady rate's counts are whole"
    assert counts.mean() == pytest.approx(400, rel=0.01)
    assert counts.var() == pytest.approx(400, rel=0.1)
