"""A real broker, and the load generator against it: nothing missing, nothing twice."""

import time
import uuid

import numpy as np
import pytest

from infra.local.generators import LOAD, WARMUP, Generators
from infra.local.household import Household
from infra.local.kafka import Broker
from infra.local.ports import free
from infra.local.progress import Topic
from jobs import runtime
from jobs.runtime import Deployment

pytestmark = pytest.mark.local
PARTITIONS = 4


@pytest.fixture
def broker(household: Household) -> Broker:
    started = Broker(household, *free(2))
    started.start()
    started.await_ready()
    started.create({"events": (PARTITIONS, {})})
    return started


def generators(household: Household, broker: Broker, curve: list[float], **options: object) -> Generators:
    deployment = Deployment(job="yahoo", broker=broker.address, input="events", output="results", group="test")
    made = Generators(
        household,
        runtime.program("yahoo"),
        deployment,
        curves={WARMUP: np.full(3, 500.0), LOAD: np.array(curve)},
        partitions=PARTITIONS,
        seed=7,
        **options,  # type: ignore[arg-type]
    )
    household.await_("waiting for the load generator", lambda: made.ready, *made.parts)
    return made


def arrived(broker: Broker) -> dict[int, int]:
    topic = Topic(broker.address, "events", PARTITIONS, "test")
    try:
        return topic.ends()
    finally:
        topic.close()


def test_the_load_follows_its_curve_and_its_total_is_exact(household: Household, broker: Broker) -> None:
    curve = [1000.0, 3000.0, 500.0, 0.0, 2000.0, 1250.5]
    load = generators(household, broker, curve, processes=2, extra=((2.0, 777),))
    assert len(load.parts) == 2
    load.play(WARMUP, time.time())
    load.rest()
    household.await_("waiting for the rest", lambda: True)
    before = sum(arrived(broker).values())
    start = time.time() + 0.5
    load.play(LOAD, start)
    household.await_("waiting for the end of the curve", lambda: load.totals is not None, *load.parts)
    assert load.totals == (7750 + 777, 7750 + 777)
    ends = arrived(broker)
    # the warm-up may have been stopped before or after its first events
    assert 0 <= sum(ends.values()) - 8527 - before <= 1500
    assert max(ends.values()) - min(ends.values()) <= 0.1 * 8527
    sent = load.sent(6)
    assert np.isfinite(sent).all()
    assert sent.sum() <= 8527


def test_nothing_is_lost_when_the_broker_stops_for_a_while(household: Household, broker: Broker) -> None:
    load = generators(household, broker, [500.0] * 8)
    load.play(LOAD, time.time())
    household.await_("waiting for events", lambda: sum(arrived(broker).values()) > 500, *load.parts)
    assert broker.part is not None
    broker.part.stop()
    assert not broker.answers()
    broker.start()
    broker.await_ready()
    household.await_("waiting for the end of the curve", lambda: load.totals is not None, *load.parts)
    assert load.totals == (4000, 4000)
    household.await_("waiting for all to arrive", lambda: sum(arrived(broker).values()) == 4000)


def test_a_broker_may_have_any_identity(household: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(bytes=b"\xfb" * 16))  # "-_v7-_v7..." in letters
    started = Broker(household, *free(2))
    started.start()
    started.await_ready()


def test_a_generator_ends_with_its_pipe(household: Household, broker: Broker) -> None:
    load = generators(household, broker, [100.0] * 600)
    load.play(LOAD, time.time())
    load.finish()
    assert not any(part.alive for part in load.parts)
