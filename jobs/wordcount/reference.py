"""WordCount in plain Python: what must have come out, and what did."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from jobs.wordcount.events import Line


class Count(NamedTuple):
    """The state of one word."""

    total: int
    event_time: int
    """Of its youngest occurrence, in ms."""


def expected(lines: Iterable[Line]) -> dict[str, Count]:
    """All words with their counts at the end of the input.

    >>> expected([Line(["to", "be"], 10), Line(["be"], 20)])
    {'to': Count(total=1, event_time=10), 'be': Count(total=2, event_time=20)}
    """
    counts: dict[str, Count] = {}
    for line in lines:
        for word in line.words:
            before = counts.get(word, Count(0, line.time_ms))
            counts[word] = Count(before.total + 1, max(before.event_time, line.time_ms))
    return counts


def collected(values: Iterable[bytes]) -> dict[str, Count]:
    """The same from the output topic, in its order: the last record of a word is its state."""
    records = map(json.loads, values)
    return {record["word"]: Count(record["count"], record["event_time"]) for record in records}
