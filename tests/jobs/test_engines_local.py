"""Jobs on real engines give what the reference gives: across a rescale, and when a worker is killed at work."""

from collections.abc import Callable
from typing import Any

import pytest

from jobs.traffic import events as vehicles
from jobs.traffic import reference as traffic
from jobs.wordcount import events as lines
from jobs.wordcount import reference as wordcount
from jobs.yahoo import events as ads
from jobs.yahoo import reference as yahoo
from jobs.yahoo.campaigns import embedded

pytestmark = pytest.mark.local

RATE = 2_000
WORK_NS = 2_000


@pytest.mark.parametrize("machinery", ["flink", "spark"])
def test_wordcount(play: Callable[..., Any], machinery: str) -> None:
    stage = play("wordcount", machinery, work_ns=WORK_NS)
    disturb(stage)
    sent = [lines.decode(*event) for part in stage.sent for event in part]
    stage.await_results(wordcount.collected, wordcount.expected(sent))
    assert set(wordcount.collected(stage.results)) == set(wordcount.expected(sent))


@pytest.mark.parametrize("machinery", ["flink", "spark"])
def test_yahoo(play: Callable[..., Any], machinery: str) -> None:
    stage = play("yahoo", machinery, work_ns=WORK_NS)
    disturb(stage)
    sent = [ads.decode(*event) for part in stage.sent for event in part]
    expected = before(stage.now_ms, yahoo.expected(sent, embedded()))
    stage.close_windows()
    stage.await_results(yahoo.collected, expected)
    assert set(before(stage.now_ms, yahoo.collected(stage.results))) == set(expected)


@pytest.mark.parametrize("machinery", ["flink", "spark"])
def test_traffic(play: Callable[..., Any], machinery: str) -> None:
    stage = play("traffic", machinery, work_ns=WORK_NS)
    disturb(stage)
    sent = [vehicles.decode(*event) for part in stage.sent for event in part]
    expected = before(stage.now_ms, traffic.expected(sent))
    stage.close_windows()
    stage.await_results(traffic.collected, expected)
    assert set(before(stage.now_ms, traffic.collected(stage.results))) == set(expected)


def disturb(stage: Any) -> None:
    """Events all the time, while a worker joins, and when one is killed; each time there is work on the way."""
    stage.feed(10, RATE)
    stage.rescale(2)
    stage.feed(10, RATE)
    stage.await_engine()
    stage.feed(10, RATE)
    stage.kill_worker()
    stage.feed(10, RATE)
    stage.await_engine()
    stage.feed(6, RATE)


def before(limit_ms: int, windows: dict[Any, Any]) -> dict[Any, Any]:
    return {window: value for window, value in windows.items() if window.start_ms < limit_ms}
