"""What a suite may say about the local place, and which jobs it can run."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest

import infra
import jobs
from infra.faults import KINDS
from infra.local.options import Options, problems
from infra.local.place import machinery_of

PLACE = infra.get("local")


def test_the_defaults_are_valid_but_for_what_is_left_open() -> None:
    given = {key: value for key, value in asdict(Options()).items() if value != ""}
    assert problems(given) == []
    assert Options.read(given) == Options()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"core": 1}, 'unknown option "core" — did you mean "cores"?'),
        ({"cores": 0}, "is not a number of cores above 0"),
        ({"cores": "much"}, '"much" is not a number'),
        ({"max_workers": 0}, "is not a whole number of at least 1"),
        ({"work_ns": 1.5}, "is not a whole number of at least 0"),
        ({"warmup_s": -1}, "is less than nothing"),
        ({"rescaling": "never"}, '"never" is none of reactive, requirements'),
        ({"checkpoint_first": 1}, "is neither true nor false"),
    ],
)
def test_one_mistake(options: Mapping[str, Any], told: str) -> None:
    ((key, message),) = PLACE.check_options(options)
    assert key == next(iter(options))
    assert told in message


def test_every_job_with_a_program_has_an_engine_here() -> None:
    able = {
        name: [engine for engine in jobs.get(name).profiles if PLACE.refused_job(name, engine) is None]
        for name in jobs.names()
    }
    assert able["pubsub"] == []
    assert able["images"] == ["openstack-vm"]
    assert {"flink-reactive", "flink-operator", "spark"} <= set(able["yahoo"])
    assert able["wordcount"]
    assert able["traffic"]
    assert machinery_of("spark", "yahoo") == "spark"


def test_what_it_cannot_run_is_told_with_what_it_can() -> None:
    assert PLACE.refused_job("images", "spark") == (
        "the place local cannot run images on spark; it runs it on: workers"
    )


def test_it_needs_the_machine_to_itself_and_causes_real_faults() -> None:
    assert PLACE.exclusive
    assert set(KINDS) >= PLACE.supported_faults >= {"crash", "pause-worker", "broker-down", "fill-lag"}


def test_a_doctor_speaks_of_each_part_and_needs_none_of_them() -> None:
    checks = PLACE.doctor()
    assert {"local: prometheus", "local: jars", "local: CPU quotas"} <= {check.what for check in checks}
    assert not any(check.needed for check in checks)
