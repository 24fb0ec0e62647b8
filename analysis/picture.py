"""What the report's pictures are made of: Plotly figures in plain data, in colours that the page's theme fills in.

Text that comes from a suite or a policy is escaped, because Plotly reads a kind of HTML in it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from analysis.figures import number
from analysis.palette import Mark

FONT = '"Helvetica Neue", "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'

#: Height of a picture in pixels.
TALL, USUAL, LOW = 480, 280, 200

Trace = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """A Plotly figure with the words around it."""

    title: str
    about: str
    alt: str
    """What it shows, for who cannot see it."""
    data: Sequence[Trace]
    layout: Mapping[str, Any]
    height: int = USUAL
    mark: Mark | None = None
    """The autoscaler, where the picture is of one alone."""
    keyed: bool = False
    """Whether a key must name what the picture has no room to name."""


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Time in the unit that suits the length of a scenario."""

    unit: str
    seconds: float
    end: float = 0.0

    @classmethod
    def spanning(cls, longest_s: float) -> TimeAxis:
        """
        >>> TimeAxis.spanning(7200), TimeAxis.spanning(21600).unit
        (TimeAxis(unit='minutes', seconds=60.0, end=120.0), 'hours')
        """
        unit, seconds = ("hours", 3600.0) if longest_s > 10_800 else ("minutes", 60.0)
        if longest_s > 4 * 86_400:
            unit, seconds = "days", 86_400.0
        if longest_s <= 300:
            unit, seconds = "seconds", 1.0
        return cls(unit, seconds, longest_s / seconds)

    def values(self, times: Iterable[object]) -> list[float | None]:
        return [None if (known := number(time)) is None else round(known / self.seconds, 4) for time in times]

    def of(self, times: Iterable[object]) -> Trace:
        """The x of a trace; even steps need only their start and width.

        >>> TimeAxis("minutes", 60.0).of([0, 30, 60]), TimeAxis("minutes", 60.0).of([0, 30, 90])
        ({'x0': 0.0, 'dx': 0.5}, {'x': [0.0, 0.5, 1.5]})
        """
        seconds = [number(time) for time in times]
        known = [second for second in seconds if second is not None]
        steps = {after - before for before, after in pairwise(known)}
        if len(steps) == 1 and len(known) == len(seconds):
            return {"x0": known[0] / self.seconds, "dx": steps.pop() / self.seconds}
        return {"x": self.values(seconds)}


def text(label: str) -> str:
    """A label as Plotly shall show it, letter by letter."""
    return escape(label, quote=False)


def wrapped(label: str, width: int) -> str:
    """
    >>> wrapped("CPU 90 % & rising", 8)
    'CPU 90 %<br>&amp; rising'
    """
    return "<br>".join(text(line) for line in textwrap.wrap(label, width) or [""])


def rounded(values: Iterable[object]) -> list[float | None]:
    """Four digits draw the same line in half the bytes; what is unknown is a gap."""
    return [None if (known := number(value)) is None else float(f"{known:.4g}") for value in values]


def layout(**changes: Any) -> dict[str, Any]:
    """What every picture has in common, in colour tokens of the theme."""
    title = {"font": {"color": "$muted", "size": 11}, "standoff": 8}
    axis = {
        "automargin": True,
        "gridcolor": "$grid",
        "zeroline": False,
        "showline": False,
        "ticks": "outside",
        "ticklen": 5,
        "tickcolor": "rgba(0, 0, 0, 0)",
        "tickfont": {"color": "$muted", "size": 11},
    }
    base: dict[str, Any] = {
        "autosize": True,
        "margin": {"l": 4, "r": 10, "t": 8, "b": 4},
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "font": {"family": FONT, "size": 12, "color": "$ink"},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": "$panel",
            "bordercolor": "$rule",
            "font": {"family": FONT, "size": 12, "color": "$ink"},
            "align": "left",
            "namelength": -1,
        },
    }
    for name in [name for name in changes if name.startswith(("xaxis", "yaxis"))]:
        given = changes.pop(name)
        base[name] = {**axis, **given, "title": {**title, "text": given.get("title", "")}}
    return {**base, **changes}


def rule(axis: str, value: float) -> dict[str, Any]:
    """A thin dashed line across the picture."""
    other = "y" if axis == "x" else "x"
    ends = {f"{axis}0": value, f"{axis}1": value, f"{other}0": 0, f"{other}1": 1}
    line = {"color": "$muted", "width": 1, "dash": "dot"}
    return {
        "type": "line",
        "layer": "below",
        f"{axis}ref": axis,
        f"{other}ref": f"{other} domain",
        **ends,
        "line": line,
    }


def note(words: str, **place: Any) -> dict[str, Any]:
    """A few words beside a rule."""
    return {"text": text(words), "showarrow": False, "font": {"color": "$muted", "size": 11}, **place}


def line(x: Trace, y: Iterable[object], mark: Mark, name: str, hover: str, *, shape: str = "linear") -> Trace:
    """An autoscaler's line."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(name),
        "meta": mark.key,
        **x,
        "y": rounded(y),
        "line": {"color": mark.color, "dash": mark.dash, "width": 1.8, "shape": shape},
        "hovertemplate": hover,
    }


def area(x: Trace, y: Iterable[object], name: str, hover: str, *, shape: str = "linear") -> Trace:
    """What lines are seen against: the load, or the demand for workers."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        **x,
        "y": rounded(y),
        "line": {"color": "$area", "width": 0.5, "shape": shape},
        "fill": "tozeroy",
        "fillcolor": "$area",
        "hovertemplate": hover,
    }
