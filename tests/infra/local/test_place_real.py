"""The place as a whole, through the command line: a campaign, a crash of it, and two at a time."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pyarrow.parquet as pq
import pytest

from infra.local import cgroups, leftovers, lock
from infra.local.labels import Label, labelled
from infra.processes import wait_until

pytestmark = pytest.mark.local
TIDEBED = [str(Path(sys.executable).with_name("tidebed"))]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "tiny.yaml"
    path.write_text(
        dedent("""
        name: tiny
        duration: 20s
        repetitions: 1
        initial_workers: 1
        place: {local: {max_workers: 2, warmup_s: 3, work_ns: 500}}
        jobs: [yahoo]
        workloads: [{name: flat, shape: constant, peak: 1k}]
        autoscalers: [{static: {workers: 1}}]
        """)
    )
    return str(path)


def labels() -> set[Label]:
    return {label for _, label in labelled()}


def test_after_kill_9_of_the_command_a_sweep_finds_what_is_left(suite: str, tmp_path: Path) -> None:
    command = [*TIDEBED, "run", suite, "--archive", str(tmp_path / "archive")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as campaign:
        try:
            assert wait_until(lambda: any(label.pid == campaign.pid for label in labels()), 60, poll_s=0.2)
            label = next(label for label in labels() if label.pid == campaign.pid)
            # a second campaign is told at once who has the machine
            second = subprocess.run(
                [*TIDEBED, "run", suite, "--archive", str(tmp_path / "other")],
                capture_output=True,
                text=True,
                check=False,
            )
            assert second.returncode == 2
            assert f"tiny: the local place is taken by process {campaign.pid}" in second.stderr
            assert len(second.stderr.splitlines()) == 1
            assert not (tmp_path / "other").exists()
            # the reaper would do the sweep's work, so it must not
            reapers = [pid for pid in children(campaign.pid) if b"infra.local.reaper" in command_line(pid)]
            assert len(reapers) == 1
            os.kill(reapers[0], signal.SIGKILL)
        finally:
            campaign.kill()
    assert not label.alive
    assert label.processes()
    swept = subprocess.run([*TIDEBED, "sweep"], capture_output=True, text=True, check=True).stdout
    assert f"local run {label.run}: removed" in swept
    assert label.processes() == []
    assert str(label) not in cgroups.labels()
    assert [line for line in leftovers.sweep() if label.run in line] == []
    assert subprocess.run([*TIDEBED, "sweep"], capture_output=True, text=True, check=True).stdout


def test_a_campaign_runs_and_leaves_an_archive_and_nothing_else(suite: str, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    done = subprocess.run(
        [*TIDEBED, "run", suite, "--archive", str(archive), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failed"] == []
    for what in ("waiting for the Kafka broker", "waiting for 1 workers and the job on flink", "measuring"):
        assert what in done.stderr
    (folder,) = (archive / "tiny" / "runs").iterdir()
    metrics = pq.read_table(folder / "metrics.parquet").to_pandas()
    assert metrics["time_s"].tolist() == list(range(20))
    assert metrics["workload"].sum() == pytest.approx(20_000, rel=0.1)
    assert metrics["throughput"].sum() > 5_000
    assert (metrics["workers_running"] == 1).sum() >= 15
    assert metrics["cpu"].notna().sum() >= 15
    assert json.loads((folder / "run.json").read_text())["place_options"]["work_ns"] == 500
    assert not [label for label in labels() if label.run == folder.name]
    lock.take()
    lock.release()


def children(parent: int) -> list[int]:
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
