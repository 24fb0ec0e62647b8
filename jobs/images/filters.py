"""What is done to an image (Borkowski et al. 2019, section 3.2): blur, split into channels, edges, objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobs.images.cells import STRIDE, Cells, Pixels

if TYPE_CHECKING:
    from collections.abc import Sequence

BLUR = 2.0
"""Standard deviation in pixels."""
EDGE = (15, 40)
"""Canny's thresholds: a cell's rim is above the upper one, the ground's noise below the lower one."""
SMALLEST = 16
"""Pixels; what is smaller in width or height is no cell."""


def decompressed(jpeg: bytes) -> Pixels:
    import cv2

    image: Pixels | None = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError("not an image")
    return image


def sampled(image: Pixels) -> Pixels:
    """The pixels that queries may ask for."""
    return np.ascontiguousarray(image[::STRIDE, ::STRIDE])


def count(image: Pixels) -> Cells:
    import cv2

    blurred = cv2.GaussianBlur(image, (0, 0), BLUR)
    blue, green, red = (_objects(channel) for channel in cv2.split(blurred))
    return Cells(red, green, blue)


def _objects(channel: Pixels) -> int:
    """Closed edges, from outside, that are large enough."""
    import cv2

    edges = cv2.Canny(channel, *EDGE)
    closed = cv2.morphologyEx(edges, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    contours: Sequence[Pixels] = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    boxes = (cv2.boundingRect(contour) for contour in contours)
    return sum(width >= SMALLEST and height >= SMALLEST for _, _, width, height in boxes)
