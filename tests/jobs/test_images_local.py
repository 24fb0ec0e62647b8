"""A pool of image workers answers every event once, and right, whoever joins, leaves, crashes or falls asleep."""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from infra.local.kafka import Broker
from jobs.images import events, reference
from jobs.images.reference import Answer

pytestmark = pytest.mark.local


def test_images(play: Callable[..., Any]) -> None:
    stage = play("images", "workers", megapixels="0.05")
    stage.feed(8, 200)
    stage.rescale(2)
    stage.feed(8, 200)
    stage.await_engine()
    stage.feed(8, 200)
    stage.kill_worker()
    stage.feed(8, 200)
    stage.await_engine()
    paused = stage.engine.present[0].part
    paused.signal(signal.SIGSTOP)
    stage.feed(8, 200)
    expected = answers(stage)
    assert any(len(answer.intensities) > 100 for answer in expected.values())
    paused.signal(signal.SIGCONT)
    stage.rescale(1)
    stage.await_results(reference.collected, expected)
    assert set(reference.collected(stage.results)) == set(expected)


def test_images_outlive_the_broker(play: Callable[..., Any], broker: Broker) -> None:
    """It goes away while workers are in the middle of transactions, and comes back."""
    stage = play("images", "workers", megapixels="0.05", workers=2)
    stage.feed(4, 200)
    assert broker.part is not None
    broker.part.stop()
    broker.start()
    broker.await_ready()
    stage.feed(4, 200)
    expected = answers(stage)
    stage.await_results(reference.collected, expected)
    assert set(reference.collected(stage.results)) == set(expected)


def answers(stage: Any) -> dict[str, Answer]:
    """To all events that were sent, in each partition on its own."""
    expected: dict[str, Answer] = {}
    for part in stage.sent:
        expected |= reference.expected(events.decode(*event) for event in part)
    return expected
