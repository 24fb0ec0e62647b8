"""Trials before a run: what is tried, what it costs, and what the policy gets to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import infra
import jobs
from autoscalers.model import JOB, Autoscaler, Decision, Observation, Profiling
from experiments.loop import control
from experiments.profiling import profile
from experiments.recorder import Recorder
from infra.faults import Incident
from infra.model import Assignment

PEAK = 300_000.0
SHORT = Profiling(
    scale_outs=(2, 4), load_step=0.25, level_s=120, window_s=60, failure_s=120, overload=3.0, overload_s=180
)


def assignment(engine: str = "flink-reactive", **other: Any) -> Assignment:
    given: dict[str, Any] = {
        "run_id": "trial",
        "job": jobs.get("yahoo"),
        "engine": engine,
        "curve": np.linspace(PEAK / 3, PEAK, 600),
        "seed": 3,
        "initial_workers": None,
    }
    return Assignment(**(given | other))


def tried(folder: Path, wanted: Profiling = SHORT, **other: Any) -> tuple[list[Observation], list[dict[str, Any]]]:
    with Recorder(folder, "trial") as recorder:
        history = profile(infra.get("simulated"), assignment(**other), wanted, recorder)
    return history, pq.read_table(folder / "profiling.parquet").to_pylist()


def test_every_scale_out_meets_rising_load_a_failure_and_an_overload(tmp_path: Path) -> None:
    history, rows = tried(tmp_path)
    assert [row["trial"] for row in rows] == [observed.trial for observed in history]
    for workers in SHORT.scale_outs:
        mine = [row for row in rows if row["workers"] == workers]
        assert [row["trial"] for row in mine[:2]] == ["load", "failure"]
        assert mine[-1]["trial"] == "overload"
        levels = [row["load"] for row in mine if row["trial"] == "load"]
        assert levels == pytest.approx([PEAK * 0.25 * step for step in range(1, len(levels) + 1)])


def test_levels_end_with_the_first_that_is_too_much(tmp_path: Path) -> None:
    _, rows = tried(tmp_path)
    capacity = {row["workers"]: row["throughput"] for row in rows if row["trial"] == "overload"}
    for workers, most in capacity.items():
        loads = [row["load"] for row in rows if row["workers"] == workers and row["trial"] == "load"]
        assert loads[-2] < most * 1.1  # a little too much for a short while is hardly felt
        assert most < loads[-1]
    assert capacity[4] > 1.5 * capacity[2]


def test_an_overload_shows_the_true_capacity(tmp_path: Path) -> None:
    _, rows = tried(tmp_path)
    target_of = infra.get("simulated").provision(assignment(initial_workers=4, curve=np.full(600, 10 * PEAK)))
    with target_of as cluster, cluster.deploy() as target:
        target.advance(600)
        truth = float(np.mean(target.drain().metrics["capacity"][300:]))
    seen = next(row["throughput"] for row in rows if row["workers"] == 4 and row["trial"] == "overload")
    assert seen == pytest.approx(truth, rel=0.05)


def test_a_failure_is_seen_as_seconds_without_output(tmp_path: Path) -> None:
    history, _ = tried(tmp_path)
    silent = {
        trial: [
            int(np.isnan(seen.operators[JOB].response_time).sum())
            for seen in history
            if seen.trial == trial and seen.operators[JOB].response_time.size
        ]
        for trial in ("load", "failure")
    }
    assert silent["load"] == [0] * len(silent["load"])
    assert all(10 < seconds < 90 for seconds in silent["failure"])


def test_only_the_window_is_observed_but_all_time_is_paid(tmp_path: Path) -> None:
    history, rows = tried(tmp_path)
    for seen, row in zip(history, rows, strict=True):
        assert seen.workload.size == (row["seconds"] if row["trial"] == "failure" else SHORT.window_s)
        if row["trial"] != "failure":
            assert row["worker_seconds"] == row["workers"] * row["seconds"]
        else:
            assert (row["workers"] - 1) * row["seconds"] <= row["worker_seconds"] <= row["workers"] * row["seconds"]


def test_the_runs_own_faults_wait_for_the_run(tmp_path: Path) -> None:
    _, without = tried(tmp_path)
    _, with_ours = tried(tmp_path, faults=(Incident(30.0, "source-stall", until_s=600.0),))
    assert with_ours == without


def test_no_worker_dies_if_none_should(tmp_path: Path) -> None:
    _, rows = tried(tmp_path, replace(SHORT, failure_s=0))
    assert {row["trial"] for row in rows} == {"load", "overload"}


@dataclass(frozen=True)
class Nothing:
    pass


class Curious(Autoscaler[Nothing]):
    """Wants a profiling, and keeps what it saw."""

    Params = Nothing
    history: Sequence[Observation] = ()

    def profiling(self) -> Profiling:
        return SHORT

    def warm_start(self, history: Sequence[Observation]) -> None:
        self.history = history

    def decide(self, observation: Observation) -> Decision:
        assert observation.trial is None
        return Decision.keep("seen enough")


def test_the_loop_profiles_before_the_run_and_hands_over_what_was_seen(tmp_path: Path) -> None:
    policy = Curious()
    with Recorder(tmp_path, "trial") as recorder:
        control(infra.get("simulated"), assignment(), policy, recorder)
    rows = pq.read_table(tmp_path / "profiling.parquet").to_pylist()
    assert len(policy.history) == len(rows) > 0
    events = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert (events[0]["kind"], events[0]["time_s"]) == ("profiled", 0.0)
    hours = sum(row["worker_seconds"] for row in rows) / 3600
    assert events[0]["detail"] == f"{len(rows)} trials with 2, 4 workers: {hours:.1f} worker-hours"
    assert pq.read_table(tmp_path / "metrics.parquet").num_rows == 600


def test_jobs_that_scale_by_operator_are_profiled_too(tmp_path: Path) -> None:
    job = jobs.get("wordcount")
    engine = next(name for name, known in job.profiles.items() if known.engine.scales == "operators")
    wanted = Profiling(
        scale_outs=(3,), load_step=0.5, level_s=120, window_s=60, failure_s=0, overload=2, overload_s=120
    )
    _, rows = tried(tmp_path, wanted, job=job, engine=engine)
    assert rows[-1]["trial"] == "overload"
    assert all(row["worker_seconds"] > 0 for row in rows)


@pytest.mark.parametrize(
    "wrong", [{"scale_outs": ()}, {"scale_outs": (0,)}, {"window_s": 500}, {"load_step": 0}, {"slower": 1}]
)
def test_a_profiling_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Profiling(**({"scale_outs": (2,)} | wrong))
