"""`tidebed airflow`: a real Airflow on this machine, kept up or just for one campaign."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from experiments.archive import default_root
from experiments.campaign import Campaign, Outcome
from experiments.cli.console import Json, errors, output, print_json
from experiments.cli.run import (
    ArchiveOption,
    FreshOption,
    MasterOption,
    OnlyOption,
    PlaceOption,
    RepetitionsOption,
    SuiteArgument,
    show,
)
from experiments.errors import UserError
from experiments.stack import stack
from experiments.suite import find, suite_names
from infra.airflow.client import Client
from infra.airflow.errors import AirflowError
from infra.airflow.follow import Ended, Progress, follow

BENCHMARK = "benchmark"

app = typer.Typer(
    help="A real Airflow: api-server, scheduler and dag-processor, on loopback only.", no_args_is_help=True
)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except AirflowError as fault:
        raise UserError(*str(fault).splitlines()) from fault


@app.command()
def up(json: Json = False) -> None:
    """Start Airflow and keep it running, with the nightly schedule on, until `tidebed airflow down`."""
    with _told():
        endpoint = stack().up(detach=True, on_message=_say)
    if json:
        print_json({"url": endpoint.url, "pid": endpoint.pid})
    else:
        output.print(f"Airflow runs at {endpoint.url}; stop it with: make down", markup=False)


@app.command()
def down() -> None:
    """Stop Airflow and everything it started. Does nothing if it does not run."""
    with _told():
        lines = stack().down()
    for line in lines or ["Airflow does not run"]:
        output.print(line, markup=False)


@app.command("run")
def run(
    suite: SuiteArgument,
    place: PlaceOption = None,
    repetitions: RepetitionsOption = None,
    only: OnlyOption = None,
    archive: ArchiveOption = None,
    fresh: FreshOption = False,
    spark_master: MasterOption = None,
    json: Json = False,
) -> None:
    """Run a suite as a DAG run of `benchmark`: start Airflow, trigger over REST, follow, stop what was started.

    An Airflow that runs already is used and left running.
    """
    root = (archive or default_root()).resolve()
    campaign = Campaign.open(suite, archive=root, place=place, repetitions=repetitions, only=only or ())
    conf: dict[str, Any] = {
        **({"suite": suite} if suite in suite_names() else {"suite_file": str(find(suite).resolve())}),
        "place": place,
        "repetitions": repetitions,
        "only": only or [],
        "fresh": fresh,
        "archive": str(root),
        "spark_master": spark_master,
    }
    archived = len(campaign.runs) - len(campaign.pending(campaign.runs, fresh=fresh))
    with _told(), stack().at_hand(_say) as endpoint, Client(endpoint.url) as client:
        client.wait_for_dag(BENCHMARK)
        run_id = client.trigger(BENCHMARK, conf)
        errors.print(f"triggered {BENCHMARK} {run_id}: {endpoint.url}/dags/{BENCHMARK}", markup=False, soft_wrap=True)
        ended = _follow(client, run_id)
    missing = campaign.failures()
    outcome = Outcome(done=len(campaign.runs) - archived - len(missing), skipped=archived, failed=missing)
    for failure in ended.failures:
        errors.print(f"task failed: {failure.label}: {failure.reason}", markup=False, soft_wrap=True)
    show(campaign, outcome, json=json)
    if not ended.succeeded:
        raise typer.Exit(1)


def _say(line: str) -> None:
    errors.print(line, markup=False, soft_wrap=True)


def _follow(client: Client, run_id: str) -> Ended:
    """Show the tasks as they go; where nobody watches, a line whenever something changes."""
    if errors.is_terminal:
        with Live(console=errors, transient=True) as live:
            return follow(client, BENCHMARK, run_id, lambda now: live.update(_picture(now)))
    seen: set[str] = set()

    def tell(now: Progress) -> None:
        for task in now.tasks:
            line = f"  {task.task_id} {task.finished}/{task.total}"
            if task.finished and line not in seen:
                seen.add(line)
                _say(line)

    return follow(client, BENCHMARK, run_id, tell)


def _picture(now: Progress) -> Group:
    tasks = Table(box=None, pad_edge=False, show_header=False)
    for task in now.tasks:
        failed = task.counts.get("failed", 0)
        done = task.total > 0 and task.finished == task.total
        mark = Text("✗", "red") if failed else Text("✓", "green") if done else Text("·", "dim")
        tasks.add_row(mark, task.task_id, f"{task.finished}/{task.total}" if task.total else "")
    running = [Spinner("dots", f" {label}") for label in now.running]
    return Group(tasks, *running)
