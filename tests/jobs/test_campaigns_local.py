"""The table of campaigns from a real Redis is the embedded one; without it the reason is told."""

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NoConnection

from infra.local.household import Household
from infra.local.ports import LOOPBACK, free
from jobs import runtime
from jobs.runtime import Deployment
from jobs.yahoo import campaigns

pytestmark = pytest.mark.local


def test_campaigns_come_from_redis(household: Household) -> None:
    (port,) = free(1)
    url = f"redis://{LOOPBACK}:{port}"
    settings = ["--bind", LOOPBACK, "--port", str(port), "--save", "", "--appendonly", "no"]
    redis = household.start("redis", ["redis-server", *settings])
    household.await_("waiting for Redis", lambda: answers(url), redis)

    with pytest.raises(LookupError, match="has no hash"):
        campaigns.load(url)
    campaigns.store(url)
    assert campaigns.load(url) == campaigns.embedded()

    with Redis.from_url(url) as client:
        client.hset(campaigns.REDIS_KEY, "new-ad", "new-campaign")
    deployment = Deployment(job="yahoo", broker="b:1", input="i", output="o", group="g", options={"redis": url})
    assert "new-ad=new-campaign" in runtime.flink_script(deployment)


def answers(url: str) -> bool:
    try:
        with Redis.from_url(url) as client:
            return bool(client.ping())
    except NoConnection:
        return False
