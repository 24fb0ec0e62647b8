"""All that one run starts and makes: its folder, its processes, its control groups. Leaving it removes every bit."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from infra.local import cgroups, paths
from infra.local.cgroups import Group
from infra.local.errors import LocalError
from infra.local.labels import VARIABLE, Label
from infra.processes import wait_until

#: The repository: what is started in Python finds its modules from here.
ROOT = Path(__file__).parents[2]
STOP_S = 10.0
_TAIL = 12


class Part:
    """One process of the run, with its log."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path, group: Group | None) -> None:
        self.name = name
        self.process = process
        self.log = log
        self.group = group

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def signal(self, order: signal.Signals) -> None:
        """To the process and all that it started: each part leads a group of its own."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, order)

    def kill(self) -> None:
        """As a crash would: at once, with its children."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, patience_s: float = STOP_S) -> None:
        """Politely first. One that was paused would not hear that."""
        if self.alive:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience_s)
        self.kill()

    def tail(self) -> str:
        """The last lines of its log, for a person."""
        with suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-_TAIL:])
        return ""


class Household:
    """A run's folder and processes, all under one label."""

    def __init__(self, run_id: str, *, say: Callable[[str], None] = lambda _: None) -> None:
        self.label = Label.own(run_id)
        self.folder = paths.state() / "runs" / str(self.label)
        self.say = say
        self.parts: dict[str, Part] = {}
        self._groups: list[Group] = []
        self._reaper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Household:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "logs").mkdir(parents=True)
        self._reaper = subprocess.Popen(
            [sys.executable, "-m", "infra.local.reaper", str(self.label)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        for part in reversed(self.parts.values()):
            part.signal(signal.SIGKILL)  # nothing that is left is worth a polite end
        for part in self.parts.values():
            with suppress(subprocess.TimeoutExpired):
                part.process.wait(STOP_S)
        self.label.kill()
        cgroups.remove_run(str(self.label))
        if self._reaper is not None and self._reaper.stdin is not None:
            self._reaper.kill()
            self._reaper.stdin.close()
            self._reaper.wait()
        if fault is not None:
            self._keep_logs()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _keep_logs(self) -> None:
        """After a fault somebody may want to read on; the same run's next fault takes their place."""
        kept = paths.state() / "failed" / self.label.run
        shutil.rmtree(kept, ignore_errors=True)
        with suppress(OSError):
            shutil.copytree(self.folder / "logs", kept)

    def group(self, name: str) -> Group:
        """A control group for one worker; the same where it was made before."""
        group = Group.make(str(self.label), name)
        self._groups.append(group)
        return group

    @property
    def quotas_enforced(self) -> bool:
        return all(group.enforced for group in self._groups)

    def room(self, name: str) -> Path:
        """A folder for one part."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        group: Group | None = None,
        env: Mapping[str, str] | None = None,
        attached: bool = False,
    ) -> Part:
        """Start a process; with `attached` its standard input is a pipe that closes when this process ends."""
        log = self.folder / "logs" / f"{name}.log"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {}), VARIABLE: str(self.label)}
        with log.open("ab") as output:
            process = subprocess.Popen(
                list(command),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.PIPE if attached else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if group is not None:
            group.add(process.pid)
        part = self.parts[name] = Part(name, process, log, group)
        return part

    def drop(self, part: Part) -> None:
        """Forget a part that has ended, and its control group."""
        self.parts.pop(part.name, None)
        if part.group is not None:
            part.group.remove()
            if part.group in self._groups:
                self._groups.remove(part.group)

    def await_(
        self, what: str, ready: Callable[[], bool], *parts: Part, patience_s: float = 90.0, poll_s: float = 0.1
    ) -> None:
        """Wait until something is ready, as long as the parts that it needs live."""
        self.say(what)

        def settled() -> bool:
            self.check(*parts)
            return ready()

        if not wait_until(settled, patience_s, poll_s):
            logs = "\n".join(f"--- {part.name}\n{part.tail()}" for part in parts)
            raise LocalError(f"{what}: not ready after {patience_s:g} s\n{logs}")

    def check(self, *parts: Part) -> None:
        """Raise if one of these has ended."""
        for part in parts:
            if not part.alive:
                raise LocalError(f"{part.name} ended with code {part.process.returncode}\n{part.tail()}")
