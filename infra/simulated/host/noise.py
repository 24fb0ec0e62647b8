"""Random numbers that belong to a second: asked for again, or with other seconds, they are the same.

The bits come from hashing seed, series and second with the finaliser of SplitMix64 (Steele, Lea, Flood: Fast
splittable pseudorandom number generators, OOPSLA 2014), the normal distribution from the Box-Muller transform.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Floats

_Words = NDArray[np.uint64]

_GOLDEN: Final = 0x9E3779B97F4A7C15
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB
_WORD: Final = 2**64 - 1
_TO_UNIT: Final = 2.0**-53


def standard_normal(seed: int, series: int, first_second: int, seconds: int) -> Floats:
    """[series, second] independent draws.

    >>> bool(np.array_equal(standard_normal(1, 3, 0, 60)[:, 45:], standard_normal(1, 3, 45, 15)))
    True
    """
    base = np.array([seed & _WORD], dtype=np.uint64)
    streams = _mixed(_mixed(base) + np.arange(1, series + 1, dtype=np.uint64)[:, None] * np.uint64(_GOLDEN))
    steps = np.arange(first_second + 1, first_second + seconds + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    words = _mixed(streams + steps)
    radius = np.sqrt(-2.0 * np.log1p(-_unit(words)))
    return np.asarray(radius * np.cos(2.0 * math.pi * _unit(_mixed(words))))


def _mixed(words: _Words) -> _Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return words ^ (words >> np.uint64(31))


def _unit(words: _Words) -> Floats:
    """From 0 to 1, 1 excluded."""
    return np.asarray((words >> np.uint64(11)) * _TO_UNIT)
