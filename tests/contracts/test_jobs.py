"""What every job must be."""

import pytest

import jobs
from infra.simulated.kernel import Constants

NEEDED = {
    *Constants._fields,
    *("worker_capacity", "scaling_exponent", "key_count", "key_skew", "key_groups", "slots_per_node"),
    *("boot_s", "boot_spread", "outage_out_s", "outage_in_s", "outage_spread"),
}


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


@pytest.mark.parametrize(
    ("name", "engine"), [(name, engine) for name in jobs.names() for engine in jobs.get(name).profiles]
)
def test_a_profile_is_complete_and_every_constant_has_unit_and_source(name: str, engine: str) -> None:
    profile = jobs.get(name).profiles[engine]
    assert profile.engine == engine
    assert set(profile.constants) == NEEDED
    for key, constant in profile.constants.items():
        assert constant.value >= 0, key
        assert constant.source, key
        assert constant.unit or key in {"scaling_exponent", "key_skew"}, key
    assert 0 < profile["scaling_exponent"] <= 1
    assert profile["cpu_idle"] < profile["cpu_full"] <= 1
