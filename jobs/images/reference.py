"""Image processing in plain NumPy: what must have come out, and what did.

OpenCV does nothing here but decompress. Blur and gradient are written out, objects are labelled one by one.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from jobs.images.cells import Cells, Pixels
from jobs.images.events import Event
from jobs.images.filters import BLUR, EDGE, SMALLEST, decompressed
from jobs.images.window import LENGTH


class Answer(NamedTuple):
    """To an image how many cells there are, to a query the pixel's intensities, oldest image first."""

    cells: Cells | None
    intensities: tuple[tuple[int, int, int], ...]
    event_time: int


def expected(region: Iterable[Event]) -> dict[str, Answer]:
    """Answers by the event's id, for the events of one region in their order."""
    answers: dict[str, Answer] = {}
    last: deque[Pixels] = deque(maxlen=LENGTH)
    for event in region:
        if event.image:
            last.append(_pixels(event.image))
            answers[event.id] = Answer(cells(event.image), (), event.time_ms)
        else:
            seen = tuple(_rgb(image, event.row, event.column) for image in last)
            answers[event.id] = Answer(None, seen, event.time_ms)
    return answers


def collected(values: Iterable[bytes]) -> dict[str, Answer]:
    """The same from the output topic; raises if an event was answered twice."""
    answers: dict[str, Answer] = {}
    for record in map(json.loads, values):
        if record["id"] in answers:
            raise ValueError(f"{record['id']} was answered twice")
        counted = Cells(**record["cells"]) if "cells" in record else None
        seen = tuple(tuple(pixel) for pixel in record.get("intensities", ()))
        answers[record["id"]] = Answer(counted, seen, record["event_time"])
    return answers


@lru_cache(maxsize=512)
def cells(jpeg: bytes) -> Cells:
    blue, green, red = (_objects(channel) for channel in np.moveaxis(_pixels(jpeg).astype(float), 2, 0))
    return Cells(red, green, blue)


@lru_cache(maxsize=512)
def _pixels(jpeg: bytes) -> Pixels:
    return decompressed(jpeg)


def _rgb(image: Pixels, row: int, column: int) -> tuple[int, int, int]:
    blue, green, red = image[row, column].tolist()
    return red, green, blue


def _objects(channel: NDArray[np.float64]) -> int:
    across = np.arange(-6, 7)
    bell = np.exp(-(across**2) / (2 * BLUR**2))
    blurred = _along_both(channel, bell / bell.sum(), bell / bell.sum())
    right = _along_both(blurred, np.array([1.0, 2.0, 1.0]), np.array([-1.0, 0.0, 1.0]))
    down = _along_both(blurred, np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0]))
    labels, _ = ndimage.label(abs(right) + abs(down) >= EDGE, structure=np.ones((3, 3)))
    sizes = [[part.stop - part.start for part in box] for box in ndimage.find_objects(labels)]
    return sum(min(size) >= SMALLEST for size in sizes)


def _along_both(
    image: NDArray[np.float64], down: NDArray[np.float64], across: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Correlate the columns with one kernel and the rows with another; the image is mirrored at its rim."""
    for axis, kernel in enumerate((down, across)):
        reach = len(kernel) // 2
        width = [(reach, reach) if place == axis else (0, 0) for place in range(2)]
        padded = np.pad(image, width, mode="reflect")
        length = image.shape[axis]
        image = sum(
            (weight * padded.take(range(start, start + length), axis=axis) for start, weight in enumerate(kernel)),
            start=np.zeros_like(image),
        )
    return image
