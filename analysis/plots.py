"""The pictures of a scenario: load and capacity, workers, backlog, latency, resource use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.cost import Objectives
from analysis.figures import Figure, number
from analysis.palette import Mark
from analysis.picture import LOW, USUAL, Picture, TimeAxis, Trace, area, layout, line, note, rounded, rule, wrapped
from analysis.report_numbers import count, quantity
from analysis.run_metrics import REGION


@dataclass(frozen=True, slots=True)
class Course:
    """One experiment's representative run, with what it is drawn as."""

    autoscaler: str
    mark: Mark
    series: pd.DataFrame
    actions: pd.DataFrame
    latency: pd.DataFrame


def load_and_capacity(course: Course, time: TimeAxis, top: float) -> Picture:
    """Offered load against capacity, with the scaling decisions in a lane above."""
    series = course.series
    capacity, name = series["capacity"], "capacity"
    if capacity.isna().all():
        capacity, name = series["throughput"], "throughput"
    x = time.of(series["time_s"])
    traces: list[Trace] = [
        area(x, series["workload"], "load", "%{y:.3~s} events/s"),
        line(x, capacity, course.mark, name, "%{y:.3~s} events/s", shape="hv"),
        *_decisions(course, time),
    ]
    done = count(int(course.actions["n"].sum()), "scaling action")
    peak = quantity(number(series["workload"].max()), "events/s")
    return Picture(
        title=course.autoscaler,
        about=done,
        alt=f"Load and {name} over time under {course.autoscaler}: the load peaks at {peak}; {done}.",
        data=traces,
        layout=layout(
            xaxis={"title": time.unit, "anchor": "y", "range": [0, time.end]},
            yaxis={"range": [0, top], "tickformat": "~s", "nticks": 5, "domain": [0, 0.84]},
            yaxis2={"range": [-2, 2], "domain": [0.86, 1], "visible": False, "fixedrange": True},
        ),
        height=LOW,
        mark=course.mark,
    )


def _decisions(course: Course, time: TimeAxis) -> list[Trace]:
    rows = course.actions.to_dict("records")
    if not rows:
        return []
    grows = [(number(row["applied"]) or 0) > (number(row["before"]) or 0) for row in rows]
    words = []
    for row in rows:
        before, applied = (quantity(number(row[name])) for name in ("before", "applied"))
        of_region = str(row["target"]).startswith(REGION)
        what = f"{before} → {applied} {'nodes' if of_region else 'workers'}"
        more = f"<br>and {row['n'] - 1} more" if row["n"] > 1 else ""
        words.append(f"<b>{what}</b><br>{wrapped(str(row['reason'] or ''), 42)}{more}")
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": time.values(row["time_s"] for row in rows),
            "y": [1 if grow else -1 for grow in grows],
            "yaxis": "y2",
            "text": words,
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
            "marker": {
                "symbol": ["triangle-up" if grow else "triangle-down" for grow in grows],
                "size": 8,
                "color": course.mark.color,
                "line": {"width": 0},
            },
        }
    ]


def workers(courses: Sequence[Course], time: TimeAxis) -> Picture:
    """Running workers of all autoscalers against what the load needed."""
    traces: list[Trace] = []
    for course in courses:
        if not course.series["demand_workers"].isna().all():
            x = time.of(course.series["time_s"])
            traces.append(area(x, course.series["demand_workers"], "demand", "%{y:.1f}", shape="hv"))
            break
    for course in courses:
        x = time.of(course.series["time_s"])
        running = course.series["workers_running"]
        traces.append(line(x, running, course.mark, course.autoscaler, "%{y:.1f}", shape="hv"))
    return Picture(
        title="Workers",
        about="running, booting ones included; grey: what the load needs"
        if any("fill" in trace for trace in traces)
        else "running",
        alt=f"Running workers over time under {_listed(courses)}.",
        data=traces,
        layout=layout(
            hovermode="x unified",
            xaxis={"title": time.unit, "unifiedhovertitle": {"text": f"%{{x:.1f}} {time.unit}"}},
            yaxis={"rangemode": "tozero", "nticks": 6},
        ),
    )


def backlog(courses: Sequence[Course], time: TimeAxis) -> Picture:
    traces = [
        line(
            time.of(course.series["time_s"]),
            course.series["backlog"],
            course.mark,
            course.autoscaler,
            "%{y:.3~s} events",
        )
        for course in courses
    ]
    peaks = ((number(course.series["backlog"].max()), course.autoscaler) for course in courses)
    known = [(peak, name) for peak, name in peaks if peak is not None]
    most = max(known, default=None)
    return Picture(
        title="Backlog",
        about="events that wait",
        alt=f"Backlog over time under {_listed(courses)}."
        + (f" The largest is {quantity(most[0], 'events')}, under {most[1]}." if most else ""),
        data=traces,
        layout=layout(
            hovermode="x unified",
            xaxis={"title": time.unit, "unifiedhovertitle": {"text": f"%{{x:.1f}} {time.unit}"}},
            yaxis={"rangemode": "tozero", "tickformat": "~s", "nticks": 6},
        ),
    )


def latency(courses: Sequence[Course], objectives: Objectives) -> Picture:
    """Which share of the seconds kept which p95 latency, on a logarithmic axis."""
    traces = [
        line(
            {"x": rounded(course.latency["latency_s"])},
            course.latency["quantile"] * 100,
            course.mark,
            course.autoscaler,
            "%{y:.1f} % of the seconds within %{x:.3~s}s",
        )
        for course in courses
        if not course.latency.empty
    ]
    changes: dict[str, Any] = {}
    bound = objectives.latency_p95_s
    if bound:
        changes = {"shapes": [rule("x", bound)], "annotations": [_objective(bound)]}
    return Picture(
        title="p95 latency",
        about="share of seconds within it; further left is better",
        alt=f"Cumulative distribution of the p95 latency of each second under {_listed(courses)}.",
        data=traces,
        layout=layout(
            xaxis={"type": "log", **_log_ticks(course.latency["latency_s"] for course in courses)},
            yaxis={"range": [_where_it_rises(courses), 101], "ticksuffix": " %", "nticks": 6},
            **changes,
        ),
    )


def _objective(bound: float) -> dict[str, Any]:
    words = f"objective {quantity(bound, 's')}"
    # On a logarithmic axis an annotation's place is the logarithm.
    return note(words, x=math.log10(bound), y=0.03, yref="y domain", xanchor="left", yanchor="bottom", xshift=4)


def _where_it_rises(courses: Sequence[Course]) -> float:
    """The percentage to start from: below it all curves are one steep line at the least latency there is."""
    rises = [100.0]
    for course in courses:
        above = course.latency[course.latency["latency_s"] > 1.1 * course.latency["latency_s"].min()]
        if not above.empty:
            rises.append(100 * float(above["quantile"].min()))
    return max(0.0, 10 * math.floor((min(rises) - 10) / 10))


def _log_ticks(latencies: Iterable[pd.Series[float]]) -> dict[str, Any]:
    """A tick a decade, named with its unit; at 2 and 5 as well where there are few decades."""
    known = [value for column in latencies for value in rounded(column) if value]
    if not known:
        return {}
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    steps = (1, 2, 5) if max(known) < 200 * min(known) else (1,)
    values = [step * 10.0**decade for decade in range(first, last + 1) for step in steps]
    return {"tickvals": rounded(values), "ticktext": [quantity(value, "s") for value in values]}


def resource_use(use: Mapping[str, Figure], marks: Mapping[str, Mark], reference: str) -> Picture:
    """Worker-seconds of each autoscaler as a share of the reference's."""
    whole = use[reference].mean or 0.0
    traces: list[Trace] = []
    said = []
    for autoscaler, figure in use.items():
        if figure.mean is None or not whole:
            continue
        share = figure.mean / whole * 100
        bounded = figure.low is not None and figure.high is not None and figure.n > 1
        spread = [((figure.high or 0) - figure.mean) / whole * 100, (figure.mean - (figure.low or 0)) / whole * 100]
        said.append(f"{autoscaler} {share:.0f} %")
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "meta": marks[autoscaler].key,
                "x": rounded([share]),
                "y": [wrapped(autoscaler, 18)],
                "width": 0.62,
                "marker": {"color": marks[autoscaler].color},
                "text": [f"{share:.0f} %"],
                "textposition": "inside",
                "insidetextanchor": "start",
                "textangle": 0,
                "textfont": {"color": "$paper"},
                "hovertemplate": f"{quantity(figure.mean, 'worker s')}<extra></extra>",
                "error_x": {
                    "type": "data",
                    "visible": bounded,
                    "symmetric": False,
                    "array": rounded(spread[:1]),
                    "arrayminus": rounded(spread[1:]),
                    "color": "$ink",
                    "thickness": 1.2,
                    "width": 4,
                },
            }
        )
    return Picture(
        title="Resource use",
        about=f"worker-seconds, {reference} = 100 %",
        alt=f"Worker-seconds relative to {reference}: {', '.join(said)}.",
        data=traces,
        layout=layout(
            xaxis={"ticksuffix": " %", "rangemode": "tozero", "nticks": 6},
            yaxis={"autorange": "reversed", "showgrid": False, "tickfont": {"color": "$ink", "size": 11}},
            shapes=[rule("x", 100)],
        ),
        height=max(USUAL, 34 * len(traces) + 60),
    )


def _listed(courses: Sequence[Course]) -> str:
    names = [course.autoscaler for course in courses]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
