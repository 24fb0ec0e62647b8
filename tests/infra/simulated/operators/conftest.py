"""Plants of made-up jobs, small enough to reckon with by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pytest

from infra.simulated.operators.plant import Plant
from infra.simulated.operators.target import read_topology
from jobs.model import Constant, Distribution, Engine, Operator
from jobs.operators import OperatorsProfile

#: An instance does 100 events/s; no noise, no delay, no bound on buffers, nodes enough in one region.
PLAIN = {
    "step_s": 1.0,
    "saturation": 0.99,
    "steady": 0.0,
    "random_leave": 0.0,
    "recovered_wait_s": 1.0,
    "cpu_idle": 0.0,
    "cpu_full": 1.0,
    "memory_base": 0.2,
    "memory_state": 0.3,
    "cpu_noise": 0.0,
    "throughput_noise": 0.0,
    "capacity_noise": 0.0,
    "capacity_noise_time_s": 120.0,
    "worker_capacity": 100.0,
    "scaling_exponent": 1.0,
    "speed_spread": 0.0,
    "instances_max": 30,
    "buffer_events": math.inf,
    "source_share": 1.0,
    "key_count": 0,
    "key_skew": 1.0,
    "key_groups": 128,
    "slots_per_node": 2,
    "nodes_max": 100,
    "nodes_initial": 100,
    "latency_within_s": 0.0,
    "latency_between_s": 0.0,
}
DELAYS = {"boot_s": 0.0, "reconfigure_s": 0.0, "pause_s": 0.0, "restart_s": 0.0}
CHAIN = (Operator("split", 5.0), Operator("filter", 0.4), Operator("count", 0.0))


class MakePlant(Protocol):
    def __call__(
        self,
        curve: Any,
        topology: Sequence[Operator] = CHAIN,
        *,
        first: int | None = None,
        seed: int = 0,
        regions: tuple[str, ...] = ("here",),
        placement: str = "near",
        **values: float,
    ) -> Plant: ...


def make_profile(
    topology: Sequence[Operator], regions: tuple[str, ...], placement: str, values: Mapping[str, float]
) -> OperatorsProfile:
    """`a__b` stands for the figure a of the operator or region b."""
    engine = Engine(
        "made-up",
        "for tests",
        "live",
        "partitioned",
        {name: Constant(value, "unit", "a test") for name, value in PLAIN.items()},
        {name: Distribution.always(value, "s", "a test") for name, value in DELAYS.items()},
        scales="operators",
    )
    profile = OperatorsProfile(engine, topology=tuple(topology), regions=regions, placement=placement)
    return profile.changed("a test", {name.replace("__", "."): value for name, value in values.items()})


@pytest.fixture(scope="session", name="make_profile")
def make_profile_fixture() -> Any:
    return make_profile


@pytest.fixture(scope="session")
def make_plant() -> MakePlant:
    def make(
        curve: Any,
        topology: Sequence[Operator] = CHAIN,
        *,
        first: int | None = None,
        seed: int = 0,
        regions: tuple[str, ...] = ("here",),
        placement: str = "near",
        **values: float,
    ) -> Plant:
        profile = make_profile(topology, regions, placement, values)
        curve = np.asarray(curve, dtype=np.float64)
        return Plant(profile, read_topology(profile, ()), curve, first, 1000, seed)

    return make
