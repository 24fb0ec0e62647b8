"""The control loop: let time pass, observe, decide, apply, record."""

from __future__ import annotations

import time
from typing import Any

from autoscalers.model import Autoscaler
from experiments.profiling import profile
from experiments.recorder import Recorder
from infra.model import Assignment, Place

#: Recorded seconds that are kept in memory before they are written.
FLUSH_S = 21_600


def control(place: Place, assignment: Assignment, autoscaler: Autoscaler[Any], recorder: Recorder) -> None:
    """Run one assignment to its end, after the profiling that the policy may want."""
    wanted = autoscaler.profiling()
    if wanted is not None:
        autoscaler.warm_start(profile(place, assignment, wanted, recorder))
    end = float(len(assignment.curve))
    with place.provision(assignment) as cluster, cluster.deploy() as target:
        now = target.time_s
        flushed = 0.0
        while now < end:
            target.advance(min(autoscaler.period_s, end - now))
            now = target.time_s
            if now - flushed >= FLUSH_S:
                recorder.record(target.drain())
                flushed = now
            if now >= end:
                break
            observation = target.observe()
            started = time.perf_counter()
            decision = autoscaler.decide(observation)
            took_ms = (time.perf_counter() - started) * 1e3
            recorder.decision(observation.time_s, target.apply(decision), decision, took_ms)
        recorder.record(target.drain())
