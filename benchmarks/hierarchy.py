"""E2DF over more regions and operators: what a decision costs, and a whole run of 100,000 minutes.

A decision of learning managers should cost in proportion to their number; 1 is linear. The policy is driven by
observations made here, so that the place adds nothing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import autoscalers
from autoscalers.model import Observation, RegionView
from autoscalers.testing import observation
from experiments.archive import Archive
from experiments.execution import execute
from experiments.planning import plan
from experiments.suite import load

REGIONS = (3, 30, 300)
DECISIONS = 60
SUITE, BOTH = "paper-e2df", "rl/rl"


def observed(regions: int, operators: int) -> Iterator[Observation]:
    """A load that comes and goes; operators take turns over the regions."""
    rng = np.random.default_rng(1)
    for _ in range(DECISIONS):
        views = {}
        for index in range(operators):
            view = observation(parallelism=4, cpu=float(rng.uniform(0.3, 0.9)), samples=1, response_time=0.006)
            views[f"operator-{index}"] = replace(view.operators["job"], regions={f"region-{index % regions}": 4})
        pools = {
            f"region-{index}": RegionView(
                nodes=int(rng.integers(2, 20)), idle=int(rng.integers(0, 2)), unmet=0, free=1, slots=2
            )
            for index in range(regions)
        }
        yield Observation(60.0, np.array([100.0]), views, pools)


def decision_s(regions: int, operators: int) -> float:
    """CPU seconds of a decision, once the kernels are compiled; the best of a few."""
    return min(_decisions_s(regions, operators) for _ in range(3)) / DECISIONS


def _decisions_s(regions: int, operators: int) -> float:
    policy = autoscalers.create("e2df")
    seen = list(observed(regions, operators))
    policy.decide(seen[0])
    started = time.process_time()
    for one in seen:
        policy.decide(one)
    return time.process_time() - started


def whole_run_s() -> float:
    """CPU seconds of 100,000 minutes with learning on both levels, archive included, on one core."""
    experiment = next(one for one in plan(load(SUITE), repetitions=1) if one.autoscaler == BOTH)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(Path(folder), SUITE)
        execute(replace(experiment.runs[0], duration_s=6000), archive)  # loads the compiled kernels
        started = time.process_time()
        done = execute(experiment.runs[0], archive)
        assert done.error is None, done.error
        return time.process_time() - started


def main() -> dict[str, float]:
    decision_s(1, 1)
    by_regions = {count: decision_s(count, count) for count in REGIONS}
    least = REGIONS[0]
    figures = {f"{least} regions and operators: ms a decision": by_regions[least] * 1e3}
    for count in REGIONS[1:]:
        ratio = by_regions[count] / by_regions[least] / (count / least)
        figures[f"{count} regions and operators: cost of each, over {least}"] = ratio
    operators = {count: decision_s(least, count) for count in REGIONS}
    for count in REGIONS[1:]:
        slope = (operators[count] - operators[least]) / (count - least)
        figures[f"{least} regions, {count} operators: ms a further operator"] = slope * 1e3
    figures["100,000 minutes, learning on both levels, archived: CPU s"] = whole_run_s()
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:60} {value:14,.3f}")
