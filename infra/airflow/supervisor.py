"""The process above Airflow's: starts them, watches them, and takes them all down with it.

`python -m infra.airflow.supervisor ROOT STATE PORT [--attached]`. It leads a session of its own, so
it outlives the shell that started it; attached, it ends as soon as its standard input is closed,
that is with the process that started it, however that one ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from infra import processes
from infra.airflow.config import CHILDREN, Layout
from infra.airflow.record import ATTACHED, Record

PR_SET_CHILD_SUBREAPER = 36
STEADY_S = 60.0
CHECK_S = 1.0
GRACE_S = 8.0


class Supervisor:
    """Keeps Airflow's processes running until told to stop."""

    def __init__(self, layout: Layout, port: int, *, attached: bool) -> None:
        self.layout = layout
        self.attached = attached
        me = processes.identify(os.getpid())
        assert me is not None  # a process that asks for itself runs
        self.record = Record(me, port, attached)
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.started: dict[str, float] = {}
        self.news, self._signals = os.pipe()

    def run(self) -> int:
        """Start, watch, and stop everything. Returns the exit code."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphaned tasks become ours, so they are reaped
        self._listen()
        self.record.write(self.layout.record)
        try:
            for name in CHILDREN:
                self._start(name)
            return self._watch()
        finally:
            self._say("stopping")
            processes.end(self._others, grace_s=GRACE_S)
            self._reap()
            self.layout.record.unlink(missing_ok=True)

    def _listen(self) -> None:
        """Make signals readable beside the standard input, so that one `select` waits for both."""
        os.set_blocking(self._signals, False)
        signal.set_wakeup_fd(self._signals)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def _start(self, name: str) -> None:
        command = [sys.executable, "-m", "infra.airflow.child", str(os.getpid()), *CHILDREN[name]]
        with self.layout.log(name).open("ab") as log:
            self.children[name] = subprocess.Popen(
                command, cwd=self.layout.root, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        self.started[name] = time.monotonic()
        self._say(f"started {name} as process {self.children[name].pid}")

    def _watch(self) -> int:
        sources = [self.news, sys.stdin.fileno()] if self.attached else [self.news]
        while True:
            readable, _, _ = select.select(sources, [], [], CHECK_S)
            if sys.stdin.fileno() in readable:
                self._say("the process that started Airflow is gone")
                return 0
            if self.news in readable and set(os.read(self.news, 512)) - {signal.SIGCHLD}:
                return 0
            if not all(self._keep(name) for name in CHILDREN):
                return 1
            self._reap()

    def _keep(self, name: str) -> bool:
        """Start a child anew that ended. One that ended soon after its start would end again."""
        code = self.children[name].poll()
        if code is None:
            return True
        self._say(f"{name} ended with code {code}")
        if time.monotonic() - self.started[name] < STEADY_S:
            self.layout.ended.write_text(json.dumps({"child": name, "code": code}))
            return False
        self._start(name)
        return True

    def _others(self) -> list[int]:
        self._reap()
        return [pid for pid in processes.members(self.record.leader, self.layout.root) if pid != os.getpid()]

    def _reap(self) -> None:
        """Collect what ended: our children, and orphans of theirs, for which nobody else would."""
        own = {child.pid: child for child in self.children.values()}
        with suppress(ChildProcessError):
            while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                if ended.si_pid in own:
                    own[ended.si_pid].poll()  # keeps the exit code for `_keep`
                else:
                    os.waitpid(ended.si_pid, 0)

    def _say(self, line: str) -> None:
        sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
        sys.stdout.flush()


def main(arguments: list[str]) -> int:
    root, state, port, *flags = arguments
    return Supervisor(Layout(Path(root), Path(state)), int(port), attached=ATTACHED in flags).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
