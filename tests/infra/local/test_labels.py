"""What bears a label is found and removed; what does not is left alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from infra.local import leftovers, paths
from infra.local.household import Household
from infra.local.labels import VARIABLE, Label, labelled
from infra.processes import wait_until

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def dead() -> Label:
    """The label of a run whose process has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return replace(Label.own(f"dead-{os.getpid()}"), pid=process.pid, started=1)


@pytest.fixture
def orphan(dead: Label) -> Iterator[subprocess.Popen[bytes]]:
    """A process that such a run left behind, with a child that inherited the label."""
    script = f"import subprocess, sys; subprocess.run({SLEEP!r})"
    with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, VARIABLE: str(dead)}) as process:
        assert wait_until(lambda: len(dead.processes()) == 2, 20)
        yield process
        dead.kill()


def test_a_label_says_whose_it_is() -> None:
    own = Label.own("3f2a/…")
    assert Label.read(str(own)) == own
    assert own.alive
    assert not replace(own, started=own.started + 1).alive
    assert not replace(own, boot="00000000").alive
    assert Label.read("probe-17") is None


def test_a_sweep_ends_what_a_dead_run_left_and_its_folder(dead: Label, orphan: subprocess.Popen[bytes]) -> None:
    folder = paths.state() / "runs" / str(dead)
    folder.mkdir(parents=True)
    lines = [line for line in leftovers.sweep() if dead.run in line]
    assert lines == [f"local run {dead.run}: removed 2 processes, the folder {folder}"]
    assert orphan.wait(10) != 0
    assert not folder.exists()
    assert [line for line in leftovers.sweep() if dead.run in line] == []


def test_a_sweep_leaves_a_run_alone_that_goes_on() -> None:
    with Household("going-on") as household:
        part = household.start("sleeper", SLEEP)
        assert [line for line in leftovers.sweep() if "going-on" in line] == []
        assert part.alive
        assert household.folder.is_dir()


def test_leaving_a_household_leaves_nothing(tmp_path: Path) -> None:
    script = f"import subprocess; subprocess.run({SLEEP!r})"
    with Household("tidy") as household:
        household.start("parent", [sys.executable, "-c", script])
        assert wait_until(lambda: len(household.label.processes()) == 2, 20)
        label, folder = household.label, household.folder
    assert label.processes() == []
    assert not folder.exists()


def test_a_paused_part_can_be_stopped() -> None:
    import signal

    with Household("paused") as household:
        part = household.start("sleeper", SLEEP)
        part.signal(signal.SIGSTOP)
        part.stop(patience_s=5)
        assert not part.alive


def test_after_kill_9_the_reaper_removes_what_is_left(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from infra.local.household import Household\n"
        "with Household('killed') as household:\n"
        f"    household.start('sleeper', {SLEEP!r})\n"
        "    print(household.label, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    label = Label.read(done.stdout.strip())
    assert label is not None
    assert wait_until(lambda: not label.processes(), 20)
    assert wait_until(lambda: not (paths.state() / "runs" / str(label)).exists(), 20)


def test_a_part_that_ends_is_told_with_its_last_words() -> None:
    from infra.local.errors import LocalError

    with Household("ends") as household:
        part = household.start("broken", [sys.executable, "-c", "import sys; sys.exit('no such thing')"])
        with pytest.raises(LocalError, match=r"broken ended with code 1\nno such thing"):
            household.await_("waiting for it", lambda: False, part, patience_s=20)


def test_a_part_that_never_comes_up_is_told_with_the_time() -> None:
    from infra.local.errors import LocalError

    with Household("slow") as household:
        part = household.start("sleeper", SLEEP)
        with pytest.raises(LocalError, match=r"waiting for it: not ready after 0\.3 s"):
            household.await_("waiting for it", lambda: False, part, patience_s=0.3)


def test_processes_of_others_bear_no_label() -> None:
    assert os.getpid() not in dict(labelled())
