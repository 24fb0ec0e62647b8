"""Every night: the suite `nightly` with new seeds, held against the nights before."""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import CronTriggerTimetable, dag

from operators.campaign import aggregate, measure, report, verdict
from operators.nights import compare_nights, plan_night
from operators.request import campaign_form, suite_form


@dag(
    dag_display_name="Nightly",
    schedule=CronTriggerTimetable("0 2 * * *", timezone="UTC", run_immediately=timedelta(0)),
    catchup=False,
    is_paused_upon_creation=True,
    params={**suite_form("nightly"), **campaign_form()},
    max_active_runs=1,
    tags=["tidebed", "scheduled"],
)
def nightly() -> None:
    """Does a change to the code make any autoscaler worse? Asked every night at 02:00 UTC.

    The schedule counts while Airflow is kept up (`tidebed airflow up`); an Airflow that was started for one
    campaign leaves it off. **Trigger** it to do tonight's now. The first scheduled night is the coming one; of
    nights that were missed later, because Airflow was down, the latest is made up for.

    Each night has seeds of its own and its own archive, `<archive>/nights/<date>`. After `aggregate`,
    `compare_nights` holds tonight's runs against those of the last fourteen nights and writes what changed
    beyond chance; then comes the report, which shows it. Only then `verdict` fails the DAG run if something
    got worse or an experiment failed. So a red night always has its report.

    A place that needs the machine to itself gets it: such experiments wait in the pool *machine*.
    """
    measured = measure(plan_night())
    compared = compare_nights()
    written = report()
    last = verdict(written, compared)
    measured >> aggregate() >> compared >> written
    measured >> last


nightly()
