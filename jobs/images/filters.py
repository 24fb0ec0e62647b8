"""What is done to an image (Borkowski et al. 2019, section 3.2): blur, split into channels, edges, objects."""

from __future__ import annotations

import numpy as np

from jobs.images.cells import STRIDE, Cells, Pixels

BLUR = 2.0
"""Standard deviation in pixels."""
EDGE = 40
"""Sobel's gradient, across and down together: eight times the change a pixel. A rim is far above, noise below."""
SMALLEST = 16
"""Pixels; what is smaller in width or height is no cell."""


def decompressed(jpeg: bytes) -> Pixels:
    import cv2

    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError("not an image")
    return np.asarray(image, np.uint8)


def sampled(image: Pixels) -> Pixels:
    """The pixels that queries may ask for."""
    return np.ascontiguousarray(image[::STRIDE, ::STRIDE])


def count(image: Pixels) -> Cells:
    import cv2

    blurred = cv2.GaussianBlur(image, (0, 0), BLUR)
    blue, green, red = (_objects(np.asarray(channel, np.uint8)) for channel in cv2.split(blurred))
    return Cells(red, green, blue)


def _objects(channel: Pixels) -> int:
    """Edges, each seen from outside, that are large enough."""
    import cv2

    right, down = cv2.spatialGradient(channel)  # Sobel's, as ImageJ finds edges
    edges = (np.abs(right) + np.abs(down) >= EDGE).astype(np.uint8)
    contours = cv2.findContours(edges, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    boxes = (cv2.boundingRect(contour) for contour in contours)
    return sum(width >= SMALLEST and height >= SMALLEST for _, _, width, height in boxes)
