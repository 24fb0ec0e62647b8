"""Watching a DAG run until it is over."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from infra.airflow.client import UNFINISHED, Client, TaskInstance
from infra.airflow.contract import REASON

POLL_S = 1.0
FAILED = ("failed", "upstream_failed")


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """One task of the DAG: how many of its instances are in which state."""

    task_id: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def finished(self) -> int:
        return sum(self.counts.get(state, 0) for state in ("success", "skipped", "removed", *FAILED))


@dataclass(frozen=True, slots=True)
class Progress:
    """A DAG run at one moment."""

    state: str
    tasks: tuple[TaskProgress, ...]
    running: tuple[str, ...]
    """Labels of what runs now."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A task that failed by itself, not for another's sake."""

    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a DAG run ended."""

    run_id: str
    state: str
    failures: tuple[Failure, ...]

    @property
    def succeeded(self) -> bool:
        return self.state == "success"


def progress(state: str, order: Sequence[str], instances: Iterable[TaskInstance]) -> Progress:
    """Count instances by task, in the order of the DAG.

    >>> now = progress("running", ["plan", "run"], [
    ...     TaskInstance("run", 0, "hpa", "running", 1), TaskInstance("run", 1, "static", None, 0),
    ...     TaskInstance("plan", -1, None, "success", 1)])
    >>> now.running, [(task.task_id, task.finished, task.total) for task in now.tasks]
    (('hpa',), [('plan', 1, 1), ('run', 0, 2)])
    """
    found = list(instances)
    counts: dict[str, Counter[str]] = {task_id: Counter() for task_id in order}
    for instance in found:
        counts.setdefault(instance.task_id, Counter())[instance.state or "none"] += 1
    return Progress(
        state=state,
        tasks=tuple(TaskProgress(task_id, dict(states)) for task_id, states in counts.items()),
        running=tuple(sorted(instance.label for instance in found if instance.state == "running")),
    )


def follow(
    client: Client, dag_id: str, run_id: str, on_update: Callable[[Progress], None], *, poll_s: float = POLL_S
) -> Ended:
    """Report the run about once a second, until it is over."""
    order = client.task_order(dag_id)
    while True:
        state = client.run_state(dag_id, run_id)
        instances = client.task_instances(dag_id, run_id)
        on_update(progress(state, order, instances))
        if state not in UNFINISHED:
            return Ended(run_id, state, tuple(_failures(client, dag_id, run_id, instances)))
        time.sleep(poll_s)


def _failures(client: Client, dag_id: str, run_id: str, instances: Iterable[TaskInstance]) -> Iterable[Failure]:
    for instance in instances:
        if instance.state == "failed":
            reason = client.xcom(dag_id, run_id, instance.task_id, REASON, instance.map_index)
            yield Failure(instance.label, str(reason or "see the task's log"))
