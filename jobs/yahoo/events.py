"""Ad events in JSON with the fields of the original benchmark; ads are drawn evenly, a third of events are views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobs.records import TIME_DIGITS, Layout, column, times
from jobs.runtime import Deployment, Program, Source
from jobs.yahoo.campaigns import ADS, identifiers, load

USERS = 1000
PAGES = 100
TYPES = ("view", "click", "purchase")
_FORMATS = ("banner", "modal", "sponsored-search", "mail", "mobile")

_ID = 36


def _padded(texts: tuple[str, ...]) -> list[str]:
    """Quoted; blanks behind the closing quote keep the length and the JSON."""
    return [f'"{text}"'.ljust(max(map(len, texts)) + 2) for text in texts]


_COLUMNS = (
    ("user", column(identifiers("user", USERS))),
    ("page", column(identifiers("page", PAGES))),
    ("ad", column(identifiers("ad", ADS))),
    ("format", column(_padded(_FORMATS))),
    ("type", column(_padded(TYPES))),
)
_LAYOUT = Layout(
    '{"user_id":"<user>","page_id":"<page>","ad_id":"<ad>","ad_type":<format>,"event_type":<type>,'
    '"event_time":<time>,"ip_address":"1.2.3.4"}',
    time=TIME_DIGITS,
    **{name: values.shape[1] for name, values in _COLUMNS},
)


class AdEvent(NamedTuple):
    """One event, as far as the job looks at it."""

    ad: str
    kind: str
    time_ms: int


def decode(value: bytes, timestamp_ms: int) -> AdEvent:
    del timestamp_ms
    event = json.loads(value)
    return AdEvent(event["ad_id"], event["event_type"], event["event_time"])


class AdEvents(Source):
    """Views, clicks and purchases."""

    def batch(self, count: int, time_ms: int | NDArray[np.int64]) -> list[bytes]:
        shares = self.random.random((count, len(_COLUMNS)))
        drawn = (shares * [len(values) for _, values in _COLUMNS]).astype(np.intp)
        columns = {name: values[drawn[:, place]] for place, (name, values) in enumerate(_COLUMNS)}
        return _LAYOUT.rows(count, time=times(time_ms), **columns)


def _tables(deployment: Deployment) -> Mapping[str, str]:
    pairs = load(deployment.options.get("redis", "")).items()
    return {"campaigns": " ".join(f"{ad}={campaign}" for ad, campaign in pairs)}


PROGRAM = Program(
    name="yahoo",
    engines=("flink", "spark"),
    source=AdEvents,
    event_bytes=_LAYOUT.size,
    options={"redis": ""},
    tables=_tables,
)
