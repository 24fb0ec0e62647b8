"""What a parameter must be. Each check raises a ValueError that starts with the parameter's name."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite


def number(key: str, value: object, what: str, fits: Callable[[float], bool]) -> None:
    """A finite number that fits; `what` says in words which do.

    >>> number("step_share", -1, "a share, 0 or more", lambda share: share >= 0)
    Traceback (most recent call last):
    ValueError: step_share: -1 is not a share, 0 or more
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or not fits(value):
        raise ValueError(f"{key}: {value!r} is not {what}")


def whole(key: str, value: object, what: str, *, least: int, most: float = float("inf")) -> None:
    """A whole number from `least` to `most`.

    >>> whole("periods", 2.5, "a whole number of periods, 0 or more", least=0)
    Traceback (most recent call last):
    ValueError: periods: 2.5 is not a whole number of periods, 0 or more
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{key}: {value!r} is not {what}")


def count(key: str, value: object, least: int = 1) -> None:
    whole(key, value, f"a whole number, at least {least}", least=least)


def each(check: Callable[[str, object], None], params: object, *keys: str) -> None:
    """The same check for several parameters of a policy."""
    for key in keys:
        check(key, getattr(params, key))


def workers(key: str, value: object) -> None:
    whole(key, value, "a whole number of workers, at least 1", least=1)


def share(key: str, value: object) -> None:
    """Above 0, up to 1.

    >>> share("target_cpu", 1.7)
    Traceback (most recent call last):
    ValueError: target_cpu: 1.7 is not a share between 0 and 1
    """
    number(key, value, "a share between 0 and 1", lambda given: 0 < given <= 1)


def seconds(key: str, value: object) -> None:
    number(key, value, "a number of seconds, 0 or more", lambda given: given >= 0)


def period(key: str, value: object) -> None:
    number(key, value, "a number of seconds above 0", lambda given: given > 0)


def bounds(minimum: int, maximum: int) -> None:
    """The fewest and the most workers of a policy."""
    workers("minimum", minimum)
    workers("maximum", maximum)
    if maximum < minimum:
        raise ValueError(f"maximum: {maximum} is below the minimum of {minimum}")
