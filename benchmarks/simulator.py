"""Simulated seconds per wall second: the whole way of a run, recording on, on one core.

The peer is the same kernel without compilation, so that the ratio says what compiling brings on this machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import autoscalers
import infra
import jobs
from autoscalers.model import Autoscaler, Decision, Observation
from experiments.archive import Archive
from experiments.execution import execute_all
from experiments.loop import control
from experiments.planning import plan
from experiments.recorder import Recorder
from experiments.suite import load
from infra.model import Assignment
from infra.simulated import gauges, kernel, latency, queues

DURATION_S = 6 * 3600
WORKERS = 12
FLEETS = (12, 100, 1000)


class EverySecond(Autoscaler[None]):
    """Decides every second and changes nothing: what the loop itself costs."""

    period_s = 1.0
    Params = type(None)

    def decide(self, observation: Observation) -> Decision:
        return Decision.keep(f"nothing to do at {observation.time_s}")


def run(policy: Autoscaler[Any], seconds: int = DURATION_S, workers: int = WORKERS) -> float:
    """Simulated seconds per wall second of one run with its archive's tables."""
    time_s = np.arange(seconds)
    job = jobs.get("yahoo")
    engine = "flink-reactive"
    # around 60 % of what the workers can do, so that a policy keeps about as many
    each = 0.45 * job.profiles[engine]["worker_capacity"]
    curve = each * workers * (1 + 0.1 * np.sin(2 * np.pi * time_s / 3600))
    # Flink's 128 key groups would allow no more than as many workers
    options = {"max_workers": 2 * workers, "constants": {"key_groups": 4096, "key_count": 1_000_000}}
    assignment = Assignment("bench", job, engine, curve, 1, workers, options if workers > WORKERS else {})
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        with Recorder(Path(folder), "bench") as recorder:
            control(infra.get("simulated"), assignment, policy, recorder)
        return seconds / (time.perf_counter() - started)


def best(name: str, repeats: int = 5) -> float:
    """The best of a few: the others were disturbed."""
    return max(run(_policy(name)) for _ in range(repeats))


def growth_with_workers() -> dict[str, float]:
    """What a worker-second costs as fleets grow, over what it costs with 12; 1 is linear."""
    run(autoscalers.create("static"), 60)
    costs = {
        workers: 1 / run(autoscalers.create("static", workers=workers), 3600, workers) / workers for workers in FLEETS
    }
    return {
        f"{workers} workers: cost of a worker-second, over 12 workers": cost / costs[WORKERS]
        for workers, cost in costs.items()
    }


def peak_memory_mb() -> float:
    """Of this process alone: getrusage would tell the peak of the one that started it, which outlives an exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def growth_with_time() -> dict[str, float]:
    """What a second costs and which memory is needed as runs grow, over 6 hours; each in a process of its own."""
    figures: dict[str, float] = {}
    first: tuple[float, float] | None = None
    for days in (0.25, 7.0, 60.0):
        script = (
            "import autoscalers; from benchmarks.simulator import peak_memory_mb, run;"
            "run(autoscalers.create('hpa'), 60);"
            f"rate = run(autoscalers.create('hpa'), {round(days * 86_400)});"
            "print(rate, peak_memory_mb())"
        )
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        rate, memory = (float(word) for word in done.stdout.split())
        first = first or (rate, memory)
        figures[f"{days:g} days: cost of a second, over 6 h"] = first[0] / rate
        figures[f"{days:g} days: memory (MB)"] = memory
    return figures


def many_runs(runs: int = 1000) -> float:
    """Seconds for many runs of 6 h with their archive, on all cores."""
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "many.yaml"
        suite.write_text(
            f"name: many\nrepetitions: {runs}\nduration: 6h\njobs: [yahoo]\n"
            "workloads: [{name: day, shape: daily, day: 6h, peak: 400k, noise: 3%}]\n"
            "autoscalers: [hpa]\nplace: simulated\n"
        )
        loaded = load(str(suite))
        work = [run for experiment in plan(loaded) for run in experiment.runs]
        started = time.perf_counter()
        failed = [done for done in execute_all(work, Archive(Path(folder), "many"), os.cpu_count() or 1) if done.error]
        assert not failed, failed[0].error
        return time.perf_counter() - started


def _policy(name: str) -> Autoscaler[Any]:
    return EverySecond() if name == "every second" else autoscalers.create(name)


def interpreted(seconds: int = 1800) -> float:
    """The same with the kernel's functions as plain Python."""
    dispatcher = numba.core.dispatcher.Dispatcher
    compiled = [
        (module, name, value)
        for module in (kernel, queues, latency, gauges)
        for name, value in vars(module).items()
        if isinstance(value, dispatcher)
    ]
    plain = next(value for module, name, value in compiled if (module, name) == (kernel, "advance")).py_func

    def advance(state: Any, lanes: Any, workers: Any, *rest: Any) -> Any:
        # plain Python reads fields as attributes only so
        return plain(*(array.view(np.recarray) for array in (state, lanes, workers)), *rest)

    try:
        for module, name, function in compiled:
            setattr(module, name, function.py_func)
        kernel.advance = advance
        return run(autoscalers.create("hpa"), seconds)
    finally:
        for module, name, function in compiled:
            setattr(module, name, function)


def main() -> dict[str, float]:
    """Print a line a figure."""
    run(autoscalers.create("hpa"), 60)  # loads the compiled kernel
    figures = {f"{name}: simulated seconds per second": best(name) for name in ("hpa", "static", "every second")}
    peer = interpreted()
    figures["interpreted kernel (hpa): simulated seconds per second"] = peer
    figures["compiled over interpreted (hpa)"] = figures["hpa: simulated seconds per second"] / peer
    figures |= growth_with_workers() | growth_with_time()
    figures["1,000 runs of 6 h: seconds"] = many_runs()
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:60} {value:14,.2f}")
