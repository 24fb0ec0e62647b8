"""One DAG a paper: every suite that is named `paper-...` becomes one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from airflow.sdk import Param, dag

from experiments.document import read
from experiments.suite import find
from operators.campaign import aggregate, measure, plan, report, verdict
from operators.request import campaign_form

if TYPE_CHECKING:
    from airflow.sdk import DAG

PREFIX = "paper-"


def paper_dags(suites: Iterable[str]) -> dict[str, DAG]:
    """A DAG for each suite of a paper, by its id; all other suites are left out."""
    return {suite: paper_dag(suite) for suite in suites if suite.startswith(PREFIX)}


def paper_dag(suite: str) -> DAG:
    """The DAG that reproduces one paper's figures."""

    @dag(
        dag_id=suite,
        schedule=None,
        doc_md=_about(suite),
        params={"suite": Param(suite, type="string", enum=[suite], title="Suite"), **campaign_form()},
        max_active_runs=1,
        tags=["tidebed", "paper"],
    )
    def reproduce() -> None:
        measured = measure(plan())
        written = report()
        last = verdict(written)
        measured >> aggregate() >> written
        measured >> last

    return reproduce()


def _about(suite: str) -> str:
    """What people read above the DAG: the suite's own words, and how to use it."""
    content = read(find(suite)).data
    described = content.get("description", "") if isinstance(content, dict) else ""
    return "\n\n".join(
        filter(
            None,
            [
                str(described),
                "**Trigger** it to measure what the paper published, with the paper's jobs, loads and parameters. "
                "The report sets each published figure beside the measured one and says whether it was reproduced; "
                f"`tidebed compare {suite}` prints the same in a shell.",
                "Triggering again does only what is missing. An experiment that failed does not stop the others; "
                "the last task, `verdict`, names it.",
            ],
        )
    )
