"""Images of a tissue, and now and then a query (Borkowski et al. 2019, section 3.2).

The plane of the tissue is divided into regions of equal size, one a partition. An image has a position in the plane and
goes to its region; a query goes to the region that it asks about, one for a hundred images on average. So whoever has a
partition has all that its queries need. A record is a line of JSON, followed by the image.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobs.images.cells import MEGAPIXELS, STRIDE, shape, slides
from jobs.runtime import Program, Source

QUERIES_AN_IMAGE = 0.01
PLANE = 1_000_000
"""Width and height of the tissue."""
DIFFERENT = 12
"""Images in a set, sent again and again in random order."""


class Event(NamedTuple):
    """An image at a position, or a query for the pixel in this row and column of the last images."""

    id: str
    x: int
    y: int
    time_ms: int
    image: bytes
    """Compressed; empty for a query."""
    row: int = 0
    column: int = 0


def encode(event: Event) -> bytes:
    head = {"id": event.id, "x": event.x, "y": event.y, "event_time": event.time_ms}
    if not event.image:
        head |= {"row": event.row, "column": event.column}
    return json.dumps(head).encode() + b"\n" + event.image


def decode(value: bytes, timestamp_ms: int) -> Event:
    del timestamp_ms
    line, _, image = value.partition(b"\n")
    head = json.loads(line)
    return Event(head["id"], head["x"], head["y"], head["event_time"], image, head.get("row", 0), head.get("column", 0))


class Images(Source):
    """Images of one region, and queries about it. Option: megapixels."""

    def __init__(
        self, seed: int, partition: int, partitions: int, options: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__(seed, partition, partitions, options)
        megapixels = float(options.get("megapixels", MEGAPIXELS))
        self._slides = slides(DIFFERENT, megapixels)  # before the first event is due: it takes a second
        self._rows, self._columns = shape(megapixels)
        self._sent = 0

    def batch(self, count: int, time_ms: int | NDArray[np.int64]) -> list[bytes]:
        times = np.broadcast_to(np.asarray(time_ms), count)
        return [encode(self._next(int(time))) for time in times]

    def _next(self, time_ms: int) -> Event:
        asks, east, down, which, row, column = self.random.random(6)
        event = Event(
            id=f"{self.seed}-{self.partition}-{self._sent}",
            x=int((self.partition + east) / self.partitions * PLANE),
            y=int(down * PLANE),
            time_ms=time_ms,
            image=self._slides[int(which * DIFFERENT)].jpeg,
        )
        self._sent += 1
        if asks >= QUERIES_AN_IMAGE / (1 + QUERIES_AN_IMAGE):
            return event
        return event._replace(
            image=b"",
            row=int(row * self._rows / STRIDE) * STRIDE,
            column=int(column * self._columns / STRIDE) * STRIDE,
        )


PROGRAM = Program(
    name="images",
    engines=("workers",),
    source=Images,
    event_bytes=260_000,
    partitions=8,
    state_topic=True,
    options={"megapixels": str(MEGAPIXELS)},
)
