"""Lines of five words; how often a word comes follows Zipf's law, so a few words are hot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobs.records import Layout, choices, column, pick
from jobs.runtime import Program, Source

WORDS_A_LINE = 5
VOCABULARY = 50_000
"""As in the job's profile: the vocabulary of an English corpus."""
SKEW = 1.0
"""Zipf's exponent of word frequencies in English."""

_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxyz" for vowel in "aeiou"]


def word(rank: int) -> str:
    """The word of this rank, from 0 for the most frequent one; all have six letters.

    >>> word(0), word(1), word(VOCABULARY - 1)
    ('bababa', 'bababe', 'bupefu')
    """
    syllables = []
    for _ in range(3):
        rank, place = divmod(rank, len(_SYLLABLES))
        syllables.append(_SYLLABLES[place])
    return "".join(reversed(syllables))


_HOLES = [f"word{place}" for place in range(WORDS_A_LINE)]
_LAYOUT = Layout(" ".join(f"<{hole}>" for hole in _HOLES), **dict.fromkeys(_HOLES, len(word(0))))
_WORDS = column([word(rank) for rank in range(VOCABULARY)])
_BOUNDS = choices(np.arange(1.0, VOCABULARY + 1) ** -SKEW)


class Line(NamedTuple):
    """One event."""

    words: list[str]
    time_ms: int


def decode(value: bytes, timestamp_ms: int) -> Line:
    return Line(value.decode().split(), timestamp_ms)


class Lines(Source):
    """Lines of text."""

    def batch(self, count: int, time_ms: int | NDArray[np.int64]) -> list[bytes]:
        del time_ms  # a line's time is its record's timestamp
        ranks = pick(_BOUNDS, self.random.random((count, WORDS_A_LINE)))
        return _LAYOUT.rows(count, **{hole: _WORDS[ranks[:, place]] for place, hole in enumerate(_HOLES)})


PROGRAM = Program(name="wordcount", engines=("flink", "spark"), source=Lines, event_bytes=_LAYOUT.size)
