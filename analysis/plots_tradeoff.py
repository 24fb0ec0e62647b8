"""The picture that sums a campaign up: what each autoscaler costs against how often it breaks the objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from analysis.cost import Objectives
from analysis.figures import Figure
from analysis.palette import Mark
from analysis.picture import TALL, Picture, Trace, layout, note, rounded, rule, text
from analysis.ranking import Standing
from analysis.report_numbers import quantity

#: The size that names are placed for, in pixels; a narrow page shows a key instead.
_WIDTH, _HEIGHT = 680.0, 400.0
_LETTER, _LINE = 6.6, 16.0

#: Square pixels that a name may hide of something else, a whisker for instance.
_BEARABLE = 130.0


_ABOUT = (
    "Lower left is better. Whiskers are 95 % confidence intervals; the dotted line joins what nothing beats on both."
)


_AT_THE_LINE = {"x": 1, "xref": "x domain", "xanchor": "right", "yanchor": "bottom"}


@dataclass(frozen=True, slots=True)
class Point:
    """An autoscaler in the picture."""

    autoscaler: str
    x: Figure
    y: Figure
    meets: bool


def trade_off(standings: Sequence[Standing], marks: Mapping[str, Mark], objectives: Objectives) -> Picture | None:
    """Cost against violations; against the p95 latency where the suite has no objective. None without a point."""
    judged = bool(objectives.bounds)
    points = [
        Point(one.autoscaler, one.cost, _percent(one.violations) if judged else Figure(one.latency_p95), one.meets)
        for one in standings
    ]
    points = [point for point in points if point.x.mean is not None and point.y.mean is not None]
    if not points:
        return None
    front = pareto(points)
    unit = objectives.cost_unit
    ends_x, ends_y = _range([point.x for point in points]), _from_zero([point.y for point in points])
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    if judged:
        allowed = objectives.allowed_violations * 100
        ends_y = (ends_y[0], max(ends_y[1], allowed * 1.25))
        shapes = [_within(allowed), rule("y", allowed)]
        notes = [note(f"allowed {quantity(objectives.allowed_violations, 'share')}", **_AT_THE_LINE, y=allowed)]
    names = _names(points, front, ends_x, ends_y)
    vertical = {"title": "violating seconds", "ticksuffix": " %"} if judged else {"title": "p95 latency, s"}
    return Picture(
        title="Cost against violations" if judged else "Cost against latency",
        about=_ABOUT + (" Shaded: within the allowed violations." if judged else ""),
        alt=_described(points, front, unit, judged=judged),
        data=[_front(front), *(_dot(point, marks[point.autoscaler], unit, judged=judged) for point in points)],
        layout=layout(
            xaxis={"title": f"cost, {unit}" if unit else "cost", "range": ends_x, "nticks": 7},
            yaxis={"range": ends_y, "nticks": 7, **vertical},
            shapes=shapes,
            annotations=notes + names,
        ),
        height=TALL,
        keyed=len(names) < len(points),
    )


def pareto(points: Sequence[Point]) -> list[Point]:
    """Those that no other beats on cost without being worse on the other axis, cheapest first."""
    front: list[Point] = []
    for point in sorted(points, key=_position):
        if not front or _position(point)[1] < _position(front[-1])[1]:
            front.append(point)
    return front


def _position(point: Point) -> tuple[float, float]:
    return point.x.mean or 0.0, point.y.mean or 0.0


def _percent(figure: Figure) -> Figure:
    mean, low, high = (None if x is None else 100 * x for x in (figure.mean, figure.low, figure.high))
    return Figure(mean, low, high, figure.n)


def _range(figures: Sequence[Figure]) -> Ends:
    """From a little before the first whisker to a little beyond the last; wide enough that like looks alike."""
    ends = [end for figure in figures for end in (figure.mean, figure.low, figure.high) if end is not None]
    least, most = min(ends), max(ends)
    margin = max(0.14 * (most - least), 0.05 * abs(most)) or 1.0
    return least - margin, most + margin


def _from_zero(figures: Sequence[Figure]) -> tuple[float, float]:
    most = max(max(figure.mean or 0.0, figure.high or 0.0) for figure in figures) or 1.0
    return -0.03 * most, 1.08 * most


def _within(allowed: float) -> dict[str, Any]:
    ends = {"x0": 0, "x1": 1, "y0": 0, "y1": allowed}
    return {
        "type": "rect",
        "layer": "below",
        "xref": "x domain",
        "yref": "y",
        **ends,
        "fillcolor": "$panel",
        "line": {"width": 0},
    }


def _front(front: Sequence[Point]) -> Trace:
    positions = [_position(point) for point in front]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(x for x, _ in positions),
        "y": rounded(y for _, y in positions),
        "line": {"color": "$muted", "width": 1.4, "dash": "dot", "shape": "hv"},
        "hoverinfo": "skip",
    }


def _dot(point: Point, mark: Mark, unit: str, *, judged: bool) -> Trace:
    words = quantity(point.y.mean, "") + " % of seconds violate" if judged else "p95 " + quantity(point.y.mean, "s")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": text(point.autoscaler),
        "x": rounded([point.x.mean]),
        "y": rounded([point.y.mean]),
        "error_x": _whisker(point.x, mark),
        "error_y": _whisker(point.y, mark),
        "marker": {
            "color": mark.color,
            "symbol": mark.symbol if point.meets else f"{mark.symbol}-open",
            "size": 13,
            "line": {"width": 2.2, "color": mark.color},
        },
        "text": [f"<b>{text(point.autoscaler)}</b><br>{text(quantity(point.x.mean, unit))}<br>{text(words)}"],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _whisker(figure: Figure, mark: Mark) -> dict[str, Any]:
    if figure.mean is None or figure.low is None or figure.high is None or figure.n <= 1:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": rounded([figure.high - figure.mean]),
        "arrayminus": rounded([figure.mean - figure.low]),
        "color": mark.color,
        "thickness": 1.3,
        "width": 4,
    }


Ends = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

#: Where a name may stand: anchors and shifts against its point, the preferred one first.
_PLACES: tuple[tuple[str, str, int, int], ...] = (
    ("left", "middle", 13, 0),
    ("right", "middle", -13, 0),
    ("center", "bottom", 0, 11),
    ("center", "top", 0, -11),
    ("left", "bottom", 9, 9),
    ("left", "top", 9, -9),
    ("right", "bottom", -9, 9),
    ("right", "top", -9, -9),
)


def _names(points: Sequence[Point], front: Sequence[Point], ends_x: Ends, ends_y: Ends) -> list[dict[str, Any]]:
    """Names beside their points, each where it hides least of what is there already; those on the front first.

    A name that would hide another or a point is left out.
    """

    def pixels(x: float, y: float) -> tuple[float, float]:
        across = (x - ends_x[0]) / (ends_x[1] - ends_x[0]) * _WIDTH
        return across, (ends_y[1] - y) / (ends_y[1] - ends_y[0]) * _HEIGHT

    def spanned(x: Sequence[float | None], y: Sequence[float | None], around: float) -> Box:
        ends = [pixels(a, b) for a in x if a is not None for b in y if b is not None]
        across, down = [end[0] for end in ends], [end[1] for end in ends]
        return min(across) - around, min(down) - around, max(across) + around, max(down) + around

    taken: list[Box] = []
    for point in points:
        (x, y), bars = _position(point), (point.x, point.y)
        taken.append(spanned([x], [y], 8))
        taken.append(spanned([x, bars[0].low, bars[0].high], [y], 2))
        taken.append(spanned([x], [y, bars[1].low, bars[1].high], 2))
    for (x, y), (next_x, next_y) in pairwise(map(_position, front)):
        taken += [spanned([x, next_x], [y], 1), spanned([next_x], [y, next_y], 1)]
    found = []
    for point in sorted(points, key=lambda point: point not in front):
        boxes = [_box(pixels(*_position(point)), len(point.autoscaler) * _LETTER, place) for place in _PLACES]
        best = min(range(len(boxes)), key=lambda i: (_hidden(boxes[i], taken), i))
        if _hidden(boxes[best], taken) > _BEARABLE:
            continue
        taken.append(boxes[best])
        horizontal, vertical, right, up = _PLACES[best]
        found.append(
            {
                "name": "name",
                "x": point.x.mean,
                "y": point.y.mean,
                "text": text(point.autoscaler),
                "showarrow": False,
                "xanchor": horizontal,
                "yanchor": vertical,
                "xshift": right,
                "yshift": up,
                "font": {"size": 12, "color": "$ink"},
            }
        )
    return found


def _box(at: tuple[float, float], width: float, place: tuple[str, str, int, int]) -> Box:
    horizontal, vertical, right, up = place
    x, y = at[0] + right, at[1] - up
    left = x - {"left": 0.0, "center": width / 2, "right": width}[horizontal]
    top = y - {"top": 0.0, "middle": _LINE / 2, "bottom": _LINE}[vertical]
    return left, top, left + width, top + _LINE


def _hidden(box: Box, taken: Sequence[Box]) -> float:
    left, top, right, bottom = box
    outside = max(0.0, -left) + max(0.0, right - _WIDTH) + max(0.0, -top) + max(0.0, bottom - _HEIGHT)
    covered = sum(
        max(0.0, min(right, other[2]) - max(left, other[0])) * max(0.0, min(bottom, other[3]) - max(top, other[1]))
        for other in taken
    )
    return covered + outside * _LINE


def _described(points: Sequence[Point], front: Sequence[Point], unit: str, *, judged: bool) -> str:
    said = "; ".join(
        f"{point.autoscaler}: {quantity(point.x.mean, unit)}, "
        + (f"{quantity(point.y.mean)} % violating seconds" if judged else quantity(point.y.mean, "s"))
        for point in points[:12]
    )
    best = ", ".join(point.autoscaler for point in front)
    return (
        f"Scatter plot of cost against {'violations' if judged else 'p95 latency'}. {said}. Not beaten on both: {best}."
    )
