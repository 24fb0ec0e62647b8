"""Measured against simulated, drawn: the course of a run, and how long interruptions last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from analysis.palette import Mark
from analysis.picture import LOW, Picture, TimeAxis, Trace, area, layout, line, text
from autoscalers.model import Floats
from experiments.validation.aims import ENOUGH
from experiments.validation.spreads import Group, Spread
from experiments.validation.validation import RunResult

MEASURED = Mark("measured", "c1", "solid", "circle", "●")
SIMULATED = Mark("simulated", "c2", "solid", "square", "■")

#: A line has at most so many points.
POINTS = 400
#: Height of a row of boxes in pixels, and of what is around them.
_ROW, _AROUND = 46, 70


def course(result: RunResult) -> Iterator[Picture]:
    """What was measured of the run, each with its counterpart."""
    run, replayed = result.run, result.replayed
    time = TimeAxis.spanning(float(run.seconds))
    offered = area(_x(run.seconds, time), _thinned(run.workload, np.mean), "load", "%{y:.3~s} events/s")
    yield _overlay(
        "Throughput", "events/s; grey: the load", run.throughput, replayed.throughput, time, np.mean, behind=[offered]
    )
    yield _overlay(
        "Latency",
        "s, the highest in each spell; logarithmic",
        run.latency_s,
        replayed.latency_s,
        time,
        np.max,
        log=True,
    )
    yield _overlay("Workers", "at work", run.workers, replayed.workers, time, np.mean, shape="hv")
    if np.isfinite(run.lag).any():
        about = "events in a partition, the most in each spell; logarithmic"
        yield _overlay("Lag", about, run.lag, replayed.lag, time, np.max, log=True)
    if np.isfinite(run.cpu).any():
        yield _overlay("CPU", "mean of the workers, as a share", run.cpu, replayed.cpu, time, np.mean)


def _overlay(
    title: str,
    about: str,
    measured: Floats,
    simulated: Floats,
    time: TimeAxis,
    figure: Callable[[Floats], np.float64],
    *,
    behind: Sequence[Trace] = (),
    log: bool = False,
    shape: str = "linear",
) -> Picture:
    x = _x(measured.size, time)
    hover = "%{y:.3~s}"
    lines = [
        line(x, _thinned(values, figure), mark, mark.key, hover, shape=shape)
        for values, mark in ((measured, MEASURED), (simulated, SIMULATED))
    ]
    for trace in lines:
        trace["line"]["width"] = 1.3
    return Picture(
        title=title,
        about=about,
        alt=f"{title} over time, measured and simulated.",
        data=[*behind, *lines],
        layout=layout(
            hovermode="x unified",
            xaxis={"title": time.unit, "unifiedhovertitle": {"text": f"%{{x:.2f}} {time.unit}"}},
            yaxis={"type": "log", "dtick": 1, "tickformat": "~s"}
            if log
            else {"rangemode": "tozero", "tickformat": "~s", "nticks": 5},
        ),
        height=LOW,
    )


def _spell(seconds: int) -> int:
    return -(-seconds // POINTS)


def _x(seconds: int, time: TimeAxis) -> Trace:
    return time.of(range(0, seconds, _spell(seconds)))


def _thinned(values: Floats, figure: Callable[[Floats], np.float64]) -> list[float | None]:
    """One figure for each spell; a gap where nothing was read."""
    spell = _spell(values.size)
    found: list[float | None] = []
    for begin in range(0, values.size, spell):
        known = values[begin : begin + spell]
        known = known[np.isfinite(known) & (known >= 0.0)]
        found.append(float(figure(known)) if known.size else None)
    return found


def spreads(groups: Sequence[Group], figure: str, title: str, about: str) -> Picture | None:
    """Boxes from the tenth to the ninetieth percentile, measured above simulated."""
    shown = [(group, *group.spreads(figure)) for group in groups]
    shown = [one for one in shown if min(one[1].n, one[2].n) >= ENOUGH]
    if not shown:
        return None
    shown.reverse()  # Plotly draws from below
    traces = [
        _boxes([(group, spread) for group, spread, _ in shown], MEASURED, +0.17),
        _boxes([(group, spread) for group, _, spread in shown], SIMULATED, -0.17),
    ]
    names = [f"{text(group.name)} ({measured.n} / {simulated.n})" for group, measured, simulated in shown]
    return Picture(
        title=title,
        about=about,
        alt=f"{title}: " + "; ".join(f"{g.name} {m.median:.0f} s, simulated {s.median:.0f} s" for g, m, s in shown),
        data=traces,
        layout=layout(
            xaxis={"title": "seconds", "type": "log", "dtick": "D2", "tickformat": "~s"},
            yaxis={
                "tickvals": list(range(len(shown))),
                "ticktext": names,
                "range": [-0.6, len(shown) - 0.4],
                "showgrid": False,
            },
            boxmode="overlay",
        ),
        height=_AROUND + _ROW * len(shown),
    )


def _boxes(shown: Sequence[tuple[Group, Spread]], mark: Mark, shift: float) -> Trace:
    low, first, median, third, high = zip(*(spread.quantiles for _, spread in shown), strict=True)
    return {
        "type": "box",
        "orientation": "h",
        "name": mark.key,
        "y": [row + shift for row in range(len(shown))],
        "lowerfence": [_drawn(one) for one in low],
        "q1": [_drawn(one) for one in first],
        "median": [_drawn(one) for one in median],
        "q3": [_drawn(one) for one in third],
        "upperfence": [_drawn(one) for one in high],
        "width": 0.28,
        "line": {"color": mark.color, "width": 1.4},
        "fillcolor": "$panel",
        "hoverinfo": "x",
    }


def _drawn(seconds: float) -> float:
    """A logarithmic axis has no place for less than this."""
    return max(seconds, 1.0)
