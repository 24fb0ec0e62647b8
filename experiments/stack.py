"""The Airflow that belongs to this checkout."""

from __future__ import annotations

from experiments.archive import ROOT
from infra.airflow.stack import Stack

#: DAGs that run by themselves while Airflow is kept up.
SCHEDULED = ("nightly",)


def stack() -> Stack:
    return Stack(ROOT, ROOT / ".state" / "airflow", scheduled=SCHEDULED)
