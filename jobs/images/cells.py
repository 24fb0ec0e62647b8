"""Images as from a fluorescence microscope: cells on a dark ground, each with one, two or three markers that glow.

Cells do not touch, so that how many there are of each marker is known and can be compared with what is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""Rows, columns, and blue, green and red, as OpenCV has them."""

MEGAPIXELS = 1.7
"""Borkowski et al. 2019, section 3.2."""
STRIDE = 32
"""Every so many pixels, in both directions, one is kept for queries."""

_ASPECT = 1.5
_SPACING = 96
"""Pixels from a cell's place to the next; smallest and largest radius leave room between them."""
_RADII = (14, 30)
_SHARPNESS = 20.0
"""How steep a cell's rim is."""
_GROUND = 12.0
_NOISE = 3.0
_MARKED = (0.9, 0.5, 0.3)
"""Share of cells that glow blue (their nucleus), green and red; assumed."""
_QUALITY = 90


class Cells(NamedTuple):
    """How many there are by marker."""

    red: int
    green: int
    blue: int


@dataclass(frozen=True, slots=True)
class Slide:
    """One image, compressed, and what is on it."""

    jpeg: bytes
    cells: Cells


def shape(megapixels: float) -> tuple[int, int]:
    """Rows and columns, both multiples of the stride.

    >>> shape(1.7), shape(0.1)
    ((1056, 1600), (256, 384))
    """
    width = sqrt(megapixels * 1e6 * _ASPECT)
    return STRIDE * max(4, round(width / _ASPECT / STRIDE)), STRIDE * max(6, round(width / STRIDE))


@cache
def slides(count: int, megapixels: float = MEGAPIXELS, seed: int = 0) -> tuple[Slide, ...]:
    """A set of different images; the same for the same seed."""
    random = np.random.default_rng(seed)
    return tuple(_slide(random, *shape(megapixels)) for _ in range(count))


def _slide(random: np.random.Generator, rows: int, columns: int) -> Slide:
    import cv2

    glow = np.zeros((rows, columns, 3), np.float32)
    marked = np.zeros(3, int)
    for top in range(0, rows - _SPACING + 1, _SPACING):
        for left in range(0, columns - _SPACING + 1, _SPACING):
            markers = random.random(3) < _MARKED
            marked += markers
            _add_cell(random, glow[top : top + _SPACING, left : left + _SPACING], markers)
    picture = _GROUND + glow + random.normal(0, _NOISE, glow.shape)
    _, encoded = cv2.imencode(".jpg", np.clip(picture, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    blue, green, red = map(int, marked)
    return Slide(encoded.tobytes(), Cells(red, green, blue))


def _add_cell(random: np.random.Generator, place: NDArray[np.float32], markers: NDArray[np.bool_]) -> None:
    """An ellipse with a soft rim, somewhere in its place."""
    radii = random.uniform(*_RADII, 2)
    centre = _SPACING / 2 + random.uniform(-1, 1, 2) * (_SPACING / 2 - _RADII[1] - 6)
    down, right = np.mgrid[:_SPACING, :_SPACING]
    distance = np.hypot((down - centre[0]) / radii[0], (right - centre[1]) / radii[1])
    rim = 1 / (1 + np.exp((distance - 1) * _SHARPNESS))
    for channel in np.flatnonzero(markers):
        place[:, :, channel] += (rim * random.uniform(110, 200)).astype(np.float32)
