"""Events as rows of bytes: a text of fixed length with holes that whole columns are written into at once.

A load generator makes hundreds of thousands of events a second on part of a core only if no event is made by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

TIME_DIGITS = 13
"""Of a time in ms, from 2001 to 2286."""


class Layout:
    """A text with holes, `<name>` each, and their widths.

    >>> layout = Layout('{"user":"<user>","time":<time>}', user=3, time=2)
    >>> layout.rows(2, user=column(["ann", "bob"]), time=digits(np.array([7, 42]), 2))
    [b'{"user":"ann","time": 7}', b'{"user":"bob","time":42}']
    """

    def __init__(self, text: str, **widths: int) -> None:
        row, self._holes = b"", {}
        for piece in re.split("(<[a-z0-9_]+>)", text):
            width = widths.get(piece[1:-1]) if piece.startswith("<") else None
            if width is not None:
                self._holes[piece[1:-1]] = slice(len(row), len(row) + width)
            row += piece.encode() if width is None else b" " * width
        self._row = np.frombuffer(row, np.uint8)

    @property
    def size(self) -> int:
        return len(self._row)

    def rows(self, count: int, **columns: Bytes) -> list[bytes]:
        """`count` records; a column has a row of bytes for each, or one for all."""
        table = np.empty((count, self.size), np.uint8)
        table[:] = self._row
        for name, values in columns.items():
            table[:, self._holes[name]] = values
        rows: list[bytes] = table.view(f"S{self.size}").ravel().tolist()
        return rows


def column(texts: Sequence[str]) -> Bytes:
    """Texts of the same length, a row each."""
    width = len(texts[0].encode())
    table = np.array([text.encode() for text in texts], dtype=f"S{width}").view(np.uint8)
    return table.reshape(len(texts), width)


def digits(values: Integers, width: int) -> Bytes:
    """Whole numbers from 0 on, flush right in `width` places, blank where JSON wants no zeros."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    rest = values[:, None] // powers
    places = (rest % 10 + ord("0")).astype(np.uint8)
    places[:, :-1][rest[:, :-1] == 0] = ord(" ")
    return places


def times(time_ms: int | Integers) -> Bytes:
    """Event times as digits: one row for all, or a row each."""
    if isinstance(time_ms, np.ndarray):
        return digits(time_ms, TIME_DIGITS)
    return np.frombuffer(b"%013d" % time_ms, np.uint8)


def choices(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Upper bounds for `pick`: where the share of each choice ends."""
    bounds: NDArray[np.float64] = np.cumsum(weights) / np.sum(weights)
    bounds[-1] = 1.0
    return bounds


def pick(bounds: NDArray[np.float64], shares: NDArray[np.float64]) -> Integers:
    """The choice that each number in [0, 1) falls to."""
    return np.searchsorted(bounds, shares, side="right")
