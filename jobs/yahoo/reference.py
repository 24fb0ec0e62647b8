"""The Yahoo Streaming Benchmark in plain Python: what must have come out, and what did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jobs.yahoo.events import AdEvent

WINDOW_MS = 10_000


class Window(NamedTuple):
    """A campaign in ten seconds of event time."""

    campaign: str
    start_ms: int


class Views(NamedTuple):
    """What is known of a window."""

    total: int
    event_time: int
    """Of the youngest view, in ms."""


def expected(events: Iterable[AdEvent], campaigns: Mapping[str, str]) -> dict[Window, Views]:
    """All windows that have views.

    >>> events = [AdEvent("a", "view", 9_000), AdEvent("b", "view", 9_500), AdEvent("a", "click", 9_600)]
    >>> expected(events, {"a": "shoes", "b": "shoes"})
    {Window(campaign='shoes', start_ms=0): Views(total=2, event_time=9500)}
    """
    windows: dict[Window, Views] = {}
    for event in events:
        if event.kind == "view" and event.ad in campaigns:
            window = Window(campaigns[event.ad], event.time_ms // WINDOW_MS * WINDOW_MS)
            before = windows.get(window, Views(0, event.time_ms))
            windows[window] = Views(before.total + 1, max(before.event_time, event.time_ms))
    return windows


def collected(values: Iterable[bytes]) -> dict[Window, Views]:
    """The same from the output topic, in its order: the last record of a window holds."""
    records = map(json.loads, values)
    return {
        Window(record["campaign_id"], record["window_start"]): Views(record["count"], record["event_time"])
        for record in records
    }
