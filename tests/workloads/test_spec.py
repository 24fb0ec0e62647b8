"""The grammar: what it accepts, in which order it applies, and how it answers mistakes."""

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import workloads
from workloads import WorkloadError, parse, spec_errors
from workloads.modify import Clip, Repeat, Shift, Stretch, ToPeak
from workloads.noise import Noise
from workloads.problems import as_line
from workloads.shapes import Constant, Sine

SINE = {"shape": "sine", "peak": "60k"}


def lines(spec):
    return [as_line(problem) for problem in spec_errors(spec, None)]


def test_the_examples_of_the_grammar():
    text = """
    - {name: day, shape: daily, peak: 60k, noise: 5%}
    - {name: busy, sum: [{shape: sine, peak: 40k}, {shape: spikes, peak: 20k, count: 4}], peak: 50k, clip: [1k, 45k]}
    """
    day, busy = (parse(spec) for spec in yaml.safe_load(text))
    assert day.curve(600).mean() > 0
    assert busy.curve(600).max() == 45_000


def test_the_name_is_the_suites():
    assert parse({"name": "any thing", **SINE}) == parse(SINE)


def test_a_shapes_peak_is_its_own_and_anothers_is_scaled_to():
    assert parse(SINE) == Sine(peak=60_000.0)
    assert parse({"sum": [SINE, SINE], "peak": "90k"}).curve(100).max() == 90_000


def test_modifiers_apply_in_their_own_order_whatever_the_order_of_keys():
    spec = {
        "clip": [1, 50],
        "noise": "1%",
        "peak": 60,
        "stretch": "2h",
        "shift": "10m",
        "repeat": "1h",
        "sum": [{"shape": "ramp", "peak": 10}],
    }
    workload = parse(spec)
    order = []
    while hasattr(workload, "base"):
        order.append(type(workload))
        workload = workload.base
    assert order == [Clip, Noise, ToPeak, Stretch, Shift, Repeat]


def test_modifiers_that_say_nothing_do_nothing():
    nothing = {"repeat": False, "shift": 0, "stretch": None, "noise": 0, "clip": None}
    assert parse({**SINE, **nothing}) == parse(SINE)
    assert parse({**SINE, "noise": None, "repeat": None}) == parse(SINE)


def test_noise_as_a_mapping():
    assert parse({"shape": "constant", "peak": 1, "noise": {"correlated": "5%", "correlation_time": "2m"}}) == Noise(
        Constant(peak=1.0), white=0.0, correlated=0.05, correlation_s=120
    )


def test_repeat_true_knows_the_cycle_of_what_has_one():
    assert parse({"shape": "sine", "peak": 1, "period": "1h", "repeat": True}).cycle_s == 3600
    assert lines({**SINE, "repeat": True}) == ["repeat: say how long one round takes, e.g. repeat: 1h"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (5, ["5 is not a workload; write e.g. {shape: sine, peak: 60k}"]),
        ([], ["a list is not a workload; write e.g. {shape: sine, peak: 60k}"]),
        ({}, ["it needs one of shape, trace, sum or product"]),
        ({"peak": "60k"}, ["it needs one of shape, trace, sum or product"]),
        ({"shap": "sine", "peak": 5}, ['shap: unknown key — did you mean "shape"?']),
        ({"shape": "sin", "peak": 5}, ['shape: there is no shape "sin" — did you mean "sine"?']),
        ({"shape": "Sine", "peak": 5}, ['shape: there is no shape "Sine" — did you mean "sine"?']),
        ({**SINE, "perid": "1h"}, ['perid: unknown key — did you mean "period"?']),
        ({**SINE, "stretsh": "1h"}, ['stretsh: unknown key — did you mean "stretch"?']),
        (
            {"shape": "constant", "peak": 1, "qqq": 2},
            ["qqq: unknown key; there are: clip, name, noise, peak, repeat, shift, stretch"],
        ),
        (
            {**SINE, "hold": "1m"},
            ["hold: unknown key; there are: clip, low, name, noise, peak, period, periods, repeat, shift, stretch"],
        ),
        ({"shape": "sine"}, ["peak: is missing; write e.g. peak: 60k"]),
        ({**SINE, "peak": [1, 2]}, ["peak: a list is not a quantity; write e.g. 800, 60k or 1.5M"]),
        ({**SINE, "peak": None}, ["peak: null is not a quantity; write e.g. 800, 60k or 1.5M"]),
        ({**SINE, "low": "70k"}, ["low: 70k is above the peak of 60k"]),
        ({**SINE, "period": "1h", "periods": 2}, ["period: give period or periods, not both"]),
        (
            {"shape": "pyramid", "peak": 5, "hold": 5, "periods": 2},
            ["hold: give hold, period or periods, only one of them"],
        ),
        ({**SINE, "stretch": "6x"}, ['stretch: "6x" is not a duration; write e.g. 90s, 15m, 6h or 2d']),
        ({**SINE, "clip": ["2k", "1k"]}, ['clip: the lower bound "2k" is above the upper bound "1k"']),
        ({**SINE, "clip": 5}, ["clip: 5 is not two bounds; write e.g. [1k, 45k]"]),
        ({**SINE, "clip": [1, "x"]}, ['clip: "x" is not a quantity; write e.g. 800, 60k or 1.5M']),
        ({**SINE, "noise": "5x"}, ['noise: "5x" is not a share from 0% to 100%; write e.g. 80% or 0.8']),
        ({**SINE, "noise": {"whit": "5%"}}, ['noise.whit: unknown key — did you mean "white"?']),
        ({**SINE, "trace": "a.csv"}, ["it has shape and trace; only one of them makes a workload"]),
        ({"sum": []}, ["sum: it takes a list of workloads, at least one"]),
        ({"sum": SINE}, ["sum: it takes a list of workloads, at least one"]),
        ({"trace": 5}, ["trace: 5 is not a path to a CSV file"]),
        ({"shape": "step", "peak": 5, "at": "5m", "until": "1m"}, ["until: 1m is not after 5m, when the step begins"]),
        (
            {"shape": "daily", "peak": 5, "day": "10s"},
            ["day: 10s is too short; a day takes at least 24s, one for each hour"],
        ),
        (
            {"shape": "daily", "peak": 5, "peak_hour": 24},
            ["peak_hour: 24 is not an hour of the day; write a number from 0 up to 24, e.g. 20 or 8.5"],
        ),
        (
            {"shape": "spikes", "peak": 5, "times": "1h"},
            ['times: "1h" is not a list of times; write e.g. [10m, 45m] or [25%, 75%]'],
        ),
    ],
)
def test_what_is_wrong_with_a_spec(spec, expected):
    assert lines(spec) == expected


def test_all_problems_are_told_at_once():
    spec = {
        "sum": [{"shape": "sine", "peak": True, "low": "x"}, {"shape": "spikes", "peak": "1k", "cuont": 3}],
        "peek": 3,
        "clip": [5, 1],
        "noise": "500%",
    }
    assert [path for path, _ in spec_errors(spec, None)] == [
        ("sum", 0, "peak"),
        ("sum", 0, "low"),
        ("sum", 1, "cuont"),
        ("noise",),
        ("clip",),
        ("peek",),
    ]
    with pytest.raises(WorkloadError) as caught:
        parse(spec)
    assert str(caught.value).splitlines() == lines(spec)


def test_one_bad_modifier_does_not_hide_another(tmp_path):
    (tmp_path / "t.csv").write_text("t_seconds,rate\n0,1\n1,1\n")
    found = spec_errors({"trace": "t.csv", "low": 5, "repeat": "1h"}, tmp_path)
    assert [path for path, _ in found] == [("low",), ("repeat",)]


def test_a_spec_that_holds_itself_is_refused():
    spec = {"sum": []}
    spec["sum"].append(spec)
    [(_, message)] = spec_errors(spec, None)
    assert message == "sums and products go more than 12 deep"


def test_the_list_keys_are_those_that_take_a_list():
    assert {"sum", "product", "clip", "times"} == workloads.LIST_KEYS


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["6h", "60k", "5%", "1x"]),
)
words = st.sampled_from(
    [
        "name",
        "shape",
        "trace",
        "sum",
        "product",
        "repeat",
        "shift",
        "stretch",
        "peak",
        "noise",
        "clip",
        "low",
        "period",
        "periods",
        "times",
        "count",
        "hold",
        "day",
        "white",
        "at",
        "until",
        "peek",
    ]
)
junk = st.recursive(
    scalars | st.sampled_from(workloads.shape_names()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(words | st.text(max_size=4) | st.integers(), inner, max_size=5)
    ),
    max_leaves=12,
)
JARGON = ("pydantic", "http", "Input should", "validation error", "Traceback", "value_error", "type=", "Error")


@given(junk | st.dictionaries(words, junk, max_size=6))
def test_nothing_breaks_the_reader_and_no_jargon_leaks(tmp_path_factory, spec):
    folder = tmp_path_factory.getbasetemp()
    problems = spec_errors(spec, folder)
    for path, message in problems:
        assert all(isinstance(key, str | int) for key in path)
        assert not any(word in message for word in JARGON)
        assert as_line((path, message)).isprintable()
    if problems:
        with pytest.raises(WorkloadError):
            parse(spec, folder)
    else:
        rates = parse(spec, folder).curve(1)
        assert np.isfinite(rates).all()


@given(st.sampled_from(workloads.shape_names()), st.dictionaries(words, scalars, max_size=4))
def test_a_shape_with_odd_values_is_refused_or_works(shape, extra):
    spec = {**extra, "shape": shape, "peak": 100}
    if {"trace", "sum", "product"} & set(extra) or spec_errors(spec, None, duration_s=50):
        return
    rates = parse(spec).curve(50)
    assert rates.shape == (50,)
    assert np.isfinite(rates).all()
    assert rates.min() >= 0
