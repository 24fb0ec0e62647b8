"""Which campaign an ad belongs to: a table that comes with the job, or one that is read from Redis at its start."""

from __future__ import annotations

from functools import cache
from uuid import UUID

import numpy as np

ADS = 1000
CAMPAIGNS = 100
"""Ten ads each, as in the original benchmark."""

REDIS_KEY = "tidebed:yahoo:ads"
"""A hash: ad to campaign."""


@cache
def identifiers(kind: str, count: int) -> tuple[str, ...]:
    """The same random UUIDs each time."""
    random = np.random.default_rng(list(kind.encode()))
    return tuple(str(UUID(bytes=random.bytes(16), version=4)) for _ in range(count))


def embedded() -> dict[str, str]:
    """Ad to campaign."""
    campaigns = identifiers("campaign", CAMPAIGNS)
    return {ad: campaigns[number % CAMPAIGNS] for number, ad in enumerate(identifiers("ad", ADS))}


def load(redis_url: str = "") -> dict[str, str]:
    """Ad to campaign, from Redis if an address is given."""
    if not redis_url:
        return embedded()
    from redis import Redis

    with Redis.from_url(redis_url, decode_responses=True) as client:
        table: dict[str, str] = client.hgetall(REDIS_KEY)
    if not table:
        raise LookupError(f"{redis_url} has no hash {REDIS_KEY}; jobs.yahoo.campaigns.store writes it")
    return table


def store(redis_url: str) -> None:
    """Write the embedded table to Redis."""
    from redis import Redis

    with Redis.from_url(redis_url) as client:
        client.hset(REDIS_KEY, mapping=dict(embedded()))
