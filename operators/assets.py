"""What a campaign brings forth, as Airflow assets: runs → results → report.

The events carry the paths in `extra`. A DAG of your own that starts whenever a report is there says
`@dag(schedule=[REPORT])`.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import Asset, get_current_context

RUNS = Asset(name="tidebed-runs", uri="tidebed://runs", group="tidebed")
RESULTS = Asset(name="tidebed-results", uri="tidebed://results", group="tidebed")
REPORT = Asset(name="tidebed-report", uri="tidebed://report", group="tidebed")


def announce(asset: Asset, **extra: Any) -> None:
    """Say with the asset's event where the thing lies."""
    get_current_context()["outlet_events"][asset].extra = extra
