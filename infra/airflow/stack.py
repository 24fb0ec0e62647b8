"""A real Airflow on this machine: started, found again, and stopped without a trace."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from infra import processes
from infra.airflow import config
from infra.airflow.client import Client
from infra.airflow.config import CHILDREN, Layout
from infra.airflow.contract import MACHINE_POOL
from infra.airflow.errors import AirflowError
from infra.airflow.record import ATTACHED, Record

OnMessage = Callable[[str], None]

HEALTHY_WITHIN_S = 180.0
STOPPED_WITHIN_S = 40.0
LAST_LINES = 12


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a running Airflow is found."""

    url: str
    pid: int
    """The supervisor's."""
    detached: bool


class Stack:
    """Airflow's api-server, scheduler and dag-processor under one supervisor.

    `scheduled` names the DAGs whose schedule counts only while Airflow is kept `up`; an Airflow that
    is started for one campaign must not begin a nightly one beside it.
    """

    def __init__(self, root: Path, state: Path, *, port: int = config.PORT, scheduled: Sequence[str] = ()) -> None:
        self.layout = Layout(root.resolve(), state.resolve())
        self.first_port = port
        self.scheduled = tuple(scheduled)
        self._supervisor: subprocess.Popen[bytes] | None = None

    def running(self) -> Endpoint | None:
        """The Airflow that runs on this state directory, whoever started it."""
        record = Record.read(self.layout.record)
        if record is None or not record.leader.alive:
            return None
        return Endpoint(config.url(record.port), record.leader.pid, detached=not record.attached)

    def up(self, *, detach: bool, on_message: OnMessage) -> Endpoint:
        """Start Airflow and return when it is healthy; one that runs already is left as it is.

        Detached, it runs until `down`; otherwise it ends with this process, however that ends.
        """
        self.layout.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone():
            if (endpoint := self.running()) is not None:
                on_message(f"Airflow already runs at {endpoint.url}")
                return endpoint
            for line in self.sweep():
                on_message(line)
            port = self._port(on_message)
            self._prepare(port, on_message)
            try:
                return self._start(port, detach, on_message)
            except BaseException:
                self._end()
                self.sweep()
                raise

    def down(self) -> list[str]:
        """Stop what runs, campaigns first so that their teardown is done; a line for each thing done. Idempotent."""
        lines: list[str] = []
        if (endpoint := self.running()) is not None:
            try:
                with Client(endpoint.url, timeout_s=5.0) as client:
                    self._quiet(client)
                    lines += self._interrupt(client)
            except AirflowError as fault:  # an Airflow that does not answer is stopped all the same
                lines.append(str(fault))
            self._end()
            lines.append(f"stopped Airflow at {endpoint.url}")
        return lines + self.sweep()

    def sweep(self) -> list[str]:
        """Remove what a supervisor that was killed left behind; a line for each thing removed. Idempotent."""
        record = Record.read(self.layout.record)
        if record is None or record.leader.alive:
            return []
        left = processes.members(record.leader, self.layout.root)
        processes.end(lambda: processes.members(record.leader, self.layout.root), grace_s=5.0)
        self.layout.record.unlink(missing_ok=True)
        return [f"ended {len(left)} processes of an Airflow whose supervisor was gone"] if left else []

    @contextmanager
    def at_hand(self, on_message: OnMessage) -> Iterator[Endpoint]:
        """An Airflow to use: the one that runs, or one that is started now and stopped at the end."""
        before = self._supervisor
        endpoint = self.up(detach=False, on_message=on_message)
        started = self._supervisor is not before
        try:
            yield endpoint
        finally:
            if started:
                for line in self.down():
                    on_message(line)

    # --- starting

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One start at a time; a second one waits for the first, and then finds it running."""
        with self.layout.lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _port(self, on_message: OnMessage) -> int:
        port = config.free_port(self.first_port)
        if port != self.first_port:
            on_message(f"port {self.first_port} is taken, using {port}")
        return port

    def _prepare(self, port: int, on_message: OnMessage) -> None:
        for folder in (self.layout.logs, self.layout.logs / "tasks", self.layout.logs / "dags"):
            folder.mkdir(parents=True, exist_ok=True)
        for name in ("supervisor", *CHILDREN):
            self.layout.log(name).unlink(missing_ok=True)
        self.layout.ended.unlink(missing_ok=True)
        config.write(self.layout, port)
        installed = version("apache-airflow-core")
        if self.layout.database.exists() and self._made_for() == installed:
            return
        on_message(f"preparing Airflow's database for version {installed}")
        self._migrate()
        self.layout.version.write_text(installed)

    def _made_for(self) -> str:
        return self.layout.version.read_text() if self.layout.version.exists() else ""

    def _migrate(self) -> None:
        log = self.layout.log("migrate")
        with log.open("wb") as output:
            ended = subprocess.run(
                [sys.executable, "-m", "airflow", "db", "migrate"],
                cwd=self.layout.root,
                env=config.environment(self.layout, os.environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if ended.returncode:
            raise AirflowError(f"Airflow's database could not be prepared; {_tail(log)}")
        with closing(sqlite3.connect(self.layout.database)) as database:
            database.execute("PRAGMA journal_mode=WAL")  # readers and the writer do not wait for each other

    def _start(self, port: int, detach: bool, on_message: OnMessage) -> Endpoint:
        on_message(f"starting Airflow at {config.url(port)}")
        since = datetime.now(UTC)
        with self.layout.log("supervisor").open("wb") as log:
            self._supervisor = subprocess.Popen(
                [
                    *(sys.executable, "-m", "infra.airflow.supervisor"),
                    *(str(self.layout.root), str(self.layout.state), str(port)),
                    *([] if detach else [ATTACHED]),
                ],
                cwd=self.layout.root,
                env=config.environment(self.layout, os.environ),
                stdin=subprocess.DEVNULL if detach else subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        with Client(config.url(port)) as client:
            self._await_health(client, since)
            client.ensure_pool(MACHINE_POOL, 1, "One slot: experiments that need the machine to themselves.")
            self._quiet(client)
            for line in self._interrupt(client):
                on_message(line)
            if detach:
                for dag_id in self.scheduled:
                    client.wait_for_dag(dag_id, since=since)
                    client.unpause(dag_id)
                    if (due := client.next_run(dag_id)) is not None:
                        on_message(f"{dag_id}: next at {due:%Y-%m-%d %H:%M} UTC")
        return Endpoint(config.url(port), self._supervisor.pid, detached=detach)

    def _await_health(self, client: Client, since: datetime) -> None:
        silent: list[str] = []

        def healthy() -> bool:
            self._check_alive()
            silent[:] = client.unhealthy(since)
            return not silent

        if not processes.wait_until(healthy, HEALTHY_WITHIN_S, poll_s=0.2):
            logs = ", ".join(str(self.layout.log(name)) for name in silent if name in CHILDREN)
            heard = f"nothing heard of {' and '.join(silent)}"
            raise AirflowError(f"Airflow is not healthy after {HEALTHY_WITHIN_S:.0f} s: {heard}; see {logs}")

    def _check_alive(self) -> None:
        """Raise if the supervisor gave up, with the last words of the process that made it do so."""
        if self._supervisor is None or self._supervisor.poll() is None:
            return
        if not self.layout.ended.exists():
            raise AirflowError(f"Airflow's supervisor ended while starting; {_tail(self.layout.log('supervisor'))}")
        ended = json.loads(self.layout.ended.read_text())
        log = self.layout.log(ended["child"])
        raise AirflowError(f"Airflow's {ended['child']} ended with code {ended['code']} while starting; {_tail(log)}")

    # --- stopping

    def _quiet(self, client: Client) -> None:
        """No schedule starts anything from now on."""
        for dag_id in self.scheduled:
            client.pause(dag_id)

    def _interrupt(self, client: Client) -> list[str]:
        """End the runs that are not over. Their finished runs are in the archive, so triggering again continues."""
        lines = []
        for dag_id, run_id in client.unfinished_runs():
            client.stop_run(dag_id, run_id)
            lines.append(f"{dag_id}: interrupted {run_id}; trigger it again to do what is missing")
        return lines

    def _end(self) -> None:
        """End the supervisor, which takes its own processes down first, and whatever is left if it hangs."""
        if self._supervisor is not None:
            leader = processes.identify(self._supervisor.pid)
        else:
            record = Record.read(self.layout.record)
            leader = record.leader if record is not None else None
        if leader is not None:
            processes.end(lambda: [leader.pid] if leader.alive else [], grace_s=STOPPED_WITHIN_S)
        if self._supervisor is not None:
            self._supervisor.communicate()  # it has ended: collect it, and close its standard input
            self._supervisor = None


def _tail(log: Path) -> str:
    """The end of a log, as part of a message."""
    with log.open(errors="replace") as lines:
        last = deque((line.rstrip() for line in lines if line.strip()), LAST_LINES)
    return "\n".join([f"the last lines of {log}:", *(f"  {line}" for line in last)])
