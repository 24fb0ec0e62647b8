"""Suites: what is understood, and how mistakes are told."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import infra
from experiments import execution
from experiments.archive import Archive
from experiments.errors import UserError
from experiments.planning import Run, plan
from experiments.suite import load, suite_names
from infra.model import Assignment

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
        ("name: x\npublished: [{source: p, metric: cost}]", "give exactly one of value, at_most, change and ordering"),
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


# --- faults ------------------------------------------------------------------------------------

FAULTY = """\
name: faulty
duration: 6h
jobs: [yahoo]
workloads: [{name: w, shape: constant, peak: 60k}]
autoscalers: [static]
"""


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Decides what the simulated place can cause."""

    def decide(*kinds: str) -> None:
        monkeypatch.setattr(type(infra.get("simulated")), "supported_faults", frozenset(kinds))

    return decide


def first_run(path: str) -> Run:
    return plan(load(path))[0].runs[0]


def test_faults_are_part_of_the_run_and_of_its_id_only_where_there_are_any(
    suite_file: Write, able: Callable[..., None]
) -> None:
    able("crash", "source-stall")
    without = first_run(suite_file(FAULTY))
    assert without.faults == ()
    assert first_run(suite_file(FAULTY + "faults: []\n")).run_id == without.run_id
    faulty = first_run(suite_file(FAULTY + "faults: [crash: {at: 30m}]\n"))
    assert faulty.run_id != without.run_id
    assert first_run(suite_file(FAULTY + "faults: [crash: {at: 1800s, workers: 1}]\n")).run_id == faulty.run_id
    assert first_run(suite_file(FAULTY + "faults: [crash: {at: 31m}]\n")).run_id != faulty.run_id
    recorded = json.loads(json.dumps(faulty.record()))
    assert [(fault["kind"], fault["at_s"]) for fault in recorded["faults"]] == [("crash", [1800.0])]


def test_a_run_hands_its_incidents_to_the_place(
    suite_file: Write, able: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    able("crash")
    handed: list[Assignment] = []
    monkeypatch.setattr(execution, "control", lambda place, assignment, policy, recorder: handed.append(assignment))
    text = FAULTY.replace("6h", "10m") + "faults: [crash: {at: [5m, 2m]}]\n"
    execution.execute(first_run(suite_file(text)), Archive(tmp_path, "faulty"))
    assert [(incident.time_s, incident.kind) for incident in handed[0].faults] == [(120.0, "crash"), (300.0, "crash")]


def test_every_mistake_in_faults_is_told_with_its_line(suite_file: Write, able: Callable[..., None]) -> None:
    able("crash", "node-loss")
    path = suite_file(
        FAULTY
        + """\
faults:
  - crash: {at: 7h}
  - crsh: {at: 1h}
  - node-loss: {every: 0s, rate: 1/h}
  - crash:
      at: [1h, 8h]
      wrokers: 2
  - source-stall: {at: 1h, for: 60s}
"""
    )
    with pytest.raises(UserError) as caught:
        load(path)
    assert list(caught.value.lines) == [
        'suite.yaml:7: faults[0].crash.at: "7h" is not before the end of the run, which lasts 6h',
        'suite.yaml:8: faults[1]: there is no fault "crsh" — did you mean "crash"?',
        'suite.yaml:9: faults[2].node-loss.every: "0s" is more often than once a second; write e.g. 45m',
        "suite.yaml:9: faults[2].node-loss.rate: every says already when; give one of at, every and rate",
        'suite.yaml:11: faults[3].crash.at[1]: "8h" is not before the end of the run, which lasts 6h',
        'suite.yaml:12: faults[3].crash.wrokers: crash has no such setting — did you mean "workers"?',
        'suite.yaml:13: faults[4]: the place "simulated" cannot cause source-stall; it can cause: crash, node-loss',
    ]


def test_a_place_given_by_hand_must_be_able_too(suite_file: Write, able: Callable[..., None]) -> None:
    able("crash")
    loaded = load(suite_file(FAULTY + "faults: [crash: {at: 1h}, crash: {at: 2h}]\n"))
    able()
    with pytest.raises(UserError) as caught:
        plan(loaded, place="simulated")
    assert list(caught.value.lines) == ['faulty: the place "simulated" cannot cause crash; it can cause: none']


def test_faults_are_measured_by_the_longest_run(suite_file: Write, able: Callable[..., None]) -> None:
    able("crash")
    longer = "include: [{workload: {name: long, shape: constant, peak: 10k}, duration: 12h}]\n"
    assert load(suite_file(FAULTY + longer + "faults: [crash: {at: 7h}]\n")).suite.faults


def test_faults_that_are_no_list(suite_file: Write) -> None:
    with pytest.raises(UserError, match=r"suite\.yaml:6: faults: this must be a list"):
        load(suite_file(FAULTY + "faults: {crash: {at: 1h}}\n"))
