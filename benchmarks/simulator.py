"""Simulated seconds per wall second: the whole way of a run, recording on, on one core.

The peer is the same kernel without compilation, so that the ratio says what compiling brings on this machine.
"""

from __future__ import annotations

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
from experiments.loop import control
from experiments.recorder import Recorder
from infra.model import Assignment
from infra.simulated import kernel

DURATION_S = 6 * 3600
WORKERS = 12


class EverySecond(Autoscaler[None]):
    """Decides every second and changes nothing: what the loop itself costs."""

    period_s = 1.0
    Params = type(None)

    def decide(self, observation: Observation) -> Decision:
        return Decision.keep(f"nothing to do at {observation.time_s}")


def run(policy: Autoscaler[Any], seconds: int = DURATION_S) -> float:
    """Simulated seconds per wall second of one run with its archive's tables."""
    time_s = np.arange(seconds)
    # around 60 % of the capacity of 12 workers, so that the fleet stays near 12
    curve = 300_000 + 30_000 * np.sin(2 * np.pi * time_s / 3600)
    assignment = Assignment("bench", jobs.get("yahoo"), "flink-reactive", curve, 1, WORKERS)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        with Recorder(Path(folder), "bench") as recorder:
            control(infra.get("simulated"), assignment, policy, recorder)
        return seconds / (time.perf_counter() - started)


def best(name: str, repeats: int = 5) -> float:
    """The best of a few: the others were disturbed."""
    return max(run(_policy(name)) for _ in range(repeats))


def _policy(name: str) -> Autoscaler[Any]:
    return EverySecond() if name == "every second" else autoscalers.create(name)


def interpreted(seconds: int = 3600) -> float:
    """The same with the kernel's functions as plain Python."""
    dispatcher = numba.core.dispatcher.Dispatcher
    compiled = {name: value for name, value in vars(kernel).items() if isinstance(value, dispatcher)}
    plain = compiled["advance"].py_func

    def advance(state: Any, *rest: Any) -> Any:
        return plain(state.view(np.recarray), *rest)  # plain Python reads fields as attributes only so

    try:
        for name, function in compiled.items():
            setattr(kernel, name, function.py_func)
        kernel.advance = advance
        return run(autoscalers.create("hpa"), seconds)
    finally:
        for name, function in compiled.items():
            setattr(kernel, name, function)


def main() -> dict[str, float]:
    """Print a line a figure."""
    run(autoscalers.create("hpa"), 60)  # loads the compiled kernel
    figures = {f"{name}: simulated seconds per second": best(name) for name in ("hpa", "static", "every second")}
    peer = interpreted()
    figures["interpreted kernel (hpa): simulated seconds per second"] = peer
    figures["compiled over interpreted (hpa)"] = figures["hpa: simulated seconds per second"] / peer
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:60} {value:12,.0f}")
