"""The simulated place: any job, any load, in virtual time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from autoscalers.model import JOB, Decision, Floats, Observation, OperatorView, Rescale
from infra.model import Applied, Assignment, Check, Cluster, Place, Recording, Target
from infra.simulated import kernel
from infra.simulated.plant import Happening, Plant

_KINDS = {
    kernel.OUTAGE_START: "outage_start",
    kernel.OUTAGE_END: "outage_end",
    kernel.RESCALE_END: "rescale_end",
    kernel.RECOVERED: "recovered",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What a suite may set of this place."""

    max_workers: int = 100
    """The largest fleet; a job's key groups may allow fewer."""
    instance_period_s: int = 5
    """Seconds between two archived samples of each worker."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Options:
        return cls(**options)


class Simulated(Place):
    """A fluid queue model in virtual time; nothing to provision, nothing to leave behind."""

    name = "simulated"
    about = "a queueing model in virtual time, calibrated on measured runs; needs nothing"

    @contextmanager
    def provision(self, assignment: Assignment) -> Iterator[Cluster]:
        yield _SimulatedCluster(assignment)

    def check_options(self, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        known = [field.name for field in fields(Options)]
        problems = [
            (key, f'unknown option "{key}"; there are: {", ".join(known)}') for key in options if key not in known
        ]
        for key in known:
            value = options.get(key, 1)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                problems.append((key, f'"{value}" is not a whole number of at least 1'))
        return problems

    def doctor(self) -> list[Check]:
        return [Check("simulated place", ok=True, detail="always there")]


class _SimulatedCluster(Cluster):
    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment

    def deploy(self) -> AbstractContextManager[Target]:
        return self._deployed()

    @contextmanager
    def _deployed(self) -> Iterator[Target]:
        yield SimulatedTarget(self._assignment)


class SimulatedTarget(Target):
    """A simulated job under load."""

    def __init__(self, assignment: Assignment) -> None:
        options = Options.read(assignment.options)
        profile = assignment.job.profiles[assignment.engine]
        self._plant = Plant(profile, assignment.curve, assignment.initial_workers, options.max_workers, assignment.seed)
        self._curve = assignment.curve
        self._instance_period_s = options.instance_period_s
        self._slots = int(profile["slots_per_node"])
        self._wanted = self._next = self._plant.workers
        self._wanted_since: list[tuple[int, int]] = [(0, self._wanted)]
        self._observed = 0
        self._drained = 0
        self._fraction = 0.0
        self._started_s = np.zeros(self._wanted)
        self._ready_since_s = np.zeros(self._wanted)
        self._ready = np.ones(self._wanted, dtype=np.bool_)
        self._last_rescale: Rescale | None = None
        self._outage_started_s = math.nan
        self._events: list[tuple[float, str, str, str]] = []

    @property
    def time_s(self) -> float:
        return float(self._plant.second)

    def advance(self, seconds: float) -> None:
        """Whole seconds pass; what is asked for beyond them is kept for the next call, but at least one passes."""
        asked = seconds + self._fraction
        left = max(1, int(asked + 1e-9))
        self._fraction = max(0.0, asked - left)
        left = min(left, self._curve.size - self._plant.second)
        while left > 0:
            done, happenings = self._plant.advance(left, stop_at_end=self._wanted != self._aim())
            left -= done
            for happening in happenings:
                self._note(happening)
            self._start_rescale()

    def observe(self) -> Observation:
        rows, instances = self._since(self._observed)
        self._observed = self._plant.second
        cpu, memory, throughput = (
            instances[:, : self._ready.size, plane] for plane in (kernel.I_CPU, kernel.I_MEMORY, kernel.I_THROUGHPUT)
        )
        view = OperatorView(
            parallelism=self._wanted,
            ready=self._ready.copy(),
            started_s=self._started_s.copy(),
            ready_since_s=self._ready_since_s.copy(),
            cpu=cpu,
            memory=memory,
            throughput=throughput,
            input_rate=rows[:, kernel.WORKLOAD],
            backlog=float(rows[-1, kernel.BACKLOG]) if rows.size else 0.0,
            response_time=rows[:, kernel.MEAN],
        )
        return Observation(
            time_s=self.time_s,
            workload=rows[:, kernel.WORKLOAD],
            operators={JOB: view},
            last_rescale=self._last_rescale,
        )

    def apply(self, decision: Decision) -> list[Applied]:
        before = self._wanted
        asked = decision.parallelism.get(JOB, before)
        self._wanted = min(self._plant.limit, max(1, asked))
        if self._wanted != before:
            self._wanted_since.append((self._plant.second, self._wanted))
        self._start_rescale()
        return [Applied(JOB, before, asked, self._wanted)]

    def drain(self) -> Recording:
        rows, instances = self._since(self._drained)
        first = self._drained
        self._drained = self._plant.second
        time_s = np.arange(first, self._drained, dtype=np.int32)
        recording = Recording(
            # a copy: the plant reuses its buffer as soon as it may forget
            metrics=self._metrics(time_s, rows.copy()),
            instances=self._samples(time_s, instances),
            events=self._event_columns(),
        )
        self._plant.forget(keep=self._plant.second - self._observed)
        return recording

    # --- rescaling ---------------------------------------------------------------------------

    def _aim(self) -> int:
        """The size that the plant has or is on its way to."""
        return self._ready.size if self._plant.steady else self._next

    def _start_rescale(self) -> None:
        if not self._plant.steady or self._wanted == self._plant.workers:
            return
        now, before = self.time_s, self._plant.workers
        self._next = self._wanted
        self._plant.rescale(self._next)
        self._events.append((now, "rescale_start", JOB, f"{before} to {self._next} workers"))
        self._last_rescale = Rescale(started_s=now, before=before, after=self._next, downtime_s=math.nan)
        self._outage_started_s = math.nan
        self._resize(self._next, now)

    def _resize(self, workers: int, now: float) -> None:
        """New workers are created, not yet ready; workers that go are the last ones."""
        kept = min(workers, self._ready.size)
        new = workers - kept
        self._ready = np.concatenate([self._ready[:kept], np.zeros(new, dtype=np.bool_)])
        self._started_s = np.concatenate([self._started_s[:kept], np.full(new, now)])
        self._ready_since_s = np.concatenate([self._ready_since_s[:kept], np.full(new, now)])

    def _note(self, happening: Happening) -> None:
        self._events.append((happening.time_s, _KINDS[happening.code], JOB, ""))
        if happening.code == kernel.OUTAGE_START:
            self._outage_started_s = happening.time_s
        elif happening.code == kernel.RESCALE_END and self._last_rescale is not None:
            self._ready_since_s[~self._ready] = happening.time_s
            self._ready[:] = True
            began = self._last_rescale
            downtime = 0.0 if math.isnan(self._outage_started_s) else happening.time_s - self._outage_started_s
            self._last_rescale = Rescale(began.started_s, began.before, began.after, downtime)

    # --- recording ---------------------------------------------------------------------------

    def _since(self, second: int) -> tuple[Floats, Floats]:
        first = self._plant.filled - (self._plant.second - second)
        rows = self._plant.rows[first : self._plant.filled]
        instances = self._plant.instances[first : self._plant.filled]
        rows.flags.writeable = instances.flags.writeable = False  # a policy sees the record, and must not change it
        return rows, instances

    def _metrics(self, time_s: Any, rows: Floats) -> dict[str, Any]:
        running = rows[:, kernel.RUNNING].astype(np.int32)
        changes = np.array(self._wanted_since)
        wanted = changes[np.searchsorted(changes[:, 0], time_s, side="right") - 1, 1].astype(np.int32)
        self._wanted_since = [(int(changes[-1, 0]), int(changes[-1, 1]))]
        return {
            "time_s": time_s,
            "workload": rows[:, kernel.WORKLOAD],
            "throughput": rows[:, kernel.THROUGHPUT],
            "backlog": rows[:, kernel.BACKLOG],
            "latency_mean_s": rows[:, kernel.MEAN].astype(np.float32),
            "latency_p50_s": rows[:, kernel.P50].astype(np.float32),
            "latency_p95_s": rows[:, kernel.P95].astype(np.float32),
            "latency_p99_s": rows[:, kernel.P99].astype(np.float32),
            "workers_wanted": wanted,
            "workers_running": running,
            "workers_ready": rows[:, kernel.READY].astype(np.int32),
            "capacity": rows[:, kernel.CAPACITY],
            "demand_workers": self._plant.demand[time_s],
            "cpu": rows[:, kernel.CPU].astype(np.float32),
            "memory": rows[:, kernel.MEMORY].astype(np.float32),
            "nodes": (-(-running // self._slots)).astype(np.int32),
        }

    def _samples(self, time_s: Any, instances: Floats) -> dict[str, Any]:
        sampled = time_s % self._instance_period_s == 0
        block = instances[sampled]
        present = ~np.isnan(block[:, :, kernel.I_CPU])
        moment, instance = np.nonzero(present)
        columns = block[moment, instance].astype(np.float32)
        return {
            "time_s": time_s[sampled][moment],
            "instance": instance.astype(np.int16),
            "cpu": columns[:, kernel.I_CPU],
            "memory": columns[:, kernel.I_MEMORY],
            "throughput": columns[:, kernel.I_THROUGHPUT],
            "backlog": columns[:, kernel.I_BACKLOG],
            "ready": np.ones(moment.size, dtype=np.bool_),
        }

    def _event_columns(self) -> dict[str, Any]:
        events, self._events = self._events, []
        return {
            name: [event[index] for event in events]
            for index, name in enumerate(("time_s", "kind", "target", "detail"))
        }
