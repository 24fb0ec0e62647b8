"""A campaign as Airflow tasks. Each does what the command line does, by the same code.

    plan ─> provision ─┬─> run_experiment (one an experiment) ───┬─> aggregate ─> report ─> verdict
                       └─> plan_alone ─> run_experiment_alone ───┤
                                                                 └─> release

- `provision` is the setup of the experiments and `release` their teardown: it also comes when they fail.
- A pool is fixed when the DAG is built, but the place is chosen when it is triggered. So there are two
  mapped tasks of the same function: experiments in a place that needs the machine to itself go to
  `run_experiment_alone`, which waits in a pool of one slot; all others to `run_experiment`. The one that
  has nothing to do is skipped. A task maps over the whole of what another returns, hence `plan_alone`.
- A failed experiment fails its own task. The others, the results and the report come all the same, and
  `verdict`, the last task, fails the DAG run then and names what failed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from airflow.sdk import TriggerRule, XComArg, get_current_context, setup, task
from airflow.sdk.exceptions import AirflowSkipException

import infra
from infra.airflow.config import PARALLELISM
from infra.airflow.contract import MACHINE_POOL
from operators.assets import REPORT, RESULTS, RUNS, announce
from operators.failures import explained, fail
from operators.request import Request, from_params, open_campaign

if TYPE_CHECKING:
    from experiments.campaign import Campaign
    from experiments.execution import Finished

PLAN = "plan"
PLAN_ALONE = "plan_alone"
NOT_BEGUN = "the campaign could not begin; see the tasks before this one"
REQUEST = "request"
ALONE = "alone"
LABEL = "{{ task.op_kwargs['experiment']['label'] }}"

log = logging.getLogger(__name__)


class Planned(TypedDict):
    """One experiment to do."""

    id: str
    label: str
    workers: int
    """Processes over which its repetitions are spread."""


def planned(request: Request) -> list[Planned]:
    """Leave the resolved request and the experiments that need the machine alone; returns all others."""
    campaign = open_campaign(request)
    resolved = Request(**{**request, "archive": str(campaign.archive.root)})
    log.info("%d experiments with %d runs into %s", len(campaign.experiments), len(campaign.runs), resolved["archive"])
    alone = [each for each in campaign.experiments if infra.get(each.place).exclusive]
    shared = [each for each in campaign.experiments if each not in alone]
    cores = os.cpu_count() or 1
    workers = cores // max(1, min(len(shared), max(PARALLELISM, cores)))
    leave = get_current_context()["ti"].xcom_push
    leave(REQUEST, resolved)
    leave(ALONE, [Planned(id=each.id, label=each.label, workers=1) for each in alone])
    return [Planned(id=each.id, label=each.label, workers=max(1, workers)) for each in shared]


def request_of_this_run() -> Request:
    """What `plan` resolved."""
    request: Request = get_current_context()["ti"].xcom_pull(task_ids=PLAN, key=REQUEST)
    return request


def began() -> bool:
    """Whether the places were made ready: `plan_alone` comes right after that.

    Whatever waits with the rule "all done" is started even where planning failed, and asks this first. (The rule
    "all done, one success" takes the mapped task that has nothing to do, and is skipped, for not done.)
    """
    return get_current_context()["ti"].xcom_pull(task_ids=PLAN_ALONE) is not None


def campaign_of_this_run() -> Campaign:
    return open_campaign(request_of_this_run())


@task(task_id=PLAN)
@explained
def plan() -> list[Planned]:
    """Check the suite and name its experiments. Nothing is started yet."""
    return planned(from_params(get_current_context()["params"]))


@task(task_id=PLAN_ALONE)
@explained
def plan_alone() -> list[Planned]:
    """The experiments that need the machine to themselves."""
    found: list[Planned] = get_current_context()["ti"].xcom_pull(task_ids=PLAN, key=ALONE)
    return found


@setup
@task
@explained
def provision() -> None:
    """Make the places ready; what a crashed campaign left behind goes first."""
    for line in campaign_of_this_run().provision(fresh=request_of_this_run()["fresh"]):
        log.info("%s", line)


@task(map_index_template=LABEL, outlets=[RUNS])
@explained
def run_experiment(experiment: Planned) -> dict[str, int]:
    """Do the runs of one experiment that the archive lacks."""
    request = request_of_this_run()
    campaign = open_campaign(request)
    outcome = campaign.run_experiment(
        experiment["id"], fresh=request["fresh"], workers=experiment["workers"], on_finished=_tell
    )
    if outcome.failed:
        fail(*(f"{run.label}: {run.error} (see {run.log})" for run in outcome.failed))
    announce(RUNS, experiment=experiment["label"], archive=request["archive"])
    return {"done": outcome.done, "skipped": outcome.skipped}


@task
@explained
def release() -> None:
    """Give back whatever the places still hold."""
    for line in campaign_of_this_run().release():
        log.info("%s", line)


@task(trigger_rule=TriggerRule.ALL_DONE, inlets=[RUNS], outlets=[RESULTS])
@explained
def aggregate() -> str:
    """Turn the runs that finished into tables, with Spark; also when some experiments failed."""
    if not began():
        raise AirflowSkipException(NOT_BEGUN)
    results = campaign_of_this_run().aggregate(spark_master=request_of_this_run()["spark_master"])
    announce(RESULTS, results=str(results))
    return str(results)


@task(inlets=[RESULTS], outlets=[REPORT])
@explained
def report() -> str:
    """Write the report from the tables."""
    written = campaign_of_this_run().report()
    log.info("the report is %s", written)
    announce(REPORT, report=str(written))
    return str(written)


@task(trigger_rule=TriggerRule.ALL_DONE)
@explained
def verdict(written: str | XComArg | None, regressions: Sequence[str] | XComArg | None = None) -> str:
    """Say how the campaign went; fail if a run has no data, no report was written, or something got worse."""
    if not began():
        fail(NOT_BEGUN)
    complaints = [f"{run.label}: {run.error}" for run in campaign_of_this_run().failures()]
    if written is None:
        complaints.append("no report was written")
    complaints += cast("Sequence[str] | None", regressions) or ()
    if complaints:
        fail(*complaints)
    return f"all runs finished; the report is {written}"


def measure(plan: XComArg) -> list[XComArg]:
    """Wire provision, the experiments and release; returns what has to be done before anything is made of the runs."""
    ready = provision()
    exclusive = plan_alone()
    shared = run_experiment.expand(experiment=plan)
    alone = run_experiment.override(task_id="run_experiment_alone", pool=MACHINE_POOL).expand(experiment=exclusive)
    plan >> ready >> [exclusive, shared, alone] >> release().as_teardown(setups=ready)
    return [shared, alone]


def _tell(finished: Finished) -> None:
    log.info("%s: %s in %.1f s", finished.run.label, finished.error or "finished", finished.seconds)
