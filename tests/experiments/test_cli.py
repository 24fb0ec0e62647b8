"""The command line as a user meets it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.cli.doctor import java_version

Write = Callable[..., str]


def tidebed(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=300)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("suites", "quickstart"),
        ("autoscalers", "hpa"),
        ("jobs", "wordcount"),
        ("workloads", "sine"),
        ("places", "simulated"),
        ("faults", "node-loss"),
        ("profiles", "wordcount/flink-reactive"),
    ],
)
def test_lists(what: str, expected: str) -> None:
    answer = tidebed("list", what, "--json")
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(answer.stdout)
    assert expected in [next(iter(row.values())) for row in rows]


def test_a_bad_suite_is_told_in_lines_and_leaves_nothing(suite_file: Write, tmp_path: Path) -> None:
    path = suite_file("name: x\nduration: 1h\njobs: [yahoo]\nworkloads: []\nautoscalers: [hpaa]\n")
    answer = tidebed("run", path, cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.splitlines() == [
        "suite.yaml:4: workloads: at least 1 is needed here",
        'suite.yaml:5: autoscalers[0]: unknown autoscaler "hpaa" — did you mean "hpa"?',
    ]
    assert not (tmp_path / "archive").exists()


@pytest.mark.parametrize(
    "arguments",
    [["frob"], ["run"], ["run", "quickstart", "--repetitions", "0"], ["run", "quickstart", "--place", "mars"]],
)
def test_wrong_arguments_exit_with_2_and_one_line(arguments: list[str]) -> None:
    answer = tidebed(*arguments)
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1


def test_an_archive_that_cannot_be_is_told_once(suite_file: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    answer = tidebed("run", suite_file(), "--archive", str(tmp_path / "file" / "archive"))
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].endswith("file/archive: cannot be written to: Not a directory")
    assert "Traceback" not in answer.stderr


def test_ctrl_c_stops_at_once_and_keeps_what_finished(suite_file: Write, tmp_path: Path) -> None:
    text = """
    name: long
    duration: 3d
    repetitions: 200
    jobs: [yahoo]
    workloads: [{name: flat, shape: daily, peak: 100k}]
    autoscalers: [hpa]
    """
    # as from a terminal: a shell that starts jobs in the background lets them ignore the signal
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [sys.executable, "-c", listening + "from experiments.cli import main; main()", "run", suite_file(text)]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    runs = tmp_path / "archive" / "long" / "runs"
    end = time.monotonic() + 120
    while not list(runs.glob("*/manifest.json")):
        assert time.monotonic() < end
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)  # a terminal tells the whole group
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "stopped; what finished is kept, and the same command does the rest" in told
    assert "Traceback" not in told
    assert list(runs.glob("*/manifest.json"))


def test_comparing_needs_published_figures() -> None:
    answer = tidebed("compare", "quickstart")
    assert answer.returncode == 2
    assert "it names no published figures" in answer.stderr


def test_doctor_knows_this_machine() -> None:
    answer = tidebed("doctor", "--json")
    checks = {check["what"]: check for check in json.loads(answer.stdout)}
    assert checks["Python"]["ok"]
    assert checks["Java"]["ok"], checks["Java"]["detail"]
    assert java_version("nonsense") is None


@pytest.mark.spark
def test_a_campaign_from_the_suite_to_the_report_and_again(suite_file: Write, tmp_path: Path) -> None:
    text = """
    name: whole
    duration: 15m
    repetitions: 3
    jobs: [yahoo]
    workloads: [{name: wave, shape: sine, peak: 200k}]
    autoscalers: [{static: {workers: 6}}, hpa]
    objectives: {latency_p95: 5s, worker_hour: 0.1 USD}
    baseline: static
    published:
      - {source: test, metric: mean_workers, autoscaler: static, value: 6, tolerance: 1%}
      - {source: test, metric: mean_workers, ordering: [hpa, static]}
      - {source: test, metric: mean_workers, autoscaler: hpa, versus: static, change: 5, tolerance: 10%}
    """
    path = suite_file(text)
    first = tidebed("run", path, "--archive", "kept", "--json", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    outcome = json.loads(first.stdout)
    assert (outcome["done"], outcome["skipped"], outcome["failed"]) == (6, 0, [])
    standings = outcome["rankings"][0]["standings"]
    assert {standing["autoscaler"] for standing in standings} == {"static workers=6", "hpa"}
    results = tmp_path / "kept" / "whole" / "results"
    for name in ("summary", "tests", "comparison", "series", "latency_cdf", "actions"):
        assert (results / f"{name}.parquet").is_file(), name
    assert "static workers=6" in (results / "report.md").read_text()
    stamp = (results / "report.html").stat().st_mtime_ns

    second = tidebed("run", path, "--archive", "kept", cwd=tmp_path)
    assert second.returncode == 0
    assert "All 6 runs of whole are archived: nothing to do" in second.stderr
    assert "all scenarios" not in second.stdout, "there is but one, and it is shown once"
    assert (results / "report.html").stat().st_mtime_ns == stamp

    dearer = tidebed("run", suite_file(text.replace("0.1 USD", "0.2 EUR")), "--archive", "kept", "--json", cwd=tmp_path)
    costs = [
        {
            standing["autoscaler"]: standing["cost"]["mean"]
            for standing in json.loads(answer.stdout)["rankings"][0]["standings"]
        }
        for answer in (first, dearer)
    ]
    assert costs[1]["static workers=6"] == pytest.approx(2 * costs[0]["static workers=6"])
    assert "EUR" in (results / "report.md").read_text(), "another price is another report, without another run"

    compared = tidebed("compare", path, "--archive", "kept", "--json", cwd=tmp_path)
    assert compared.returncode == 1, "a figure that does not come out is told to scripts"
    assert [row["reproduced"] for row in json.loads(compared.stdout)] == [True, True, False]
    told = tidebed("compare", path, "--archive", "kept", cwd=tmp_path).stdout
    assert (told.split().count("yes"), told.split().count("no")) == (2, 1)
    assert told.splitlines()[-1] == "2 of 3 reproduced"
