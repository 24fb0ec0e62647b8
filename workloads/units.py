"""How people write numbers: `6h`, `60k`, `80%`. Plain parse functions, pydantic types, and the way back to text.

Every function takes whatever YAML may hold and raises a ValueError that says what would have been valid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Final, TypeVar

from pydantic import PlainValidator

T = TypeVar("T")

#: Longest time that a key may hold: a curve has a value a second, and a year of them is 250 MB.
LONGEST_S: Final = 366 * 86_400
#: Largest rate in events/s. More is a slip of the pen, and products of rates stay far from overflow.
LARGEST_RATE: Final = 1e12

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUANTITY = re.compile(rf"(?P<number>[+-]?{_NUMBER}) ?(?P<suffix>[kKMGT]?)")
_SHARE = re.compile(rf"(?P<number>[+-]?{_NUMBER}) ?%")
_DURATION = re.compile(
    rf"(?P<sign>[+-]?)(?:(?P<d>{_NUMBER}) ?d)? ?(?:(?P<h>{_NUMBER}) ?h)? ?(?:(?P<m>{_NUMBER}) ?m)? ?"
    rf"(?:(?P<s>{_NUMBER}) ?s)? ?(?:(?P<ms>{_NUMBER}) ?ms)?"
)
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_FACTORS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

DURATION_HINT = "write e.g. 90s, 15m, 6h or 2d"
QUANTITY_HINT = "write e.g. 800, 60k or 1.5M"
SHARE_HINT = "write e.g. 80% or 0.8"


@dataclass(frozen=True, slots=True)
class Written:
    """Part of a type: how a person would write a value of it."""

    as_text: Callable[[float], str]


def printable(text: str) -> str:
    """The text on one line, whatever it holds."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def shown(value: object) -> str:
    """A value as its author wrote it, short enough for one line."""
    match value:
        case str():
            text = printable(value)
            return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case list() | tuple() | set():
            return "a list"
        case Mapping():
            return "a mapping"
        case _:
            text = printable(str(value))
            return text if len(text) <= 40 else f"{text[:37]}..."


def _number(value: object) -> float | None:
    """The value as a finite float; None where it is none. A boolean is not a number."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def parse_duration(value: object, *, signed: bool = False) -> float:
    """Seconds.

    >>> parse_duration("1h30m"), parse_duration("250ms"), parse_duration(90)
    (5400.0, 0.25, 90.0)
    >>> parse_duration("6x")
    Traceback (most recent call last):
    ValueError: "6x" is not a duration; write e.g. 90s, 15m, 6h or 2d
    """
    seconds = _number(value)
    if seconds is None and isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        parts = [float(match[unit]) * size for unit, size in _SECONDS.items() if match[unit]] if match else []
        if match and parts:
            seconds = -math.fsum(parts) if match["sign"] == "-" else math.fsum(parts)
    if seconds is None or not math.isfinite(seconds):
        raise ValueError(f"{shown(value)} is not a duration; {DURATION_HINT}")
    if seconds < 0 and not signed:
        raise ValueError(f"{shown(value)} is a negative duration; {DURATION_HINT}")
    return seconds


def parse_quantity(value: object) -> float:
    """A number that is not negative, with the suffixes k, M, G and T.

    >>> parse_quantity("60k"), parse_quantity("1.5M"), parse_quantity(7)
    (60000.0, 1500000.0, 7.0)
    """
    quantity = _number(value)
    if quantity is None and isinstance(value, str) and (match := _QUANTITY.fullmatch(value.strip())):
        quantity = float(match["number"]) * _FACTORS[match["suffix"]]
    if quantity is None or not math.isfinite(quantity):
        raise ValueError(f"{shown(value)} is not a quantity; {QUANTITY_HINT}")
    if quantity < 0:
        raise ValueError(f"{shown(value)} is negative; {QUANTITY_HINT}")
    return quantity


def parse_share(value: object, *, largest: float = 1.0) -> float:
    """A share of a whole, written `80%` or 0.8, from 0 to `largest`.

    >>> parse_share("80%"), parse_share(0.8)
    (0.8, 0.8)
    >>> parse_share(80)
    Traceback (most recent call last):
    ValueError: 80 is not a share from 0% to 100%; write e.g. 80% or 0.8
    """
    share = _number(value)
    if share is None and isinstance(value, str) and (match := _SHARE.fullmatch(value.strip())):
        share = float(match["number"]) / 100
    if share is None or not 0 <= share <= largest:
        raise ValueError(f"{shown(value)} is not a share from 0% to {largest:.0%}; {SHARE_HINT}")
    return share


def parse_rate(value: object) -> float:
    """Events/s, from 0 to `LARGEST_RATE`."""
    rate = parse_quantity(value)
    if rate > LARGEST_RATE:
        raise ValueError(f"{shown(value)} is more than {format_quantity(LARGEST_RATE)} events/s; {QUANTITY_HINT}")
    return rate


def parse_positive_rate(value: object) -> float:
    """Events/s above 0."""
    rate = parse_rate(value)
    if rate == 0:
        raise ValueError(f"{shown(value)} is no load at all; {QUANTITY_HINT}")
    return rate


def parse_whole_seconds(value: object, *, signed: bool = False, smallest: int = 1) -> int:
    """A whole number of seconds: the resolution of a curve. At most `LONGEST_S` either way."""
    seconds = parse_duration(value, signed=signed)
    if not seconds.is_integer():
        raise ValueError(f"{shown(value)} is not a whole number of seconds; {DURATION_HINT}")
    if abs(seconds) > LONGEST_S:
        raise ValueError(f"{shown(value)} is longer than {format_duration(LONGEST_S)}; {DURATION_HINT}")
    if seconds < smallest and not signed:
        raise ValueError(f"{shown(value)} is shorter than {format_duration(smallest)}; {DURATION_HINT}")
    return int(seconds)


def parse_signed_seconds(value: object) -> int:
    """A whole number of seconds, forwards or (negative) backwards."""
    return parse_whole_seconds(value, signed=True)


def parse_positive(value: object) -> float:
    """A number above 0, without a unit."""
    number = _number(value)
    if number is None or not 0 < number <= LARGEST_RATE:
        raise ValueError(f"{shown(value)} is not a number above 0; write e.g. 2 or 0.5")
    return number


def parse_count(value: object) -> int:
    """A whole number from 1 to 10,000."""
    number = _number(value)
    if number is None or not number.is_integer() or not 1 <= number <= 10_000:
        raise ValueError(f"{shown(value)} is not a whole number from 1 to 10000")
    return int(number)


def parse_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{shown(value)} is neither true nor false")
    return value


def optional(parse: Callable[[object], T]) -> Callable[[object], T | None]:
    """The same, but a key without a value counts as left out."""

    def parse_unless_empty(value: object) -> T | None:
        return None if value is None else parse(value)

    return parse_unless_empty


def _decimal(value: float, digits: int) -> str:
    """At most `digits` decimals and no zeros at the end."""
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_duration(seconds: float) -> str:
    """Short text that `parse_duration` reads back, to the millisecond.

    >>> format_duration(5400), format_duration(0.25), format_duration(90061.5)
    ('1h30m', '250ms', '1d1h1m1.5s')
    """
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    if 0 < seconds < 0.9995:
        return f"{_decimal(seconds * 1000, 6)}ms"
    left_ms = round(seconds * 1000)
    text = ""
    for unit, size_ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)):
        whole, left_ms = divmod(left_ms, size_ms)
        text += f"{whole}{unit}" if whole else ""
    return text + (f"{_decimal(left_ms / 1000, 3)}s" if left_ms or not text else "")


def format_quantity(value: float) -> str:
    """Short text that `parse_quantity` reads back, to four significant digits.

    >>> format_quantity(60_000), format_quantity(1_500_000), format_quantity(12.5), format_quantity(999_999)
    ('60k', '1.5M', '12.5', '1M')
    """
    rounded = float(f"{value:.4g}")
    for suffix in ("T", "G", "M", "k"):
        if rounded >= _FACTORS[suffix]:
            return f"{rounded / _FACTORS[suffix]:.4g}{suffix}"
    return f"{rounded:.4g}"


def format_share(share: float) -> str:
    """As a percentage: `12.5%`."""
    return f"{_decimal(share * 100, 4)}%"


Duration = Annotated[float, PlainValidator(parse_duration), Written(format_duration)]
Quantity = Annotated[float, PlainValidator(parse_quantity), Written(format_quantity)]
Share = Annotated[float, PlainValidator(parse_share), Written(format_share)]
Rate = Annotated[float, PlainValidator(parse_positive_rate)]
OptionalRate = Annotated[float | None, PlainValidator(optional(parse_positive_rate))]
Seconds = Annotated[int, PlainValidator(parse_whole_seconds), Written(format_duration)]
OptionalSeconds = Annotated[int | None, PlainValidator(optional(parse_whole_seconds))]
SignedSeconds = Annotated[int, PlainValidator(parse_signed_seconds)]
OptionalPositive = Annotated[float | None, PlainValidator(optional(parse_positive))]
Count = Annotated[int, PlainValidator(parse_count)]
Flag = Annotated[bool, PlainValidator(parse_flag)]
