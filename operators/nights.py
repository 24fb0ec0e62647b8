"""The nightly campaign: other seeds every night, and tonight held against the nights before.

Each night has an archive of its own, `<archive>/nights/<date>`, so that a night can be looked at, done
again or removed by itself.
"""

from __future__ import annotations

import logging
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk import Context, get_current_context, task

from operators.assets import RESULTS
from operators.campaign import PLAN, Planned, campaign_of_this_run, planned
from operators.failures import explained
from operators.request import from_params

if TYPE_CHECKING:
    import pandas as pd

NIGHTS = "nights"
SEEDS_A_NIGHT = 10_000

log = logging.getLogger(__name__)


def date_of(context: Context) -> date:
    """The night that a DAG run stands for: when it was due, or when somebody triggered it."""
    run = context["dag_run"]
    return (run.logical_date or run.run_after).date()


def seed_of(night: date) -> int:
    """The night's first seed; the repetitions count up from it. No two nights share one."""
    return night.toordinal() * SEEDS_A_NIGHT


def nights_before(tonight: Path) -> list[Path]:
    """The result folders of the nights before, the oldest first.

    `tonight` is a result folder too: `<archive>/nights/<date>/<suite>/results`.
    """
    suite, night = tonight.parent, tonight.parent.parent
    earlier = sorted(each for each in night.parent.iterdir() if each.is_dir() and each.name < night.name)
    return [each / suite.name / tonight.name for each in earlier]


@task(task_id=PLAN)
@explained
def plan_night() -> list[Planned]:
    """Check the suite and name its experiments, with tonight's seeds and tonight's archive."""
    from experiments.archive import default_root

    context = get_current_context()
    night = date_of(context)
    request = from_params(context["params"])
    root = Path(request["archive"]) if request["archive"] else default_root()
    return planned({**request, "archive": str(root / NIGHTS / night.isoformat()), "seed": seed_of(night)})


@task(inlets=[RESULTS])
@explained
def compare_nights() -> list[str]:
    """Write which figures changed against the nights before; returns what got worse, a line each.

    A regression does not fail this task: the report comes after it and has to show it. The last task does.
    """
    from analysis.nights import regressions
    from analysis.results import exists

    tonight = campaign_of_this_run().archive.results
    if not exists(tonight, "run_summary"):
        log.info("no run finished tonight, so there is nothing to compare")
        return []
    before = nights_before(tonight)
    log.info("compared with %s", ", ".join(each.parents[1].name for each in before) or "no earlier night")
    return in_words(regressions(tonight, before))


def in_words(table: pd.DataFrame) -> list[str]:
    """What got worse beyond chance, a line each."""
    return [
        f"{row.experiment}: {row.metric} went from {row.before:.4g} to {row.now:.4g} {row.unit}".rstrip()
        + f" (p = {row.p_holm:.2g})"
        for row in table.itertuples()
        if row.verdict == "regression"
    ]
