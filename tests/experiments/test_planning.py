"""From suites to runs: the matrix, labels, ids."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.errors import UserError
from experiments.planning import Experiment, plan
from experiments.suite import load

Write = Callable[..., str]

MATRIX = """
name: matrix
duration: 1h
repetitions: 3
seed: 10
jobs: [yahoo, traffic]
workloads:
  - {name: flat, shape: constant, peak: [10k, 20k]}
autoscalers:
  - static: {workers: 12}
  - hpa: {target_cpu: [70%, 0.8]}
  - {hpa: {target_cpu: 0.5}, label: careful}
"""


def planned(path: str, **options: object) -> tuple[Experiment, ...]:
    return plan(load(path), **options)


def test_lists_make_a_matrix(suite_file: Write) -> None:
    experiments = planned(suite_file(MATRIX))
    assert len(experiments) == 2 * 2 * 4
    assert [experiment.label for experiment in experiments[:4]] == [
        "yahoo · flat peak=10k · static workers=12",
        "yahoo · flat peak=10k · hpa target_cpu=70%",
        "yahoo · flat peak=10k · hpa target_cpu=0.8",
        "yahoo · flat peak=10k · careful",
    ]
    assert len({experiment.id for experiment in experiments}) == 16
    assert [run.seed for run in experiments[0].runs] == [10, 11, 12]
    assert experiments[1].runs[0].parameters["target_cpu"] == 0.7
    assert len({run.run_id for experiment in experiments for run in experiment.runs}) == 48


def test_cells_are_left_out_and_added(suite_file: Write) -> None:
    text = MATRIX + (
        "exclude: [{job: traffic}, {autoscaler: hpa, workload: flat peak=20k}]\n"
        "include: [{job: images, workload: {name: few, shape: constant, peak: 20}, autoscaler: cpu-threshold}]\n"
    )
    labels = [experiment.label for experiment in planned(suite_file(text))]
    assert labels == [
        "yahoo · flat peak=10k · static workers=12",
        "yahoo · flat peak=10k · hpa target_cpu=70%",
        "yahoo · flat peak=10k · hpa target_cpu=0.8",
        "yahoo · flat peak=10k · careful",
        "yahoo · flat peak=20k · static workers=12",
        "yahoo · flat peak=20k · careful",
        "images · few · cpu-threshold",
    ]


def test_an_addition_that_repeats_a_cell_is_refused(suite_file: Write) -> None:
    text = MATRIX + "include: [{job: yahoo, workload: flat peak=10k, autoscaler: {static: {workers: 12}}}]\n"
    with pytest.raises(UserError, match="is there twice"):
        planned(suite_file(text))


def test_only_filters(suite_file: Write) -> None:
    path = suite_file(MATRIX)
    assert len(planned(path, only=["job=yahoo", "autoscaler=hpa"])) == 4
    both = planned(path, only=["autoscaler=hpa", "autoscaler=static"])
    assert len(both) == len(planned(path, only=["autoscaler=hpa"])) + len(planned(path, only=["autoscaler=static"]))
    with pytest.raises(UserError, match="no experiment matches job=storm"):
        planned(path, only=["job=storm"])
    with pytest.raises(UserError, match="write key=value"):
        planned(path, only=["yahoo"])


def test_the_run_id_follows_what_determines_the_outcome_and_nothing_else(suite_file: Write) -> None:
    def first_id(text: str) -> str:
        return planned(suite_file(text))[0].runs[0].run_id

    original = first_id(MATRIX)
    assert first_id(MATRIX + "objectives: {worker_hour: 1 USD}\n") == original
    assert first_id(MATRIX.replace("name: flat", "name: level")) == original
    assert first_id(MATRIX.replace("name: matrix", "name: other")) == original
    assert first_id(MATRIX.replace("duration: 1h", "duration: 60m")) == original
    for change in [
        ("duration: 1h", "duration: 2h"),
        ("seed: 10", "seed: 11"),
        ("10k", "11k"),
        ("workers: 12", "workers: 11"),
    ]:
        assert first_id(MATRIX.replace(*change)) != original


def test_a_trace_counts_by_its_content(suite_file: Write, tmp_path: Path) -> None:
    text = """
    name: traced
    duration: 60s
    jobs: [yahoo]
    workloads: [{name: t, trace: %s}]
    autoscalers: [static]
    """
    rows = "t_seconds,rate\n0,10\n100,20\n"
    suite_file(rows, name="a.csv")
    suite_file(rows, name="b.csv")
    first = planned(suite_file(text % "a.csv"))[0].runs[0].run_id
    assert planned(suite_file(text % "b.csv"))[0].runs[0].run_id == first
    suite_file(rows.replace("20", "30"), name="a.csv")
    assert planned(suite_file(text % "a.csv"))[0].runs[0].run_id != first
