"""Quotas by control group: on directories that look like them, and on the machine's own where that is allowed."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from infra.local import cgroups
from infra.local.cgroups import Group


@pytest.fixture
def first(tmp_path: Path) -> Path:
    for controller in ("cpu", "cpuacct", "memory"):
        (tmp_path / controller).mkdir()
    return tmp_path


@pytest.fixture
def second(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpu memory")
    return tmp_path


def test_version_1_has_a_folder_a_controller(first: Path) -> None:
    group = Group.make("label", "worker-0", first)
    assert group.enforced
    group.limit(0.25)
    folder = first / "cpu/tidebed/label/worker-0"
    assert (folder / "cpu.cfs_quota_us").read_text() == "25000"
    assert (folder / "cpu.cfs_period_us").read_text() == "100000"
    group.limit(None)
    assert (folder / "cpu.cfs_quota_us").read_text() == "-1"
    group.add(4711)
    for controller in ("cpu", "cpuacct", "memory"):
        assert (first / controller / "tidebed/label/worker-0/cgroup.procs").read_text() == "4711"
    (first / "cpuacct/tidebed/label/worker-0/cpuacct.usage").write_text("1500000000\n")
    assert cgroups.cpu_seconds(group.folders) == 1.5
    assert cgroups.labels(first) == {"label"}


def test_version_2_has_one_folder_and_hands_controllers_down(second: Path) -> None:
    group = Group.make("label", "worker-0", second)
    group.limit(0.5)
    folder = second / "tidebed/label/worker-0"
    assert (folder / "cpu.max").read_text() == "50000 100000"
    assert (second / "tidebed/label/cgroup.subtree_control").read_text() == "+cpu +memory"
    group.limit(None)
    assert (folder / "cpu.max").read_text() == "max 100000"
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    assert cgroups.cpu_seconds(group.folders) == 2.5
    assert cgroups.labels(second) == {"label"}


def test_without_permission_all_goes_on(tmp_path: Path) -> None:
    group = Group.make("label", "worker-0", tmp_path / "nowhere" / "file")
    (tmp_path / "file").write_text("")
    group = Group.make("label", "worker-0", tmp_path / "file")
    assert not group.enforced
    group.limit(0.25)
    group.add(1)
    assert cgroups.cpu_seconds(group.folders) != cgroups.cpu_seconds(group.folders)
    group.remove()


def test_a_run_without_groups_has_none_to_remove(first: Path) -> None:
    assert cgroups.remove_run("nobody", first) == 0
    assert cgroups.labels(first) == set()


@pytest.mark.skipif(cgroups.permission() is not None, reason="no control groups for this user")
def test_a_quota_holds() -> None:
    """A quarter of a core, whatever else runs: never more, and the usage is counted."""
    group = Group.make("test-quota", "spinner")
    group.limit(0.25)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinner:
        try:
            group.add(spinner.pid)
            before, began = cgroups.cpu_seconds(group.folders), time.monotonic()
            time.sleep(2.0)
            used = (cgroups.cpu_seconds(group.folders) - before) / (time.monotonic() - began)
        finally:
            spinner.kill()
            spinner.wait()
            cgroups.remove_run("test-quota")
    assert 0.02 < used < 0.32
