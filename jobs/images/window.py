"""What a region must know to answer queries: pixels of its last 1000 images, a sliding window with a slide of one."""

from __future__ import annotations

from collections import deque

import numpy as np

from jobs.images.cells import STRIDE, Pixels

LENGTH = 1000
"""Images; Borkowski et al. 2019, section 3.2."""


class PixelWindow:
    """The sampled pixels of the last images, oldest first.

    >>> window = PixelWindow(length=2)
    >>> for level in (1, 2, 3): window.add(np.full((4, 6, 3), level, np.uint8))
    >>> window.intensities(0, STRIDE)
    [[2, 2, 2], [3, 3, 3]]
    """

    def __init__(self, length: int = LENGTH) -> None:
        self._samples: deque[Pixels] = deque(maxlen=length)

    def __len__(self) -> int:
        return len(self._samples)

    def copy(self) -> PixelWindow:
        """With the same samples, which nobody changes."""
        other = PixelWindow()
        other._samples = self._samples.copy()
        return other

    def add(self, sample: Pixels) -> None:
        self._samples.append(sample)

    def intensities(self, row: int, column: int) -> list[list[int]]:
        """Red, green and blue of one pixel, image by image; images that are too small for it have none."""
        row, column = row // STRIDE, column // STRIDE
        return [
            sample[row, column, ::-1].tolist()
            for sample in self._samples
            if row < sample.shape[0] and column < sample.shape[1]
        ]


def packed(sample: Pixels) -> bytes:
    """
    >>> unpacked(packed(np.arange(72, dtype=np.uint8).reshape(4, 6, 3)))[3, 5].tolist()
    [69, 70, 71]
    """
    rows, columns, _ = sample.shape
    return np.array([rows, columns], "<u2").tobytes() + sample.tobytes()


def unpacked(value: bytes) -> Pixels:
    rows, columns = np.frombuffer(value[:4], "<u2")
    return np.frombuffer(value[4:], np.uint8).reshape(rows, columns, 3)
