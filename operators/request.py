"""What a DAG run was asked for: the form that people fill in, and what `plan` makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from airflow.sdk import Param

import infra
from experiments.suite import suite_names

if TYPE_CHECKING:
    from experiments.campaign import Campaign


class Request(TypedDict):
    """One campaign, resolved: every task of a DAG run opens the same one."""

    suite: str
    archive: str
    place: str | None
    repetitions: int | None
    only: list[str]
    seed: int | None
    fresh: bool
    spark_master: str | None


def suite_form(chosen: str = "quickstart") -> dict[str, Param]:
    """The fields that choose a suite."""
    return {
        "suite": Param(chosen, type="string", enum=suite_names(), title="Suite", description="One that Tidebed ships."),
        "suite_file": Param(
            None,
            type=["null", "string"],
            title="Suite of your own",
            description="Path of a YAML file on the machine that runs Airflow. If given, it is used instead.",
        ),
    }


def campaign_form() -> dict[str, Param]:
    """The fields that every campaign has. What is left empty is as the suite says."""
    return {
        "place": Param(
            None,
            type=["null", "string"],
            enum=[None, *infra.names()],
            title="Place",
            description="Where the runs happen; empty: as the suite says.",
        ),
        "repetitions": Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Repetitions",
            description="Runs of each experiment; empty: as the suite says.",
        ),
        "only": Param(
            [],
            type="array",
            items={"type": "string"},
            title="Only",
            description="Filters, one a line, such as autoscaler=hpa or job=yahoo.",
        ),
        "fresh": Param(
            False, type="boolean", title="Fresh", description="Do runs again that are in the archive already."
        ),
        "archive": Param(
            None,
            type=["null", "string"],
            title="Archive",
            description="Folder that the campaign fills; empty: the usual one.",
        ),
        "spark_master": Param(
            None,
            type=["null", "string"],
            title="Spark master",
            description="Where Spark aggregates, e.g. spark://host:7077; empty: this machine.",
        ),
    }


def from_params(params: Mapping[str, Any]) -> Request:
    """Read the form; a DAG that leaves a field out means it empty."""
    return Request(
        suite=params.get("suite_file") or params["suite"],
        archive=params.get("archive") or "",
        place=params.get("place"),
        repetitions=params.get("repetitions"),
        only=list(params.get("only") or ()),
        seed=None,
        fresh=bool(params.get("fresh")),
        spark_master=params.get("spark_master"),
    )


def open_campaign(request: Request) -> Campaign:
    from experiments.campaign import Campaign  # not at the top: reading a DAG must stay quick

    return Campaign.open(
        request["suite"],
        archive=Path(request["archive"]) if request["archive"] else None,
        place=request["place"],
        repetitions=request["repetitions"],
        only=request["only"],
        seed=request["seed"],
    )
