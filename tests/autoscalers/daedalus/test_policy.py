"""The loop as a whole: its waits, its notes, its speed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

import autoscalers
from autoscalers.daedalus import Daedalus, DaedalusParams
from autoscalers.model import Decision, Observation
from autoscalers.testing import observation

WORKER = 1000.0


def seen(minute: int, load: np.ndarray, workers: int, backlog: float = 0.0) -> Observation:
    """A minute of a fleet without skew, each worker of which can do 1000 events/s."""
    cpu = np.repeat(load[:, None] / workers / WORKER, workers, axis=1)
    return observation(time_s=60.0 * minute, parallelism=workers, cpu=cpu, workload=load, backlog=backlog)


def played(policy: Daedalus, loads: np.ndarray, workers: int) -> Iterator[tuple[int, Decision]]:
    """Every decision on a load of whole minutes, each carried out at once."""
    for minute, load in enumerate(loads.reshape(-1, 60), start=1):
        decision = policy.decide(seen(minute, load, workers))
        yield workers, decision
        workers = decision.parallelism.get("job", workers)


def ramp(first: float, last: float, minutes: int) -> np.ndarray:
    return np.linspace(first, last, 60 * minutes)


def test_workers_follow_the_load_up_and_down() -> None:
    loads = np.concatenate([ramp(1500, 8000, 60), ramp(8000, 1500, 60)])
    workers = [count for count, _ in played(Daedalus(), loads, workers=2)]
    assert max(workers) >= 9
    assert workers[-1] <= 4


def test_it_scales_out_before_the_load_is_there() -> None:
    for minute, (workers, decision) in enumerate(played(Daedalus(), ramp(1500, 8000, 60), workers=2)):
        if "job" in decision.parallelism:
            assert ramp(1500, 8000, 60)[60 * minute + 59] < workers * WORKER
            assert decision.parallelism["job"] > workers
            return
    pytest.fail("it never scaled out")


def test_after_a_change_nothing_happens_for_three_minutes() -> None:
    changes = [
        minute
        for minute, (_, decision) in enumerate(played(Daedalus(), ramp(1500, 10_000, 60), workers=2))
        if decision.parallelism
    ]
    assert len(changes) > 1
    assert min(np.diff(changes)) >= 3


def test_counting_the_downtime_twice_asks_for_no_less() -> None:
    loads = ramp(2000, 9000, 90)
    params = [DaedalusParams(target_recovery_s=120, as_published=flag) for flag in (False, True)]
    fair, twice = (np.mean([n for n, _ in played(Daedalus(each), loads, workers=3)]) for each in params)
    assert twice >= fair


def test_it_notes_what_it_went_by() -> None:
    decisions = [decision for _, decision in played(Daedalus(), ramp(2000, 3000, 20), workers=4)]
    last = decisions[-1].notes
    assert last["forecast_wape"] < 0.05
    assert last["capacity"] == pytest.approx(WORKER * 4, rel=0.35)
    assert all(np.isfinite(value) for decision in decisions for value in decision.notes.values())


def test_a_history_makes_the_first_decision_informed() -> None:
    policy = Daedalus()
    loads = ramp(2000, 3000, 30).reshape(-1, 60)
    policy.warm_start([seen(minute, load, 4) for minute, load in enumerate(loads[:-1])])
    assert "forecast_wape" in policy.decide(seen(30, loads[-1], 4)).notes


def test_a_decision_is_quick_after_six_hours() -> None:
    rng = np.random.default_rng(2)
    wave = 6000 + 5000 * np.sin(np.arange(21_600) / 10_800 * 2 * np.pi)
    policy = autoscalers.create("daedalus")
    took = []
    for minute, load in enumerate((wave * rng.normal(1, 0.01, wave.size)).reshape(-1, 60), start=1):
        observed = seen(minute, load, 12)
        started = time.process_time()
        policy.decide(observed)
        took.append(time.process_time() - started)
    assert np.percentile(took, 99) < 0.05


def test_libraries_are_loaded_before_the_first_decision() -> None:
    told = "import sys, autoscalers; autoscalers.create('daedalus'); print('statsforecast.arima' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "True"


@pytest.mark.parametrize(
    ("wrong", "key"),
    [({"target_recovery_s": 0}, "target_recovery_s"), ({"horizon_s": 1.5}, "horizon_s"), ({"full_cpu": 2}, "full_cpu")],
)
def test_wrong_parameters_are_named(wrong: dict[str, float], key: str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: "):
        DaedalusParams(**wrong)
