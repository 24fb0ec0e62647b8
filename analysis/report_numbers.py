"""Figures as people read them: rounded to what matters, with a unit, "–" where there is none.

A no-break space stands between figure and unit, so that no line breaks there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.figures import Figure, number

NONE = "–"
_SPACE = "\N{NO-BREAK SPACE}"

#: Steps of a unit, smallest first: from which size on, what one is worth, and what it is called.
Steps = Sequence[tuple[float, float, str]]

_DURATION: Steps = ((0.0, 1e-3, "ms"), (0.9995, 1.0, "s"), (300.0, 60.0, "min"), (10_800.0, 3600.0, "h"))
_WORK: Steps = ((0.0, 1.0, "worker{}s"), (3600.0, 3600.0, "worker{}h"))
_PREFIXES: Steps = ((0.0, 1.0, ""), (999.5, 1e3, "k"), (999.5e3, 1e6, "M"), (999.5e6, 1e9, "G"))


def quantity(value: float | None, unit: str = "") -> str:
    """A figure with its unit; spaces are no-break ones.

    >>> [quantity(*one).replace("\\xa0", " ") for one in [(0.0953, "s"), (1234.0, "events/s"), (0.214, "USD")]]
    ['95.3 ms', '1.23 k events/s', '0.214 USD']
    >>> quantity(float("nan"), "s"), quantity(0.0412, "share"), quantity(12.0, "workers")
    ('–', '4.1\\xa0%', '12\\xa0workers')
    """
    known = number(value)
    if known is None:
        return NONE
    factor, suffix = _scale(known, unit)
    scaled = number(known / factor)  # a share beyond all bounds has no percentage
    return NONE if scaled is None else _join(_digits(scaled, unit), suffix)


def interval(figure: Figure, unit: str = "") -> str:
    """The bounds, in the scale and with the decimals of the mean; empty without an interval.

    >>> interval(Figure(0.0163, 0.0104, 0.0222, 5), "share").replace("\\xa0", " ")
    '1.0 – 2.2'
    """
    mean, low, high = number(figure.mean), number(figure.low), number(figure.high)
    if mean is None or low is None or high is None or figure.n <= 1:
        return ""
    if high - low <= 1e-9 * abs(mean):
        return "no spread"
    factor, _ = _scale(mean, unit)
    decimals = max(0, _decimals(mean / factor or high / factor, unit))
    ends = (f"{end / factor:,.{decimals}f}".replace("-", "−") for end in (low, high))
    return f"{_SPACE}–{_SPACE}".join(ends)


def change(value: float | None) -> str:
    """A relative difference with its sign.

    >>> change(-0.463).replace("\\xa0", " "), change(0.0312).replace("\\xa0", " "), change(0.0)
    ('−46 %', '+3.1 %', '±0\\xa0%')
    """
    known = number(value)
    if known is None:
        return NONE
    if abs(known) < 0.00005:
        return f"±0{_SPACE}%"
    return f"{'−' if known < 0 else '+'}{_digits(abs(known) * 100, 'share')}{_SPACE}%"


def count(value: int, one: str, many: str = "") -> str:
    """
    >>> count(1, "run"), count(3, "run"), count(2, "entry", "entries")
    ('1 run', '3 runs', '2 entries')
    """
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def _scale(value: float, unit: str) -> tuple[float, str]:
    size = abs(value)
    if unit == "share":
        return 0.01, "%"
    if unit == "s":
        return (1.0, "s") if size == 0 else _step(size, _DURATION)
    if unit == "worker s":
        factor, name = _step(size, _WORK)
        return factor, name.format(_SPACE)
    if unit in ("events", "events/s"):
        factor, prefix = _step(size, _PREFIXES)
        return factor, _join(prefix, unit)
    return 1.0, unit


def _step(size: float, steps: Steps) -> tuple[float, str]:
    _, factor, name = next(step for step in reversed(steps) if size >= step[0])
    return factor, name


def _digits(value: float, unit: str) -> str:
    """Three significant digits, thousands in groups, no exponent; shares get two."""
    if value == 0:
        return "0"
    if value < 0:
        return f"−{_digits(-value, unit)}"
    least = 0.01 if unit == "share" else 0.0001
    if value < least:
        return f"<{least}"
    decimals = _decimals(value, unit)
    text = f"{value:,.{max(0, decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text and float(text.replace(",", "")).is_integer() else text


def _decimals(value: float, unit: str) -> int:
    significant = 2 if unit == "share" else 3
    return significant - 1 - math.floor(math.log10(abs(value)))


def _join(figure: str, suffix: str) -> str:
    return f"{figure}{_SPACE}{suffix}" if figure and suffix else figure or suffix
