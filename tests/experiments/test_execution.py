"""Runs and campaigns up to the archive: resume, faults, and processes that die."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from experiments.archive import RunFolder
from experiments.campaign import Campaign
from experiments.execution import _alone, execute, execute_all
from experiments.schema import RUN_TABLES

Write = Callable[..., str]


def test_a_finished_run_holds_all_tables_by_their_schema(suite_file: Write, tmp_path: Path) -> None:
    campaign = Campaign.open(suite_file(), archive=tmp_path / "archive")
    run = campaign.runs[0]
    assert execute(run, campaign.archive).error is None
    folder = campaign.folder(run)
    assert folder.finished
    for name, schema in RUN_TABLES.items():
        table = pq.read_table(folder.path / f"{name}.parquet")
        assert table.schema.names == schema.names
        assert table.schema.field(0).metadata == schema.field(0).metadata
        assert set(table["run_id"].to_pylist()) <= {run.run_id}
    metrics = pq.read_table(folder.path / "metrics.parquet")
    assert metrics.num_rows == 600
    assert metrics["operator"].to_pylist()[:2] == ["job", "job"]
    decisions = pq.read_table(folder.path / "decisions.parquet").to_pylist()
    assert [decision["time_s"] for decision in decisions] == [60.0 * n for n in range(1, 10)]
    assert decisions[0]["reason"] == "always 3 workers"
    manifest = json.loads((folder.path / "manifest.json").read_text())
    assert manifest["seed"] == run.seed
    assert set(manifest["sha256"]) == {f"{name}.parquet" for name in RUN_TABLES} | {"run.json"}
    assert json.loads((folder.path / "run.json").read_text())["run_id"] == run.run_id


def test_only_what_is_missing_is_done(suite_file: Write, tmp_path: Path) -> None:
    campaign = Campaign.open(suite_file(), archive=tmp_path / "archive")
    first = campaign.run_all(workers=1)
    assert (first.done, first.skipped, first.failed) == (4, 0, [])
    (campaign.folder(campaign.runs[2]).path / "manifest.json").unlink()
    again = campaign.run_all(workers=1)
    assert (again.done, again.skipped) == (1, 3)
    assert campaign.run_all(workers=1, fresh=True).done == 4


def test_the_same_run_gives_the_same_data(suite_file: Write, tmp_path: Path) -> None:
    sums = []
    for archive in ("one", "two"):
        campaign = Campaign.open(suite_file(), archive=tmp_path / archive)
        campaign.run_all(workers=1)
        manifests = [json.loads((campaign.folder(run).path / "manifest.json").read_text()) for run in campaign.runs]
        sums.append([manifest["sha256"]["metrics.parquet"] for manifest in manifests])
    assert sums[0] == sums[1]


def test_runs_go_seed_after_seed(suite_file: Write, tmp_path: Path) -> None:
    campaign = Campaign.open(suite_file(), archive=tmp_path / "archive")
    done = [finished.run for finished in execute_all(campaign.runs, campaign.archive, workers=1)]
    assert [run.seed for run in done] == sorted(run.seed for run in campaign.runs)
    assert [run.autoscaler for run in done[:2]] == [experiment.autoscaler for experiment in campaign.experiments]


def test_a_load_is_kept_for_the_next_run_but_not_for_another(suite_file: Write, tmp_path: Path) -> None:
    def loads(rate: int, seed: int = 1) -> list[float]:
        (tmp_path / "load.csv").write_text(f"t_seconds,rate\n0,{rate}\n300,{rate}\n")
        text = f"""
        name: traced
        duration: 5m
        repetitions: 1
        seed: {seed}
        jobs: [yahoo]
        workloads: [{{name: recorded, trace: {tmp_path / "load.csv"}, noise: 1%}}]
        autoscalers: [static, hpa]
        """
        campaign = Campaign.open(suite_file(text), archive=tmp_path / "archive")
        assert not campaign.run_all(workers=1).failed
        tables = [pq.read_table(campaign.folder(run).path / "metrics.parquet") for run in campaign.runs]
        assert tables[0]["workload"] == tables[1]["workload"]
        return tables[0]["workload"].to_pylist()

    first = loads(1000)
    assert sum(first) == pytest.approx(300 * 1000, rel=0.01)
    assert sum(loads(2000)) == pytest.approx(300 * 2000, rel=0.01), "the trace's contents count, not its path"
    assert loads(1000, seed=2) != first


@pytest.mark.usefixtures("raising")
def test_a_run_that_raises_is_recorded_and_the_others_go_on(suite_file: Write, tmp_path: Path) -> None:
    text = """
    name: faulty
    duration: 10m
    repetitions: 2
    jobs: [yahoo]
    workloads: [{name: flat, shape: constant, peak: 100k}]
    autoscalers: [raising, static]
    """
    campaign = Campaign.open(suite_file(text), archive=tmp_path / "archive")
    outcome = campaign.run_all(workers=1)
    assert outcome.done == 2
    assert [failed.label for failed in outcome.failed] == ["yahoo · flat · raising #1", "yahoo · flat · raising #2"]
    assert outcome.failed[0].error == "RuntimeError: lost my"
    folder = campaign.folder(campaign.runs[0])
    assert not folder.finished
    assert "in decide" in (folder.path / "logs" / "traceback.txt").read_text()
    assert "failed: RuntimeError" in folder.log.read_text()
    assert [failed.run_id for failed in campaign.failures()] == [run.run_id for run in campaign.runs[:2]]
    assert len(campaign.pending(campaign.runs)) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_folder_that_cannot_be_used_fails_its_own_run_only(suite_file: Write, tmp_path: Path, workers: int) -> None:
    campaign = Campaign.open(suite_file(), archive=tmp_path / "archive")
    blocked = campaign.folder(campaign.runs[0]).path
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file is in the way")
    outcome = campaign.run_all(workers=workers)
    assert outcome.done == 3
    assert [failed.run_id for failed in outcome.failed] == [campaign.runs[0].run_id]
    assert "Not a directory" in outcome.failed[0].error


def test_repetitions_are_spread_over_processes(suite_file: Write, tmp_path: Path) -> None:
    campaign = Campaign.open(suite_file(), archive=tmp_path / "archive")
    seen = []
    outcome = campaign.run_all(workers=2, on_finished=seen.append)
    assert outcome.done == len(seen) == 4


def test_a_process_that_dies_costs_only_its_own_run(suite_file: Write, tmp_path: Path) -> None:
    """A run whose folder cannot even be made takes its worker's future down; the pool's break is survived too."""
    campaign = Campaign.open(suite_file(), archive=tmp_path / "archive")
    killer = KillerRun(campaign.runs[0])
    finished = _alone(killer, campaign.archive)
    assert finished.error is not None
    assert "died" in finished.error
    assert RunFolder(campaign.archive.run(campaign.runs[0].run_id).path).failure == finished.error


class KillerRun:
    """Pickles like a run, and ends the process that unpickles it."""

    def __init__(self, run: object) -> None:
        self.run = run

    @property
    def run_id(self) -> str:
        return self.run.run_id

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (9,)


LONG = """
name: long
duration: 3d
repetitions: 6
jobs: [yahoo]
workloads: [{name: flat, shape: daily, peak: 100k}]
autoscalers: [hpa]
"""


SCRIPT = """
import sys
from pathlib import Path

from experiments.campaign import Campaign

if __name__ == "__main__":
    Campaign.open(sys.argv[1], archive=Path(sys.argv[2])).run_all(workers=2)
"""


def test_after_kill_9_no_process_stays_and_the_same_command_finishes_the_rest(
    suite_file: Write, tmp_path: Path
) -> None:
    path, archive = suite_file(LONG), tmp_path / "archive"
    (tmp_path / "campaign.py").write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(tmp_path / "campaign.py"), path, str(archive)])
    campaign = Campaign.open(path, archive=archive)
    await_condition(lambda: any(campaign.folder(run).finished for run in campaign.runs))
    children = _children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    await_condition(lambda: not any(_alive(child) for child in children))
    finished = [run.run_id for run in campaign.runs if campaign.folder(run).finished]
    assert 1 <= len(finished) < 6
    before = {run_id: (campaign.archive.run(run_id).path / "manifest.json").stat().st_mtime_ns for run_id in finished}
    outcome = campaign.run_all(workers=1)
    assert outcome.skipped == len(finished)
    assert outcome.done == 6 - len(finished)
    for run_id, stamp in before.items():
        assert (campaign.archive.run(run_id).path / "manifest.json").stat().st_mtime_ns == stamp


def await_condition(condition: Callable[[], bool], patience_s: float = 240.0) -> None:
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end, "the condition did not come about"
        time.sleep(0.02)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
