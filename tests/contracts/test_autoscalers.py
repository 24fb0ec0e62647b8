"""What every autoscaler keeps to, those of other packages included."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pickle
import re
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

import autoscalers
from autoscalers.model import Autoscaler, Decision, Observation, RegionView, Rescale
from autoscalers.registry import policy_type
from autoscalers.testing import observation

NAN = float("nan")
#: A policy has no clock, does no I/O, and knows no engine and no orchestrator.
FORBIDDEN = {
    *("time", "datetime", "os", "pathlib", "socket", "subprocess", "requests", "httpx", "urllib", "random"),
    *("airflow", "kubernetes", "openstack", "pyspark", "prometheus_api_client"),
    *("analysis", "dags", "experiments", "infra", "jobs", "operators", "workloads"),
}

pytestmark = pytest.mark.parametrize("name", autoscalers.names())


def samples(policy: Autoscaler[Any]) -> int:
    return max(1, min(int(policy.period_s), 60))


def everyday(policy: Autoscaler[Any], count: int = 8) -> list[Observation]:
    """A load that rises and falls, with instances that boot, fail to be measured and are replaced."""
    rng = np.random.default_rng(42)
    rows = samples(policy)
    found = []
    for step in range(1, count + 1):
        time_s = step * policy.period_s
        workers = int(rng.integers(1, 9))
        cpu = rng.uniform(0.1, 1.0, (rows, workers))
        ready = rng.random(workers) > 0.2
        cpu[:, ~ready] = NAN
        found.append(
            observation(
                time_s=time_s,
                parallelism=int(rng.integers(1, 9)),
                cpu=cpu,
                ready=ready.tolist(),
                started_s=rng.uniform(0, time_s, workers).tolist(),
                ready_since_s=[time_s - 1.0] * workers,
                workload=1000.0 + 900.0 * np.sin(step + np.arange(rows) / rows),
                backlog=float(rng.uniform(0, 1e5)),
                response_time=float(rng.uniform(0.1, 5)),
                last_rescale=Rescale(started_s=time_s / 2, before=2, after=3, downtime_s=NAN if step % 2 else 30.0),
            )
        )
    return found


def by_operator(policy: Autoscaler[Any]) -> Observation:
    """A job that scales by operator, on regions of nodes, with host metrics."""
    rows = samples(policy)
    view = observation(parallelism=3, cpu=0.9, samples=rows).operators["job"]
    return Observation(
        time_s=policy.period_s,
        workload=np.full(rows, 5000.0),
        operators={"job": view, "split": view, "count": replace(view, backlog=100.0)},
        regions={"east": RegionView(nodes=2, idle=0, unmet=3), "west": RegionView(nodes=1, idle=1, unmet=0)},
        host={"cpu_user": np.full(rows, 0.5), "net_rx": np.full(rows, NAN)},
    )


def odd(policy: Autoscaler[Any]) -> dict[str, Observation]:
    rows = samples(policy)
    nothing = observation(parallelism=2, cpu=[NAN, NAN], samples=rows, throughput=NAN, memory=NAN, response_time=NAN)
    return {
        "no samples": observation(parallelism=2, samples=0),
        "no instances": observation(parallelism=2, cpu=np.empty((rows, 0)), samples=rows),
        "neither": observation(parallelism=1, cpu=np.empty((0, 0))),
        "nothing measured": nothing,
        "nothing measured of the load": replace(nothing, workload=np.full(rows, NAN)),
        "one worker, idle": observation(parallelism=1, cpu=0.0, workload=0.0, samples=rows),
        "one worker, full": observation(parallelism=1, cpu=1.0, workload=1e6, backlog=1e9, samples=rows),
        "one sample": observation(parallelism=3, cpu=0.7, samples=1),
        "huge": observation(parallelism=1000, cpu=1.0, workload=1e12, backlog=1e15, response_time=1e6, samples=rows),
        "more than wanted": observation(parallelism=2, cpu=[0.5] * 9, samples=rows),
        "fewer than wanted": observation(parallelism=9, cpu=[0.5] * 2, samples=rows),
        "by operator": by_operator(policy),
    }


def arrays(observed: Observation) -> Iterator[np.ndarray[Any, Any]]:
    yield observed.workload
    yield from observed.host.values()
    for view in observed.operators.values():
        for field in dataclasses.fields(view):
            value = getattr(view, field.name)
            if isinstance(value, np.ndarray):
                yield value


def sealed(observed: Observation) -> Observation:
    for array in arrays(observed):
        array.setflags(write=False)
    return observed


def check(decision: Decision, observed: Observation) -> None:
    assert isinstance(decision, Decision)
    assert decision.reason.strip()
    assert len(decision.reason.splitlines()) == 1
    assert set(decision.parallelism) <= set(observed.operators)
    assert all(type(wanted) is int and wanted >= 1 for wanted in decision.parallelism.values())
    assert set(decision.nodes) <= set(observed.regions)
    assert all(type(wanted) is int and wanted >= 0 for wanted in decision.nodes.values())


def test_decisions_can_be_carried_out(name: str) -> None:
    policy = autoscalers.create(name)
    for observed in everyday(policy):
        check(policy.decide(observed), observed)


def test_odd_observations_are_survived(name: str) -> None:
    for observed in odd(autoscalers.create(name)).values():
        check(autoscalers.create(name).decide(observed), observed)  # as the first thing it sees
    policy = autoscalers.create(name)
    for step, observed in enumerate(odd(policy).values(), start=1):  # and one after the other
        later = replace(observed, time_s=step * policy.period_s)
        check(policy.decide(later), later)


def test_the_same_seed_decides_the_same(name: str) -> None:
    one, other = autoscalers.create(name, seed=3), autoscalers.create(name, seed=3)
    assert [one.decide(seen) for seen in everyday(one)] == [other.decide(seen) for seen in everyday(other)]


def test_observations_are_left_as_they_are(name: str) -> None:
    policy = autoscalers.create(name)
    seen = [*everyday(policy), *odd(policy).values()]
    before = pickle.dumps(seen)
    for observed in seen:
        policy.decide(sealed(observed))
    for observed, copy in zip(seen, pickle.loads(before), strict=True):
        for array, old in zip(arrays(observed), arrays(copy), strict=True):
            np.testing.assert_array_equal(array, old)


def test_the_bounds_are_kept(name: str) -> None:
    policy = autoscalers.create(name)
    minimum, maximum = (getattr(policy.params, bound, None) for bound in ("minimum", "maximum"))
    if minimum is None and maximum is None:
        pytest.skip("it has neither a minimum nor a maximum")
    for observed in [*everyday(policy), *odd(policy).values()]:
        for wanted in policy.decide(observed).parallelism.values():
            assert minimum is None or wanted >= minimum
            assert maximum is None or wanted <= maximum


def test_it_goes_on_after_pickling(name: str) -> None:
    fresh = autoscalers.create(name, seed=5)
    seen = everyday(fresh)
    halfway = len(seen) // 2
    revived = pickle.loads(pickle.dumps(fresh))
    first = [fresh.decide(observed) for observed in seen[:halfway]]
    assert [revived.decide(observed) for observed in seen[:halfway]] == first
    revived = pickle.loads(pickle.dumps(fresh))
    assert [revived.decide(observed) for observed in seen[halfway:]] == [fresh.decide(o) for o in seen[halfway:]]


def test_a_history_warms_it_up(name: str) -> None:
    policy = autoscalers.create(name)
    policy.warm_start([])
    policy.warm_start(everyday(policy))
    for observed in everyday(policy, 3):
        check(policy.decide(observed), observed)


def test_the_period_is_a_positive_number_of_seconds(name: str) -> None:
    assert autoscalers.create(name).period_s > 0


def test_parameters_are_a_frozen_dataclass_that_yaml_can_give(name: str) -> None:
    params = autoscalers.params_type(name)
    assert dataclasses.is_dataclass(params)
    default = params()
    adapter = TypeAdapter(params)
    assert adapter.validate_python(dataclasses.asdict(default)) == default
    assert adapter.validate_json(adapter.dump_json(default)) == default
    for field in dataclasses.fields(params):
        with pytest.raises(FrozenInstanceError):
            setattr(default, field.name, None)


def imported(module: str, seen: set[str]) -> Iterator[str]:
    """The modules that a policy imports, those of its helpers in this package included."""
    seen.add(module)
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for other in found:
            yield other
            if other.startswith("autoscalers.") and other in sys.modules and other not in seen:
                yield from imported(other, seen)


def test_it_is_pure(name: str) -> None:
    roots = {module.partition(".")[0] for module in imported(policy_type(name).__module__, set())}
    assert not roots & FORBIDDEN


def test_it_says_where_it_comes_from(name: str) -> None:
    policy = policy_type(name)
    assert inspect.getdoc(policy)
    assert re.search(r"^References?\n-{3,}$", inspect.getmodule(policy).__doc__ or "", re.MULTILINE)
    assert policy.name == name
