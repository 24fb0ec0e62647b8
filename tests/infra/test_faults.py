"""Faults: what a suite may say, and the incidents that follow from it."""

import math
import re
from collections import Counter
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from infra import faults
from infra.faults import KINDS, Fault, Incident
from infra.faults.kinds import parse_frequency

HOUR = 3600.0
Specs = list[dict[str, dict[str, Any]]]

EXAMPLES: Specs = [
    {"crash": {"at": "30m"}},
    {"crash": {"every": "45m", "until": "5h"}},
    {"crash": {"rate": "0.5/h"}},
    {"node-loss": {"at": "1h"}},
    {"slow-worker": {"at": "1h", "for": "10m", "speed": 0.5}},
    {"source-stall": {"at": "2h", "for": "60s"}},
    {"network-delay": {"at": "2h", "for": "5m", "delay": "200ms"}},
    {"request-lost": {"at": "0s", "for": "6h", "share": 0.1}},
    {"request-late": {"at": "0s", "for": "6h", "delay": "30s"}},
    {"metrics-missing": {"at": "3h", "for": "2m"}},
    {"metrics-stale": {"at": "3h", "for": "2m"}},
    {"pause-worker": {"at": "1h", "for": "30s"}},
    {"broker-down": {"at": "2h", "for": "20s"}},
    {"fill-lag": {"at": "1h", "events": "500k"}},
]


def needed(kind: str) -> dict[str, Any]:
    """The settings that a kind cannot do without, beside the time."""
    amounts = {"speed": 0.5, "delay": "200ms", "share": "10%", "events": "500k"}
    return {key: amounts.get(key, "90s") for key in KINDS[kind].needs}


def written(milliseconds: int) -> str:
    return f"{milliseconds}ms"


TIMES = st.one_of(
    st.fixed_dictionaries({"at": st.integers(0, 10**7).map(written)}),
    st.fixed_dictionaries({"at": st.lists(st.integers(0, 10**7).map(written), min_size=1, max_size=5)}),
    st.fixed_dictionaries(
        {"every": st.integers(60_000, 10**7).map(written)},
        optional={"until": st.integers(10**7, 2 * 10**7).map(written)},
    ),
    st.fixed_dictionaries(
        {"rate": st.integers(1, 30).map(lambda n: f"{n}/h")},
        optional={"until": st.integers(1, 10**7).map(written)},
    ),
)
SPECS = st.builds(lambda kind, times: {kind: {**times, **needed(kind)}}, st.sampled_from(sorted(KINDS)), TIMES)
DURATIONS = st.integers(1, 20_000).map(float)
SEEDS = st.integers(0, 2**32)


# --- what may be written -----------------------------------------------------------------------


def test_all_kinds_are_understood() -> None:
    assert faults.problems(EXAMPLES, 6 * HOUR) == []
    read = faults.parse(EXAMPLES)
    assert {fault.kind for fault in read} == set(KINDS)
    assert read[0] == Fault("crash", at_s=(1800.0,), workers=1, worker="random")
    assert read[1].until_s == 5 * HOUR
    assert read[4] == Fault("slow-worker", at_s=(HOUR,), lasts_s=600.0, workers=1, amount=0.5)
    assert read[6] == Fault("network-delay", at_s=(2 * HOUR,), lasts_s=300.0, amount=0.2)
    assert read[7].amount == 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_is_valid(kind: str) -> None:
    assert faults.problems([{kind: yaml.safe_load(KINDS[kind].example)}], 6 * HOUR) == []


@pytest.mark.parametrize(
    ("text", "per_hour"), [("0.5/h", 0.5), ("12/d", 0.5), ("1/m", 60), ("0.01 / s", 36), (".5/h", 0.5), ("5e-1/h", 0.5)]
)
def test_frequencies(text: str, per_hour: float) -> None:
    assert parse_frequency(text) * HOUR == pytest.approx(per_hour)


@pytest.mark.parametrize("value", ["0/h", "-1/h", "1", 1, "1/w", "/h", "1h", None, True, "1/h/h", "9" * 400 + "/h"])
def test_what_is_no_frequency(value: object) -> None:
    with pytest.raises(ValueError, match=r"is not a frequency; write e\.g\. 0\.5/h"):
        parse_frequency(value)


MISTAKES = [
    ("crash", (0, "crash"), "say when with at, every or rate; write e.g. crash: {at: 30m}"),
    (7, (0,), "7 is not one fault with its settings; write e.g. crash: {at: 30m}"),
    ({"crash": None, "at": "1h"}, (0,), "a mapping is not one fault with its settings"),
    ({"crassh": {"at": "1h"}}, (0,), 'there is no fault "crassh" — did you mean "crash"?'),
    ({"flood": {"at": "1h"}}, (0,), "there are: broker-down, crash,"),
    ({"crash": "1h"}, (0, "crash"), '"1h" are no settings; write e.g. crash: {at: 30m}'),
    ({"crash": {}}, (0, "crash"), "say when with at, every or rate"),
    ({"crash": {"at": "-5m"}}, (0, "crash", "at"), '"-5m" is a negative duration; write e.g.'),
    ({"crash": {"at": "6h"}}, (0, "crash", "at"), '"6h" is not before the end of the run, which lasts 6h'),
    ({"crash": {"at": []}}, (0, "crash", "at"), "the list is empty; write e.g. [30m, 2h]"),
    ({"crash": {"at": ["1h", "1x"]}}, (0, "crash", "at", 1), '"1x" is not a duration; write e.g.'),
    ({"crash": {"at": None}}, (0, "crash", "at"), "null is not a duration"),
    ({"crash": {"at": "1h", "rate": "1/h"}}, (0, "crash", "rate"), "at says already when; give one of at, every and"),
    ({"crash": {"every": "7h"}}, (0, "crash", "every"), '"7h" is not before the end of the run, which lasts 6h'),
    ({"crash": {"every": "100ms"}}, (0, "crash", "every"), '"100ms" is more often than once a second'),
    ({"crash": {"rate": "2/s"}}, (0, "crash", "rate"), '"2/s" is more often than once a second'),
    ({"crash": {"rate": 0.5}}, (0, "crash", "rate"), "0.5 is not a frequency; write e.g. 0.5/h or 2/d"),
    ({"crash": {"every": "2h", "until": "1h"}}, (0, "crash", "until"), "this is before the first one"),
    ({"crash": {"at": "2h", "until": "3h"}}, (0, "crash", "until"), '"until" goes with every or rate'),
    ({"crash": {"at": "1h", "for": "1m"}}, (0, "crash", "for"), "crash has no such setting; there are: at, every"),
    ({"crash": {"at": "1h", "wokers": 1}}, (0, "crash", "wokers"), 'no such setting — did you mean "workers"?'),
    ({"crash": {"at": "1h", "workers": 0}}, (0, "crash", "workers"), "0 is not a whole number from 1 to 10000"),
    ({"crash": {"at": "1h", "workers": 1.5}}, (0, "crash", "workers"), "1.5 is not a whole number"),
    ({"crash": {"at": "1h", "worker": "hotest"}}, (0, "crash", "worker"), "write random, hottest or an index"),
    ({"crash": {"at": "1h", "worker": -1}}, (0, "crash", "worker"), "-1 is not a worker"),
    ({"crash": {"at": "1h", "worker": True}}, (0, "crash", "worker"), "true is not a worker"),
    ({"crash": {"at": "1h", "worker": 3, "workers": 2}}, (0, "crash", "worker"), "one index cannot mean several"),
    ({"node-loss": {"at": "1h", "workers": 2}}, (0, "node-loss", "workers"), "node-loss has no such setting"),
    (
        {"source-stall": {"at": "1h"}},
        (0, "source-stall"),
        '"for" is missing; write e.g. source-stall: {at: 2h, for: 60s}',
    ),
    ({"source-stall": {"at": "1h", "for": "0s"}}, (0, "source-stall", "for"), '"0s" is no time at all'),
    (
        {"slow-worker": {"at": "1h", "for": "1m", "speed": 1.5}},
        (0, "slow-worker", "speed"),
        "1.5 is not a share from 0% to 100%",
    ),
    (
        {"slow-worker": {"at": "1h", "for": "1m", "speed": 0}},
        (0, "slow-worker", "speed"),
        "0 slows nobody down or stops everything",
    ),
    (
        {"request-lost": {"at": "1h", "for": "1m", "share": "110%"}},
        (0, "request-lost", "share"),
        '"110%" is not a share from 0% to 100%',
    ),
    (
        {"network-delay": {"at": "1h", "for": "1m", "delay": "soon"}},
        (0, "network-delay", "delay"),
        '"soon" is not a duration',
    ),
]


@pytest.mark.parametrize(("spec", "path", "message"), MISTAKES, ids=[str(spec) for spec, _, _ in MISTAKES])
def test_one_mistake(spec: object, path: faults.reading.Path, message: str) -> None:
    found = faults.problems([spec], 6 * HOUR)
    assert [where for where, _ in found] == [path]
    assert message in found[0][1]
    assert "\n" not in found[0][1]


def test_all_mistakes_at_once() -> None:
    specs = [
        {"slow-worker": {"at": ["9h", "x"], "rate": "often", "speed": 2, "workers": "two", "colour": "red"}},
        {"crash": {"at": "1h"}},
        "boom",
    ]
    assert [path for path, _ in faults.problems(specs, 6 * HOUR)] == [
        (0, "slow-worker", "colour"),
        (0, "slow-worker"),
        (0, "slow-worker", "at", 0),
        (0, "slow-worker", "at", 1),
        (0, "slow-worker", "rate"),
        (0, "slow-worker", "workers"),
        (0, "slow-worker", "speed"),
        (0, "slow-worker", "rate"),
        (2,),
    ]
    with pytest.raises(ValueError, match=r"faults\[0\]\.slow-worker\.speed: 2 is not a share"):
        faults.parse(specs)


def test_without_the_length_of_the_run_no_moment_is_too_late() -> None:
    assert faults.problems([{"crash": {"at": "7h"}}]) == []


@pytest.mark.parametrize("specs", [{"crash": {"at": "1h"}}, "crash", None, 3])
def test_faults_are_a_list(specs: object) -> None:
    assert [path for path, _ in faults.problems(specs)] == [()]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(["1h", "x", "", "1/h", "hottest"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*KINDS, "at", "every", "rate", "for", "worker", "speed", ""]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(st.lists(JUNK | SPECS, max_size=4) | JUNK)
def test_whatever_is_written_is_either_read_or_explained(specs: object) -> None:
    if faults.problems(specs):
        with pytest.raises(ValueError, match=r"faults"):
            faults.parse(specs)
    else:
        faults.schedule(faults.parse(specs), 600.0, 1)


# --- the documentation -------------------------------------------------------------------------

GUIDE = (FilePath(__file__).parents[2] / "docs" / "faults.md").read_text(encoding="utf-8")


def test_the_guide_explains_every_kind_with_examples_that_are_valid() -> None:
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)]
    for block in blocks:
        assert faults.problems(block["faults"], 6 * HOUR) == []
    sections = re.findall(r"^### (\S+)\n(.*?)(?=^#)", GUIDE, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in sections] == list(KINDS)
    for name, text in sections:
        assert f"- {name}: {{" in text
        assert all(f"{key}: " in text for key in KINDS[name].needs), name


# --- incidents ---------------------------------------------------------------------------------


@given(st.lists(SPECS, max_size=5), DURATIONS, SEEDS)
def test_incidents_come_in_order_and_within_the_run(specs: Specs, duration_s: float, seed: int) -> None:
    read = faults.parse(specs)
    incidents = faults.schedule(read, duration_s, seed)
    assert incidents == faults.schedule(read, duration_s, seed)
    times = [incident.time_s for incident in incidents]
    assert times == sorted(times)
    lengths = {fault.kind: fault.lasts_s for fault in read}
    for incident in incidents:
        assert 0 <= incident.time_s < duration_s
        assert incident.until_s <= duration_s
        assert incident.until_s == min(duration_s, incident.time_s + lengths[incident.kind])


@given(
    every_ms=st.integers(1_000, 10**6),
    intervals=st.integers(1, 300),
    beyond_ms=st.integers(0, 999),
    duration_ms=st.integers(1, 10**8),
)
@example(every_ms=1_001, intervals=5, beyond_ms=0, duration_ms=10_000)  # 5.005 / 1.001 is less than 5 in binary
@example(every_ms=1_150, intervals=20, beyond_ms=0, duration_ms=23_000)  # and 20 * 1.15 less than 23
def test_a_regular_fault_comes_exactly_as_often_as_its_interval_fits(
    every_ms: int, intervals: int, beyond_ms: int, duration_ms: int
) -> None:
    until_ms = every_ms * intervals + beyond_ms
    spec = [{"crash": {"every": written(every_ms), "until": written(until_ms)}}]
    incidents = faults.schedule(faults.parse(spec), duration_ms / 1000, 5)
    expected_ms = [moment for moment in range(every_ms, until_ms + 1, every_ms) if moment < duration_ms]
    assert [incident.time_s for incident in incidents] == [moment / 1000 for moment in expected_ms]


def test_two_faults_of_one_moment_come_in_the_order_of_the_list() -> None:
    specs = [{"metrics-stale": {"at": "1m", "for": "1m"}}, {"crash": {"at": ["3m", "1m"]}}]
    incidents = faults.schedule(faults.parse(specs), 600.0, 1)
    assert [(incident.time_s, incident.kind) for incident in incidents] == [
        (60.0, "metrics-stale"),
        (60.0, "crash"),
        (180.0, "crash"),
    ]


def crashes(duration_s: float, seed: int, **settings: Any) -> list[float]:
    return [incident.time_s for incident in faults.schedule(faults.parse([{"crash": settings}]), duration_s, seed)]


def test_a_rate_gives_poisson_counts() -> None:
    counts = np.array([len(crashes(24 * HOUR, seed, rate="2/h")) for seed in range(400)])
    expected = 48.0
    assert abs(counts.mean() - expected) < 4 * math.sqrt(expected / counts.size)
    dispersion = counts.var(ddof=1) / counts.mean()
    assert abs(dispersion - 1) < 4 * math.sqrt(2 / (counts.size - 1))


def test_a_rate_gives_exponential_independent_gaps() -> None:
    from scipy.stats import kstest

    times = np.array(crashes(7 * 24 * HOUR, 3, rate="1/m"))
    gaps = np.diff(times, prepend=0.0)
    assert kstest(gaps, "expon", args=(0, 60.0)).pvalue > 0.01
    assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 4 / math.sqrt(gaps.size)


def test_a_rate_ends_with_until() -> None:
    all_day = crashes(24 * HOUR, 4, rate="5/h")
    assert crashes(24 * HOUR, 4, rate="5/h", until="6h") != []
    assert max(crashes(24 * HOUR, 4, rate="5/h", until="6h")) <= 6 * HOUR < max(all_day)


def test_another_seed_other_moments_and_twins_are_independent() -> None:
    assert crashes(24 * HOUR, 1, rate="1/h") != crashes(24 * HOUR, 2, rate="1/h")
    twins = faults.parse([{"crash": {"rate": "2/h"}}] * 2)
    together = Counter(incident.time_s for incident in faults.schedule(twins, 24 * HOUR, 1))
    assert max(together.values()) == 1
    first_alone = {incident.time_s for incident in faults.schedule(twins[:1], 24 * HOUR, 1)}
    assert first_alone < set(together)


def test_different_faults_share_no_chance() -> None:
    settings = {"rate": "2/h", "for": "1m"}
    pair = faults.parse([{"source-stall": settings}, {"metrics-stale": settings}])
    moments: dict[str, list[float]] = {"source-stall": [], "metrics-stale": []}
    for seed in range(50):
        for incident in faults.schedule(pair, 6 * HOUR, seed):
            moments[incident.kind].append(incident.time_s + seed * 6 * HOUR)
    assert not set(moments["source-stall"]) & set(moments["metrics-stale"])
    half_hours = [np.histogram(times, bins=600, range=(0, 300 * HOUR))[0] for times in moments.values()]
    assert abs(np.corrcoef(half_hours)[0, 1]) < 4 / math.sqrt(600)


@given(SPECS, st.lists(SPECS, max_size=4), st.integers(0, 4), DURATIONS, SEEDS)
def test_other_faults_move_nothing(
    spec: dict[str, Any], others: Specs, place: int, duration_s: float, seed: int
) -> None:
    mine = faults.parse([spec])
    rest = [fault for fault in faults.parse(others) if fault != mine[0]]
    alone = faults.schedule(mine, duration_s, seed)
    elsewhere = faults.schedule(rest, duration_s, seed)
    together = faults.schedule([*rest[:place], *mine, *rest[place:]], duration_s, seed)
    assert Counter(together) == Counter(alone) + Counter(elsewhere)


@given(SPECS, DURATIONS, DURATIONS, SEEDS)
def test_a_longer_run_begins_alike(spec: dict[str, Any], shorter_s: float, more_s: float, seed: int) -> None:
    def begun(duration_s: float) -> list[tuple[float, int]]:
        incidents = faults.schedule(faults.parse([spec]), duration_s, seed)
        return [(incident.time_s, incident.seed) for incident in incidents if incident.time_s < shorter_s]

    assert begun(shorter_s + more_s) == begun(shorter_s)


# --- who is hit, and how badly -----------------------------------------------------------------


def test_the_hottest_are_the_busiest_that_were_measured() -> None:
    def hottest(workers: int, loads: list[float]) -> list[int]:
        return Incident(0.0, "crash", 0.0, workers, "hottest").victims(loads)

    assert hottest(1, [0.1, 0.9, 0.5]) == [1]
    assert hottest(2, [0.1, math.nan, 0.5, 0.4]) == [2, 3]
    assert hottest(1, [0.5, 0.5]) == [0]
    assert hottest(5, [0.5, math.nan]) == [0, 1]
    assert hottest(1, []) == []


@given(st.integers(1, 20), st.integers(0, 20), SEEDS)
def test_chance_hits_as_many_as_asked_or_all_there_are(workers: int, there: int, seed: int) -> None:
    victims = Incident(0.0, "crash", 0.0, workers, "random", seed=seed).victims([0.5] * there)
    assert len(set(victims)) == len(victims) == min(workers, there)
    assert set(victims) <= set(range(there))


def test_chance_hits_all_alike() -> None:
    incidents = faults.schedule(faults.parse([{"crash": {"every": "1s"}}]), 6001.0, 8)
    hits = Counter(victim for incident in incidents for victim in incident.victims([0.0] * 6))
    assert hits.total() == 6000
    spread = math.sqrt(6000 * (1 / 6) * (5 / 6))
    assert all(abs(count - 1000) < 4 * spread for count in hits.values())


def test_an_index_hits_that_worker_or_the_last() -> None:
    incident = Incident(0.0, "crash", 0.0, 1, 3)
    assert incident.victims([0.5] * 8) == [3]
    assert incident.victims([0.5] * 2) == [1]
    assert incident.victims([]) == []


@pytest.mark.parametrize(
    ("kind", "amounts", "together"),
    [
        ("slow-worker", [], 1.0),
        ("slow-worker", [0.5, 0.4], 0.2),
        ("network-delay", [], 0.0),
        ("network-delay", [0.2, 0.3], 0.5),
        ("request-late", [30.0, 10.0], 40.0),
        ("request-lost", [], 0.0),
        ("request-lost", [0.5, 0.5], 0.75),
        ("source-stall", [], 0.0),
        ("source-stall", [1.0, 1.0], 1.0),
        ("metrics-missing", [1.0], 1.0),
    ],
)
def test_what_overlapping_faults_amount_to(kind: str, amounts: list[float], together: float) -> None:
    assert KINDS[kind].together(amounts) == pytest.approx(together)
