"""The pictures of long runs: their first and last days, and what learning cost so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

import pandas as pd

from analysis.cost import Objectives
from analysis.excerpts import COST, EXCERPT_S, FIRST, LAST
from analysis.palette import Mark
from analysis.picture import TALL, Picture, TimeAxis, Trace, layout, line, note, rule

_TITLES = {FIRST: "The first days", LAST: "The last days"}

#: From the top: column, what it is called, axis and its place, what hovering says.
_LANES = (
    ("latency_mean_s", "response time (s)", "y", [0.7, 1.0], "%{y:.3~s}s"),
    ("workers_running", "workers", "y2", [0.36, 0.64], "%{y:.1f} workers"),
    ("nodes", "nodes", "y3", [0.02, 0.3], "%{y:.1f} nodes"),
)

Rows = Mapping[str, pd.DataFrame]
"""A table's rows by autoscaler."""


def days(part: str, found: Rows, marks: Mapping[str, Mark], objectives: Objectives) -> Picture | None:
    """Response time, workers and nodes of all autoscalers in the first or the last days; None if there is nothing."""
    chosen = {name: rows[rows["part"] == part].sort_values("time_s") for name, rows in found.items() if not rows.empty}
    chosen = {name: rows for name, rows in chosen.items() if not rows.empty}
    if not chosen:
        return None
    time = TimeAxis("days", 86_400.0)
    traces: list[Trace] = []
    for name, rows in chosen.items():
        x = time.of(rows["time_s"])
        for column, _, axis, _, hover in _LANES:
            traces.append({**line(x, rows[column], marks[name], name, hover), "yaxis": axis})
    bound = objectives.latency_mean_s
    axes: dict[str, Any] = {}
    for column, title, axis, domain, _ in _LANES:
        kind = {"type": "log", "nticks": 4} if column == "latency_mean_s" else {"rangemode": "tozero", "nticks": 4}
        axes[axis.replace("y", "yaxis")] = {"title": title, "domain": domain, **kind}
    return Picture(
        title=_TITLES[part],
        about="response time (the longest in each ten minutes; a gap has no bound), workers and nodes",
        alt=f"Response time, workers and nodes over {EXCERPT_S // 86_400} days under {', '.join(chosen)}.",
        data=traces,
        layout=layout(
            xaxis={"title": time.unit, "anchor": "y3"},
            **axes,
            shapes=[rule("y", bound)] if bound else [],
            annotations=[_bound(bound)] if bound else [],
        ),
        height=TALL,
    )


def _bound(bound: float) -> dict[str, Any]:
    place = {"x": 1, "xref": "x domain", "xanchor": "right", "y": log10(bound), "yanchor": "bottom"}
    return note(f"objective {bound * 1000:g} ms", **place)


def costs(found: Rows, marks: Mapping[str, Mark]) -> list[Picture]:
    """A picture for each cost that policies noted: its mean since the start of the run."""
    names = sorted({name for rows in found.values() for name in rows["note"] if name.endswith(COST)})
    return [_cost(name, found, marks) for name in names]


def _cost(name: str, found: Rows, marks: Mapping[str, Mark]) -> Picture:
    chosen = {
        autoscaler: rows[rows["note"] == name].sort_values("time_s")
        for autoscaler, rows in found.items()
        if (rows["note"] == name).any()
    }
    time = TimeAxis.spanning(max(float(rows["time_s"].max()) for rows in chosen.values()))
    what = name.removesuffix(COST).replace("_", " ")
    return Picture(
        title=f"Average {what} cost so far",
        about="what learning managers paid a decision, from the start of the run on",
        alt=f"Average {what} cost since the start of the run under {', '.join(chosen)}.",
        data=[
            line(time.of(rows["time_s"]), rows["mean"], marks[autoscaler], autoscaler, "%{y:.3f}")
            for autoscaler, rows in chosen.items()
        ],
        layout=layout(xaxis={"title": time.unit}, yaxis={"rangemode": "tozero", "nticks": 6}),
    )


def pictures(
    order: Sequence[str], excerpts: Rows, notes: Rows, marks: Mapping[str, Mark], objectives: Objectives
) -> list[Picture]:
    """All that there is to show, in the order of the ranking."""
    seen = {name: excerpts[name] for name in order if name in excerpts}
    noted = {name: notes[name] for name in order if name in notes}
    found = [days(part, seen, marks, objectives) for part in (FIRST, LAST)]
    return [*(picture for picture in found if picture is not None), *costs(noted, marks)]
