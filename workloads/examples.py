"""One example of everything the spec can say without a file: for the docs, and for the contract tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from workloads.shapes import shape_names

#: What the shapes' own keys can do.
_SHAPES: Final[dict[str, dict[str, Any]]] = {
    "ramp-down": {"shape": "ramp", "peak": "60k", "low": "5k", "over": "40m", "down": True},
    "step-and-back": {"shape": "step", "peak": "120k", "low": "30k", "at": "10m", "until": "11m"},
    "sine-hourly": {"shape": "sine", "peak": "60k", "low": "5k", "period": "1h"},
    "borkowski-square": {"shape": "square", "peak": 65, "low": 1, "period": "740s"},
    "borkowski-pyramid": {"shape": "pyramid", "peak": 60, "low": 0, "steps": 4, "hold": "130s"},
    "spikes-on-time": {
        "shape": "spikes",
        "peak": "80k",
        "times": ["5s", "10m", "40m"],
        "rise": "5s",
        "width": "1m",
        "decay": "30s",
    },
    "spikes-uneven": {"shape": "spikes", "peak": "80k", "count": 6, "vary": "50%"},
    "restless-walk": {"shape": "random-walk", "peak": "30k", "low": "5k", "memory": "20s"},
    "week-in-an-hour": {"shape": "daily", "peak": "60k", "day": "8m", "weekend": "50%"},
    "busy-weekends": {"shape": "daily", "peak": "60k", "day": "5m", "weekend": "150%"},
}

#: Modifiers and combinations.
_COMBINED: Final[dict[str, dict[str, Any]]] = {
    "noisy-day": {"shape": "daily", "peak": "60k", "noise": "5%"},
    "drifting-sine": {
        "shape": "sine",
        "peak": "40k",
        "noise": {"white": "2%", "correlated": "10%", "correlation_time": "5m"},
    },
    "city-by-the-minute": {"shape": "city", "peak": 560, "day": "10m", "noise": {"counted": "1m"}},
    "repeated-ramp": {"shape": "ramp", "peak": "20k", "repeat": "10m"},
    "shifted-day": {"shape": "daily", "peak": "60k", "day": "1h", "shift": "-20m"},
    "late-spikes": {"shape": "spikes", "peak": "60k", "times": ["1m"], "shift": "10s"},
    "stretched-round": {"shape": "pyramid", "peak": "10k", "hold": "10s", "stretch": "20m"},
    "laid-out-sine": {"shape": "sine", "peak": "10k", "periods": 5, "stretch": "2h"},
    "clipped-walk": {"shape": "random-walk", "peak": "50k", "clip": ["10k", "45k"]},
    "two-regions": {
        "sum": [
            {"shape": "daily", "peak": "30k", "day": "1h", "weekend": "100%"},
            {"shape": "daily", "peak": "20k", "day": "1h", "weekend": "100%", "shift": "20m"},
        ],
        "peak": "50k",
    },
    "busy": {
        "sum": [{"shape": "sine", "peak": "40k"}, {"shape": "spikes", "peak": "20k", "count": 4}],
        "peak": "50k",
        "clip": ["1k", "45k"],
    },
    "two-noisy-sources": {
        "sum": [
            {"shape": "constant", "peak": "10k", "noise": "20%"},
            {"shape": "constant", "peak": "10k", "noise": "20%"},
        ],
    },
    "outages": {
        "product": [{"shape": "daily", "peak": "60k"}, {"shape": "square", "peak": 1, "low": 0, "duty": "90%"}],
    },
}


def examples() -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, mapping): every shape with a peak alone, then what their keys, modifiers and combinations can do.

    >>> dict(examples())["sine"]
    {'shape': 'sine', 'peak': '60k'}
    """
    for name in shape_names():
        yield name, {"shape": name, "peak": "60k"}
    yield from _SHAPES.items()
    yield from _COMBINED.items()
