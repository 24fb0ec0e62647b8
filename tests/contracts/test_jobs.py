"""What every job must be."""

import itertools

import pytest

import jobs
from infra.simulated.changes import DELAYS
from infra.simulated.kernel import Constants

NEEDED = {
    *Constants._fields,
    *("worker_capacity", "scaling_exponent", "key_count", "key_skew", "key_groups", "slots_per_node"),
    *("speed_spread", "checkpoint_first", "smoothing_s", "scrape_delay_s", "move_base_s", "move_per_backlog"),
    *("event_bytes_in", "event_bytes_out"),
}
NO_UNIT = {"scaling_exponent", "key_skew"}
ENGINES = [(name, engine) for name in jobs.names() for engine in jobs.get(name).profiles]
WHOLE = [(name, engine) for name, engine in ENGINES if jobs.get(name).profiles[engine].engine.scales == "job"]


@pytest.mark.parametrize("name", jobs.names())
def test_a_job_says_what_it_is(name: str) -> None:
    job = jobs.get(name)
    assert job.name == name
    assert job.title
    assert job.about
    assert job.reference
    assert job.event
    assert len(job.topology) >= 2
    assert all(operator.selectivity >= 0 for operator in job.topology)
    assert job.topology[-1].selectivity == 0, "a job ends in a sink"
    assert job.default_engine in job.profiles


@pytest.mark.parametrize(("name", "engine"), ENGINES)
def test_every_constant_has_a_unit_and_a_source(name: str, engine: str) -> None:
    profile = jobs.get(name).profiles[engine]
    assert profile.engine.name == engine
    for key, constant in profile.constants.items():
        assert constant.value >= 0, key
        assert constant.source, key
        assert constant.unit or key in NO_UNIT, key
    for key, delay in profile.delays.items():
        assert delay.unit == "s", key
        assert delay.source, key
        shares, values = zip(*delay.quantiles, strict=True)
        assert (shares[0], shares[-1]) == (0.0, 1.0), key
        assert all(a < b for a, b in itertools.pairwise(shares)), key
        assert all(0 <= a <= b for a, b in itertools.pairwise(values)), key


@pytest.mark.parametrize(("name", "engine"), WHOLE)
def test_a_profile_has_all_that_the_simulator_needs(name: str, engine: str) -> None:
    profile = jobs.get(name).profiles[engine]
    assert set(profile.constants) >= NEEDED
    restarts = {"shrinks", "restarts_processes"} if profile.engine.style == "restart" else set()
    assert set(profile.constants) - NEEDED == restarts
    assert set(profile.delays) == DELAYS[profile.engine.style]
    assert 0 < profile["scaling_exponent"] <= 1
    assert profile["cpu_idle"] < profile["cpu_full"] <= 1
