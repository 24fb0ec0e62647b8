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
NIGHTS_COMPARED = 14
SEEDS_A_NIGHT = 10_000

log = logging.getLogger(__name__)


def date_of(context: Context) -> date:
    """The night that a DAG run stands for: when it was due, or when somebody triggered it."""
    run = context["dag_run"]
    return (run.logical_date or run.run_after).date()


def seed_of(night: date) -> int:
    """The night's first seed; the repetitions count up from it. No two nights share one."""
    return night.toordinal() * SEEDS_A_NIGHT


def nights_before(tonight: Path, most: int = NIGHTS_COMPARED) -> list[Path]:
    """The result folders of the last nights before, the latest first; a night without results does not count.

    `tonight` is a result folder too: `<archive>/nights/<date>/<suite>/results`.
    """
    suite, night = tonight.parent, tonight.parent.parent
    earlier = sorted((each for each in night.parent.iterdir() if each.name < night.name), reverse=True)
    found = [each / suite.name / tonight.name for each in earlier]
    return [results for results in found if (results / "summary.parquet").is_file()][:most]


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

    from analysis import results as tables

    tonight = campaign_of_this_run().archive.results
    before = nights_before(tonight)
    log.info("compared with %s", ", ".join(each.parent.parent.name for each in before) or "no earlier night")
    found = regressions(tonight, before)
    tables.write(tonight, "regressions", found)
    return worse(found)


def worse(found: pd.DataFrame) -> list[str]:
    """The regressions, in words."""
    rows = found[found["verdict"] == "worse"].to_dict("records")
    return [
        f"{row['experiment']}: {row['metric']} went from {row['before']:.4g} to {row['now']:.4g} {row['unit']}".rstrip()
        + f" (p={row['p_holm']:.2g})"
        for row in rows
    ]
