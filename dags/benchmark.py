"""The triggered benchmark: plan, provision, run every experiment, aggregate, report."""

from __future__ import annotations

from airflow.sdk import dag

from operators.campaign import aggregate, measure, plan, report, verdict
from operators.request import campaign_form, suite_form


@dag(
    dag_display_name="Benchmark",
    schedule=None,
    params={**suite_form(), **campaign_form()},
    max_active_runs=1,
    tags=["tidebed", "triggered"],
)
def benchmark() -> None:
    """Run one suite and report on it: *which autoscaler should run this job, and what will it cost?*

    **Trigger** it and choose a suite in the form; what is left empty is as the suite says. The same from a
    shell: `tidebed airflow run quickstart`.

    | task | does |
    |---|---|
    | `plan` | checks the suite and names its experiments |
    | `provision` | makes the place ready |
    | `run_experiment` | one an experiment, all its repetitions; only what the archive lacks, unless *fresh* |
    | `run_experiment_alone` | the same in places that need the machine to themselves, one after the other |
    | `release` | gives the place back, also after a failure |
    | `aggregate` | Spark makes tables of the runs |
    | `report` | writes `report.html`; its path is in the event of the asset *tidebed-report* |
    | `verdict` | fails the DAG run if an experiment failed, and names it |

    An experiment that failed does not stop the others, and the report names it. Triggering again does
    only what is missing. One campaign runs at a time, because two would measure each other.
    """
    measured = measure(plan())
    written = report()
    last = verdict(written)
    measured >> aggregate() >> written
    measured >> last


benchmark()
