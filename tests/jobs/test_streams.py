"""Events are skewed as their jobs say, and the references count them right."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import runtime
from jobs.traffic import events as vehicles
from jobs.traffic import reference as traffic
from jobs.traffic.vehicles import KINDS, LATITUDE, LONGITUDE, fleet
from jobs.wordcount import events as lines
from jobs.wordcount import reference as wordcount
from jobs.yahoo import campaigns
from jobs.yahoo import events as ads
from jobs.yahoo import reference as yahoo

NOW = 1_800_000_000_000
MANY = 20_000


def sample(job: str) -> list[bytes]:
    return runtime.program(job).source(1, 0, 8).batch(MANY, NOW)


def test_words_follow_zipf() -> None:
    words = Counter(word for line in sample("wordcount") for word in lines.decode(line, NOW).words)
    total = words.total()
    assert total == MANY * lines.WORDS_A_LINE
    shares = 1 / np.arange(1, lines.VOCABULARY + 1)
    shares /= shares.sum()
    for rank in (0, 1, 2, 9):
        assert words[lines.word(rank)] / total == pytest.approx(shares[rank], rel=0.1)


def test_a_rank_has_a_word_of_its_own() -> None:
    assert len({lines.word(rank) for rank in range(lines.VOCABULARY)}) == lines.VOCABULARY


def test_a_third_of_the_ad_events_are_views_and_ads_come_evenly() -> None:
    events = [ads.decode(event, NOW) for event in sample("yahoo")]
    assert Counter(event.kind for event in events)["view"] / MANY == pytest.approx(1 / 3, rel=0.05)
    shown = Counter(event.ad for event in events)
    assert set(shown) == set(campaigns.embedded())
    assert max(shown.values()) < 3 * MANY / campaigns.ADS


def test_campaigns_have_equal_numbers_of_ads() -> None:
    assert set(Counter(campaigns.embedded().values()).values()) == {campaigns.ADS // campaigns.CAMPAIGNS}


def test_half_of_the_vehicles_are_near_and_some_report_more() -> None:
    events = [vehicles.decode(event, NOW) for event in sample("traffic")]
    assert sum(map(traffic.near, events)) / MANY == pytest.approx(0.5, abs=0.06)
    reports = Counter(fleet()[event.vehicle].name for event in events)
    size = Counter(kind.name for kind in fleet().values())
    car, bus = (reports[kind] / size[kind] for kind in ("car", "bus"))
    assert bus / car == pytest.approx(8.0, rel=0.2)
    assert set(size) == {kind.name for kind in KINDS}


views = st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 40_000)), max_size=60)


@given(views)
def test_every_view_is_in_one_window(drawn: list[tuple[str, bool, int]]) -> None:
    events = [ads.AdEvent(ad, "view" if viewed else "click", time) for ad, viewed, time in drawn]
    windows = yahoo.expected(events, {"a": "one", "b": "one"})
    assert sum(views.total for views in windows.values()) == sum(e.kind == "view" and e.ad != "c" for e in events)
    assert all(0 <= views.event_time - window.start_ms < yahoo.WINDOW_MS for window, views in windows.items())
    assert yahoo.expected(reversed(events), {"a": "one", "b": "one"}) == windows


@given(st.lists(st.integers(0, 2500), min_size=1, max_size=20))
def test_an_average_is_between_its_extremes(speeds: list[int]) -> None:
    plate = next(iter(fleet()))
    (speed,) = traffic.expected(
        vehicles.VehicleEvent(plate, LATITUDE, LONGITUDE, speed, 5) for speed in speeds
    ).values()
    assert min(speeds) <= speed.average <= max(speeds)
    assert speed.events == len(speeds)
    assert speed.speeding == (speed.average > fleet()[plate].limit)


def test_the_last_record_holds() -> None:
    records = [b'{"word":"a","count":1,"event_time":5}', b'{"word":"a","count":3,"event_time":9}']
    assert wordcount.collected(records) == {"a": wordcount.Count(3, 9)}
