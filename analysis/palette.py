"""The report's colours: one set for light and one for dark, and a mark of its own for every autoscaler.

Pictures name colours by token ("$ink", "$c1"); the page puts in the theme's value, so that one picture
serves light, dark and print. Hues stay apart for colour-blind readers; dashes and symbols tell apart
what hues cannot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LIGHT = {
    "paper": "#fdfcf9",
    "panel": "#f4f2ec",
    "ink": "#1b2126",
    "muted": "#58616a",
    "rule": "#d9d6cc",
    "grid": "#e9e6dd",
    "area": "#dcdfe0",
    "accent": "#0b5c74",
    "good": "#13694a",
    "bad": "#ab2f16",
    "notice": "#fbeee6",
    "c0": "#767d85",
    "c1": "#0a64a8",
    "c2": "#c65102",
    "c3": "#007a5a",
    "c4": "#a33c82",
    "c5": "#8d6800",
    "c6": "#2489b5",
    "c7": "#7a4126",
}
DARK = {
    "paper": "#14181b",
    "panel": "#1d2226",
    "ink": "#e9e7e1",
    "muted": "#a3abb2",
    "rule": "#353c42",
    "grid": "#272d32",
    "area": "#343c42",
    "accent": "#74c4dd",
    "good": "#6fcfa4",
    "bad": "#f59174",
    "notice": "#34211b",
    "c0": "#949ca4",
    "c1": "#62abf0",
    "c2": "#f28a4c",
    "c3": "#42c497",
    "c4": "#e183c3",
    "c5": "#d9b03c",
    "c6": "#9adcf5",
    "c7": "#c79575",
}
THEMES = {"light": LIGHT, "dark": DARK}

_HUES = 7
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
#: Plotly's symbols, with a letter that looks like each.
_SYMBOLS = {
    "circle": "●",
    "square": "■",
    "diamond": "◆",
    "triangle-up": "▲",
    "cross": "✚",
    "pentagon": "⬟",
    "star": "★",
    "hexagon": "⬢",
    "triangle-down": "▼",
}
_BASELINE_SYMBOL, _BASELINE_GLYPH = "x", "✖"


@dataclass(frozen=True, slots=True)
class Mark:
    """How an autoscaler looks in every picture."""

    key: str
    """Names the autoscaler in the page's code, where labels of the suite must not go."""
    token: str
    """Its colour's name in the theme."""
    dash: str
    symbol: str
    glyph: str
    """The symbol as a letter, for keys in text."""

    @property
    def color(self) -> str:
        return f"${self.token}"


def marks(autoscalers: Iterable[str], baseline: str | None) -> dict[str, Mark]:
    """A mark each, by the order given; the baseline is grey.

    >>> found = marks(["static", "hpa", "daedalus"], baseline="static")
    >>> [mark.token for mark in found.values()]
    ['c0', 'c1', 'c2']
    """
    found: dict[str, Mark] = {}
    others = 0
    for index, autoscaler in enumerate(dict.fromkeys(autoscalers)):
        if autoscaler == baseline:
            found[autoscaler] = Mark(f"a{index}", "c0", "solid", _BASELINE_SYMBOL, _BASELINE_GLYPH)
            continue
        dash = _DASHES[others // _HUES % len(_DASHES)]
        symbol, glyph = list(_SYMBOLS.items())[others % len(_SYMBOLS)]
        found[autoscaler] = Mark(f"a{index}", f"c{others % _HUES + 1}", dash, symbol, glyph)
        others += 1
    return found
