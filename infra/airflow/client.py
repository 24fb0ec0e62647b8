"""Airflow's REST interface, as much of it as Tidebed asks for.

A command line call of Airflow costs seconds of CPU, a request some milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import httpx

from infra.airflow.errors import AirflowError
from infra.processes import wait_until

ATTEMPTS = 5
FIRST_PAUSE_S = 0.2
PAGE = 500
UNFINISHED = ("queued", "running")
HEARTBEATS = {"scheduler": "latest_scheduler_heartbeat", "dag_processor": "latest_dag_processor_heartbeat"}


@dataclass(frozen=True, slots=True)
class TaskInstance:
    """One task of one DAG run; a mapped task has one of these for each thing it was mapped over."""

    task_id: str
    map_index: int
    rendered_map_index: str | None
    state: str | None
    try_number: int

    @property
    def label(self) -> str:
        """The name of what it was mapped over, or the task's own.

        >>> TaskInstance("run_experiment", 0, "wordcount · hpa", "running", 1).label
        'wordcount · hpa'
        >>> TaskInstance("run_experiment", 0, "0", "queued", 0).label
        'run_experiment[0]'
        """
        if self.map_index < 0:
            return self.task_id
        unnamed = self.rendered_map_index in (None, "", str(self.map_index))
        return f"{self.task_id}[{self.map_index}]" if unnamed else str(self.rendered_map_index)


class Client:
    """Talks to one Airflow on this machine. Requests that may be repeated are, a few times."""

    def __init__(self, base_url: str, *, timeout_s: float = 30.0, transport: httpx.BaseTransport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = httpx.Client(base_url=self.base_url, timeout=timeout_s, trust_env=False, transport=transport)
        self._token: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    # --- the installation

    def unhealthy(self, since: datetime) -> list[str]:
        """What has not reported since then, by name; empty if all is well."""
        try:
            health = self._http.get("/api/v2/monitor/health", timeout=5.0).raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            return ["api-server"]
        silent = [] if health["metadatabase"]["status"] == "healthy" else ["database"]
        for part, key in HEARTBEATS.items():
            beat = (health.get(part) or {}).get(key)
            if beat is None or datetime.fromisoformat(beat) < since:
                silent.append(part.replace("_", "-"))
        return silent

    def ensure_pool(self, name: str, slots: int, about: str) -> None:
        """Make the pool if it is missing. One that is there keeps the slots that somebody may have given it."""
        if self._ask("GET", f"/pools/{name}", accepted=(HTTPStatus.NOT_FOUND,)) is None:
            body = {"name": name, "slots": slots, "description": about, "include_deferred": False}
            self._ask("POST", "/pools", json=body, accepted=(HTTPStatus.CONFLICT,))

    # --- DAGs

    def wait_for_dag(self, dag_id: str, *, since: datetime | None = None, patience_s: float = 60.0) -> None:
        """Return when the DAG is known, read after `since` if that is given."""
        if not wait_until(lambda: self._known(dag_id, since), patience_s, poll_s=0.2):
            raise AirflowError(f'Airflow does not know the DAG "{dag_id}" after {patience_s:.0f} s')

    def _known(self, dag_id: str, since: datetime | None) -> bool:
        for fault in self._pages("/importErrors", "import_errors"):
            last_line = str(fault["stack_trace"]).strip().rpartition("\n")[2]
            raise AirflowError(f"{fault['filename']} cannot be imported: {last_line}")
        dag = self._ask("GET", f"/dags/{dag_id}", accepted=(HTTPStatus.NOT_FOUND,))
        if dag is None or dag["is_stale"]:
            return False
        return since is None or (dag["last_parsed_time"] and datetime.fromisoformat(dag["last_parsed_time"]) >= since)

    def reread(self, dag_id: str) -> None:
        """Have the DAG's file read again, so that suites which were added since are in its form."""
        self.wait_for_dag(dag_id)
        asked = datetime.now(UTC)
        dag = self._ask("GET", f"/dags/{dag_id}/details")
        self._ask("PUT", f"/parseDagFile/{dag['file_token']}", accepted=(HTTPStatus.CONFLICT,))
        self.wait_for_dag(dag_id, since=asked)

    def pause(self, dag_id: str) -> None:
        """Suspend the DAG; one that is unknown starts paused anyway."""
        self._ask("PATCH", f"/dags/{dag_id}", json={"is_paused": True}, accepted=(HTTPStatus.NOT_FOUND,))

    def unpause(self, dag_id: str) -> None:
        self._ask("PATCH", f"/dags/{dag_id}", json={"is_paused": False})

    def next_run(self, dag_id: str) -> datetime | None:
        """When the schedule starts the DAG next."""
        due = self._ask("GET", f"/dags/{dag_id}")["next_dagrun_run_after"]
        return None if due is None else datetime.fromisoformat(due)

    def task_order(self, dag_id: str) -> list[str]:
        """The DAG's tasks, each after those it waits for."""
        tasks = self._ask("GET", f"/dags/{dag_id}/tasks")["tasks"]
        graph: dict[str, set[str]] = {task["task_id"]: set() for task in tasks}
        for task in tasks:
            for later in task["downstream_task_ids"]:
                graph[later].add(task["task_id"])
        return list(TopologicalSorter(graph).static_order())

    # --- runs

    def trigger(self, dag_id: str, conf: Mapping[str, Any]) -> str:
        """Start a DAG run with these parameters; returns its id.

        The id is ours, so that a request which is repeated starts no second run.
        """
        run_id = f"{dag_id}_{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}"
        body = {"dag_run_id": run_id, "logical_date": None, "conf": dict(conf)}
        self._ask("POST", f"/dags/{dag_id}/dagRuns", json=body, accepted=(HTTPStatus.CONFLICT,))
        return run_id

    def run_state(self, dag_id: str, run_id: str) -> str:
        return str(self._ask("GET", f"/dags/{dag_id}/dagRuns/{run_id}")["state"])

    def unfinished_runs(self) -> list[tuple[str, str]]:
        """(dag id, run id) of all runs that are not over."""
        runs = self._pages("/dags/~/dagRuns", "dag_runs", state=list(UNFINISHED))
        return [(run["dag_id"], run["dag_run_id"]) for run in runs]

    def stop_run(self, dag_id: str, run_id: str, *, patience_s: float = 60.0) -> None:
        """End a run as failed, but let its teardown finish, as Airflow does."""
        self._fail(dag_id, run_id)
        wait_until(lambda: self.run_state(dag_id, run_id) not in UNFINISHED, patience_s, poll_s=0.5)
        if self.run_state(dag_id, run_id) != "failed":  # after the teardown Airflow takes skipped tasks for success
            self._fail(dag_id, run_id)

    def _fail(self, dag_id: str, run_id: str) -> None:
        self._ask("PATCH", f"/dags/{dag_id}/dagRuns/{run_id}", json={"state": "failed"})

    def task_instances(self, dag_id: str, run_id: str) -> list[TaskInstance]:
        return [
            TaskInstance(
                task_id=found["task_id"],
                map_index=found["map_index"],
                rendered_map_index=found["rendered_map_index"],
                state=found["state"],
                try_number=found["try_number"],
            )
            for found in self._pages(f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances", "task_instances")
        ]

    def xcom(self, dag_id: str, run_id: str, task_id: str, key: str = "return_value", map_index: int = -1) -> Any:
        """What a task left for others; None if it left nothing."""
        found = self._ask(
            "GET",
            f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/xcomEntries/{key}",
            params={"map_index": map_index, "deserialize": True},
            accepted=(HTTPStatus.NOT_FOUND,),
        )
        return None if found is None else found["value"]

    # --- requests

    def _pages(self, path: str, key: str, **params: Any) -> Iterator[dict[str, Any]]:
        seen = 0
        while True:
            page = self._ask("GET", path, params={**params, "limit": PAGE, "offset": seen})
            yield from page[key]
            seen += len(page[key])
            if not page[key] or seen >= page["total_entries"]:
                return

    def _ask(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        accepted: tuple[int, ...] = (),
    ) -> Any:
        """The answer's content; None for a status in `accepted`. Every request of ours may be repeated."""
        fault = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(FIRST_PAUSE_S * 2**attempt)
            try:
                answer = self._http.request(
                    method, f"/api/v2{path}", json=json, params=params, headers=self._authorization()
                )
            except httpx.TransportError as problem:
                fault = str(problem) or type(problem).__name__
                continue
            if answer.status_code in accepted:
                return None
            if answer.is_success:
                return answer.json() if answer.content else None
            fault = _reason(answer)
            if answer.status_code == HTTPStatus.UNAUTHORIZED:
                self._token = None
            elif not answer.is_server_error:
                break
        raise AirflowError(f"Airflow at {self.base_url} did not {method} {path}: {fault}")

    def _authorization(self) -> dict[str, str]:
        """On loopback everybody is the administrator, but still shows a token."""
        if self._token is None:
            answer = self._http.get("/auth/token")
            if not answer.is_success:
                raise AirflowError(f"Airflow at {self.base_url} gave no token: {_reason(answer)}")
            self._token = str(answer.json()["access_token"])
        return {"Authorization": f"Bearer {self._token}"}


def _reason(answer: httpx.Response) -> str:
    """Airflow's own words where it has some."""
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} {answer.reason_phrase}"
    if isinstance(detail, list):
        return "; ".join(str(item.get("msg", item)) if isinstance(item, dict) else str(item) for item in detail)
    return str(detail)
