"""Suites: what is understood, and how mistakes are told."""

from collections.abc import Callable

import pytest

from experiments.errors import UserError
from experiments.suite import load, suite_names

Write = Callable[..., str]


@pytest.mark.parametrize("name", suite_names())
def test_every_shipped_suite_is_valid(name: str) -> None:
    assert load(name).suite.name == name


def test_units_are_understood(suite_file: Write) -> None:
    suite = load(
        suite_file(
            """
            name: units
            duration: 1h30m
            jobs: [yahoo]
            workloads: [{name: w, shape: constant, peak: 60k}]
            autoscalers: [static]
            objectives: {latency_p95: 250ms, backlog: 1.5M, violations: 2%, worker_hour: 0.0612 USD}
            """
        )
    ).suite
    assert suite.duration == 5400
    assert suite.objectives.latency_p95 == 0.25
    assert suite.objectives.backlog == 1.5e6
    assert suite.objectives.violations == 0.02
    assert suite.objectives.worker_hour is not None
    assert suite.objectives.worker_hour.amount == 0.0612
    assert suite.objectives.currency == "USD"


def test_all_mistakes_are_told_at_once_with_file_line_key_and_a_hint(suite_file: Write) -> None:
    path = suite_file(
        """\
        name: bad
        duration: 6x
        jobs: [yahooo]
        workloads:
          - {name: day, shape: dayly, peak: 60k}
        autoscalers:
          - static: {workers: 12}
          - hpaa
          - hpa: {target_cpu: 1.8}
          - cpu-threshold: {uper: 0.9}
        repetitons: 3
        place: {simulated: {max_workers: none}}
        objectives: {latency_p95: 1s, worker_hour: 0.06}
        baseline: statik
        exclude: [{job: storm}]
        """
    )
    with pytest.raises(UserError) as caught:
        load(path)
    assert list(caught.value.lines) == [
        'suite.yaml:2: duration: "6x" is not a duration; write e.g. 90s, 15m, 6h or 2d',
        'suite.yaml:3: jobs[0]: unknown job "yahooo" — did you mean "yahoo"?',
        'suite.yaml:5: workloads[0].shape: there is no shape "dayly" — did you mean "daily"?',
        'suite.yaml:8: autoscalers[1]: unknown autoscaler "hpaa" — did you mean "hpa"?',
        "suite.yaml:9: autoscalers[2].hpa.target_cpu: 1.8 is not a share between 0 and 1",
        "suite.yaml:10: autoscalers[3].cpu-threshold.uper: "
        'cpu-threshold has no parameter "uper" — did you mean "upper"?',
        'suite.yaml:11: repetitons: unknown key "repetitons" — did you mean "repetitions"?',
        'suite.yaml:12: place.simulated.max_workers: "none" is not a whole number of at least 1',
        'suite.yaml:13: objectives.worker_hour: "0.06" is not an amount of money; write e.g. 0.0612 USD',
        'suite.yaml:14: baseline: no autoscaler of this suite is called "statik" — did you mean "static"?',
        'suite.yaml:15: exclude[0].job: no job of this suite is called "storm"; there are: yahooo',
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "suite.yaml:1: a suite is a mapping"),
        ("", "suite.yaml:1: a suite is a mapping"),
        ("name: a\nname: b", "suite.yaml:2: name: this key stands here twice"),
        ("name: {", "suite.yaml:1: not valid YAML"),
        ("name: x\n\tduration: 1h", "suite.yaml:2: not valid YAML"),
        ("name: Big Name", "suite.yaml:1: name: write small letters"),
        ("name: x\njobs: []", "suite.yaml:2: jobs: at least 1 is needed here"),
        ("name: x\nrepetitions: many", "suite.yaml:2: repetitions: this must be a whole number"),
        ("name: x\nrepetitions: 0", "suite.yaml:2: repetitions: this must be at least 1"),
        ("name: x\nduration: 0s", "suite.yaml:2: duration: a run lasts at least 1s and at most 366d"),
        ("name: x\nautoscalers: [{a: 1, b: 2}]", "suite.yaml:2: autoscalers[0]: write a name, or a name with options"),
        ("name: x\nautoscalers: [static, static]", 'suite.yaml:2: autoscalers: "static" stands here 2 times'),
        ("name: x\nworkloads: [{shape: constant}]", "suite.yaml:2: workloads[0]: a workload needs a name"),
        ("name: x\nworkloads: [{name: t, trace: gone.csv}]", "suite.yaml:2: workloads[0].trace:"),
        ("name: x\npublished: [{source: p, metric: cots, value: 1}]", 'unknown metric "cots" — did you mean "cost"?'),
        ("name: x\npublished: [{source: p, metric: cost}]", "give exactly one of value, change and ordering"),
        ("name: x\njobs: [{yahoo: {engine: storm}}]", 'jobs[0].yahoo.engine: unknown engine "storm"'),
    ],
)
def test_one_mistake(suite_file: Write, text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(suite_file(text))
    assert message in "\n".join(caught.value.lines)
    assert "Traceback" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_unknown_suites_are_hinted_at() -> None:
    with pytest.raises(UserError, match='unknown suite "quickstrat" — did you mean "quickstart"'):
        load("quickstrat")
    with pytest.raises(UserError, match="no such file"):
        load("gone.yaml")


def test_a_trace_that_ends_before_the_run_is_found_before_it_starts(suite_file: Write, tmp_path: object) -> None:
    path = suite_file(
        """
        name: short
        duration: 1h
        jobs: [yahoo]
        workloads: [{name: t, trace: t.csv}]
        autoscalers: [static]
        """
    )
    suite_file("t_seconds,rate\n0,10\n60,20\n", name="t.csv")
    with pytest.raises(UserError, match=r"workloads\[0\]"):
        load(path)
