"""What every workload keeps, whatever it is made of."""

import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import workloads
from workloads.units import parse_quantity

EXAMPLES = dict(workloads.examples())
SECONDS = (1, 10, 3600)
SIXTY_DAYS = 60 * 86_400
PACKAGE = str(Path(workloads.__file__).parent)

every_example = pytest.mark.parametrize("name", EXAMPLES)
every_shape = pytest.mark.parametrize("name", workloads.shape_names())


def example(name):
    return workloads.parse(EXAMPLES[name])


def test_every_shape_has_an_example_with_a_peak_alone():
    assert {name: EXAMPLES[name] for name in workloads.shape_names()} == {
        name: {"shape": name, "peak": "60k"} for name in workloads.shape_names()
    }


@every_example
def test_an_example_is_sound(name):
    assert workloads.spec_errors(EXAMPLES[name], None, duration_s=3600) == []


@every_example
@pytest.mark.parametrize("seconds", SECONDS)
def test_one_finite_rate_a_second_and_none_negative(name, seconds):
    rates = example(name).curve(seconds, seed=1)
    assert rates.shape == (seconds,)
    assert rates.dtype == np.float64
    assert np.isfinite(rates).all()
    assert rates.min() >= 0


@every_example
def test_the_same_seed_gives_the_same_curve_from_a_new_object(name):
    assert np.array_equal(example(name).curve(3600, seed=11), example(name).curve(3600, seed=11))


@every_example
def test_seeds_differ_if_and_only_if_it_is_random(name):
    workload = example(name)
    curves = [workload.curve(3600, seed) for seed in range(4)]
    differ = [not np.array_equal(one, other) for one, other in pairwise(curves)]
    assert differ == [workload.random] * 3


@every_example
def test_a_curve_is_the_callers_own(name):
    workload = example(name)
    before = workload.curve(60).copy()
    workload.curve(60)[:] = -1
    assert np.array_equal(workload.curve(60), before)


@every_example
def test_a_longer_run_begins_like_a_shorter_one_unless_it_is_laid_out_over_the_run(name):
    workload = example(name)
    longer = workload.curve(3600, seed=2)
    same = [np.allclose(longer[:shorter], workload.curve(shorter, seed=2), rtol=1e-12) for shorter in (7, 600, 1801)]
    assert all(same) is not workload.fits_run


@pytest.mark.parametrize("name", [name for name, spec in EXAMPLES.items() if "peak" in spec])
def test_the_peak_is_reached_and_without_noise_not_exceeded(name):
    spec, workload = EXAMPLES[name], example(name)
    # A random walk comes near its bound in many memories, so that it gets a day.
    rates = workload.curve(workload.length_s or 86_400, seed=3)
    highest = parse_quantity(spec["clip"][1] if "clip" in spec else spec["peak"])
    assert rates.max() >= 0.98 * highest
    if "noise" not in spec:
        assert rates.max() <= highest * (1 + 1e-9)


@every_shape
def test_a_shape_reaches_its_peak_within_an_hour_and_keeps_its_floor(name):
    rates = example(name).curve(3600, seed=3)
    assert 0.9 * 60_000 <= rates.max() <= 60_000
    assert rates.min() >= 0.1 * 60_000 - 1e-6


@every_example
def test_where_it_ends_it_says_so(name):
    workload = example(name)
    if workload.length_s is None:
        assert len(workload.curve(100_000)) == 100_000
        return
    assert len(workload.curve(workload.length_s)) == workload.length_s
    with pytest.raises(workloads.WorkloadError, match="add repeat: true, or stretch"):
        workload.curve(workload.length_s + 1)


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_run_without_a_second_is_refused(seconds):
    with pytest.raises(workloads.WorkloadError, match="at least one second"):
        example("sine").curve(seconds)


def python_lines(workload, seconds):
    """How many lines of this package's Python one curve takes."""
    count = 0

    def tracer(frame, event, _argument):
        nonlocal count
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        count += event == "line"
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        workload.curve(seconds)
    finally:
        sys.settrace(before)
    return count


@every_example
def test_no_python_loop_runs_over_the_seconds(name):
    workload = example(name)
    few, many = python_lines(workload, 100), python_lines(workload, min(workload.length_s or 50_000, 50_000))
    assert few > 0
    assert many <= few + 100


@every_shape
def test_sixty_days_are_one_quick_call(name):
    workload = example(name)
    began = time.process_time()
    rates = workload.curve(SIXTY_DAYS)
    took = time.process_time() - began
    assert len(rates) == SIXTY_DAYS
    assert took < 5, "a second each for five million values would be much; a Python loop takes longer"
