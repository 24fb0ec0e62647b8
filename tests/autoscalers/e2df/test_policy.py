"""The two levels together: parameters, requests that find no slot, and the simulated system of the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import autoscalers
import infra
import jobs
from autoscalers.e2df import E2DFParams
from autoscalers.e2df.policy import Weights
from autoscalers.model import Observation, RegionView
from autoscalers.testing import observation
from experiments import parameters
from infra.model import Assignment


def seen(free: int, idle: int, *, utilisation: float = 0.9, **operators: int) -> Observation:
    """Operators in one region."""
    views = {}
    for name, replicas in operators.items():
        view = observation(parallelism=replicas, cpu=utilisation, samples=1, response_time=0.005).operators["job"]
        views[name] = type(view)(
            **{**{key: getattr(view, key) for key in view.__slots__}, "regions": {"dc1": replicas}}
        )
    region = RegionView(nodes=8, idle=idle, unmet=0, free=free, slots=2)
    return Observation(60.0, np.array([100.0]), views, {"dc1": region})


def test_two_operators_do_not_get_the_same_slot_and_their_region_hears_of_it() -> None:
    policy = autoscalers.create("e2df", acs="threshold", ics="simple", idle=1)
    decision = policy.decide(seen(1, 0, splitter=2, filter=5))
    assert len(decision.parallelism) == 1
    assert decision.nodes == {"dc1": 9}
    assert "no slot for" in decision.reason
    generous = autoscalers.create("e2df", acs="threshold", ics="simple", am="grant-all")
    assert generous.decide(seen(1, 0, splitter=2, filter=5)).parallelism == {"splitter": 3, "filter": 6}


def test_a_bucket_spaces_reconfigurations_out_on_either_level() -> None:
    policy = autoscalers.create("e2df", acs="threshold", ics="simple", am="token-bucket", im="token-bucket", tokens=0.5)
    decisions = [policy.decide(seen(8, 0, splitter=2, filter=5)) for _ in range(4)]
    assert [len(decision.parallelism) for decision in decisions] == [1, 0, 1, 0]
    assert [len(decision.nodes) for decision in decisions] == [1, 0, 1, 0]


def test_a_bucket_fills_while_nobody_asks_on_either_level() -> None:
    policy = autoscalers.create("e2df", acs="threshold", ics="simple", am="token-bucket", im="token-bucket", tokens=0.5)
    busy, quiet = seen(8, 0, filter=5), seen(8, 2, utilisation=0.6, filter=5)
    decisions = [policy.decide(one) for one in (busy, quiet, quiet, busy)]
    assert [len(decision.parallelism) for decision in decisions] == [1, 0, 0, 1]
    assert [len(decision.nodes) for decision in decisions] == [1, 0, 0, 1]


def test_a_request_that_is_not_repeated_is_withdrawn() -> None:
    policy = autoscalers.create("e2df", acs="threshold", ics="static", nodes=8)
    waiting = seen(0, 0, utilisation=0.6, filter=5)
    wanted = replace(waiting, operators={"filter": replace(waiting.operators["filter"], parallelism=6)})
    assert policy.decide(wanted).parallelism == {"filter": 5}


def test_learners_note_what_they_paid() -> None:
    policy = autoscalers.create("e2df")
    assert policy.decide(seen(4, 2, filter=5)).notes == {}
    notes = policy.decide(seen(4, 2, filter=5)).notes
    assert set(notes) == {"operator_cost", "region_cost"}
    assert notes["region_cost"] == pytest.approx(0.3 * 8 / 50)


@pytest.mark.parametrize(
    ("options", "key", "words"),
    [
        ({"acs": "rules"}, "acs", "'rules' is not one of threshold, rl, q-learning"),
        ({"weights": {"demand": 0.9}}, "weights", "demand and nodes add up to 1.2, not to 1"),
        ({"weights": {"demand": "much"}}, "weights.demand", '"much" is not'),
        ({"weights": {"demnd": 0.9}}, "weights.demnd", 'did you mean "demand"'),
        ({"weights": 3}, "weights", "is not a mapping"),
        ({"rate_max": {"filter": 0}}, "rate_max.filter", "0.0 is not a rate above 0"),
        ({"nodes": 60}, "nodes", "60 is not 0 to 50 nodes"),
        ({"discount": 1}, "discount", "1.0 is not a share"),
    ],
)
def test_wrong_parameters_are_told_with_their_key(options: dict[str, Any], key: str, words: str) -> None:
    told = dict(parameters.problems("e2df", options))
    assert key in told, told
    assert words in told[key]


def test_weights_come_as_a_mapping_too() -> None:
    built = parameters.build("e2df", {"weights": {"demand": "10%", "nodes": 0.9}})
    assert built.weights == Weights(demand=0.1, nodes=0.9)
    assert E2DFParams(weights={"demand": 0.1, "nodes": 0.9}) == built  # type: ignore[arg-type]


def simulate(minutes: int, **params: Any) -> dict[str, float]:
    """The paper's system under a day that repeats; the means of what Table 1 has."""
    rate = 330 - 300 * np.cos(2 * np.pi * np.arange(minutes) / 1440)
    counted = np.random.default_rng(3).poisson(rate)
    policy = autoscalers.create("e2df", **params)
    assignment = Assignment("run", jobs.get("wordcount"), "e2df", np.repeat(counted.astype(float), 60), 1, 1)
    changed = 0
    with infra.get("simulated").provision(assignment) as cluster, cluster.deploy() as target:
        for _ in range(minutes - 1):
            target.advance(60)
            applied = target.apply(policy.decide(target.observe()))
            changed += any(one.applied != one.before and not one.target.startswith("region:") for one in applied)
        target.advance(60)
        rows = target.drain().metrics
    job = np.asarray(rows["operator"]) == "job"
    return {
        "violations": float(np.mean(~(rows["latency_mean_s"][job] <= 0.06))),
        "reconfigurations": changed / minutes,
        "replicas": float(rows["workers_running"][job].mean()),
        "nodes": float(rows["nodes"][job].mean()),
    }


def test_learning_on_both_levels_saves_nodes_and_reconfigurations_in_the_system_of_the_paper() -> None:
    rules = simulate(4 * 1440, acs="threshold", ics="simple")
    learned = simulate(4 * 1440, acs="rl", ics="rl")
    assert learned["nodes"] < 0.85 * rules["nodes"]
    assert learned["reconfigurations"] < rules["reconfigurations"]
    assert learned["violations"] < 0.05
    fixed = simulate(1440, acs="threshold", ics="static")
    assert fixed["nodes"] == 36


def test_the_more_unmet_demand_counts_the_more_nodes_there_are() -> None:
    nodes = [
        simulate(3 * 1440, acs="threshold", ics="rl", weights={"demand": demand, "nodes": 1 - demand})["nodes"]
        for demand in (0.1, 0.5, 0.9)
    ]
    assert nodes == sorted(nodes)
