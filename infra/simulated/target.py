"""A simulated job that scales as one, as the control loop meets it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from autoscalers.model import JOB, Decision, Floats, Observation, OperatorView, Rescale
from infra.model import Applied, Assignment, Recording, Target
from infra.simulated import gauges, layout, recording
from infra.simulated.host import HostInputs
from infra.simulated.host.log import HostLog
from infra.simulated.options import Options
from infra.simulated.plant import Happening, Plant
from infra.simulated.requests import Requests
from infra.simulated.trouble import Trouble

_KINDS = {
    layout.OUTAGE_START: "outage_start",
    layout.OUTAGE_END: "outage_end",
    layout.RESCALE_END: "rescale_end",
    layout.RECOVERED: "recovered",
}

_HOST_COLUMNS = [layout.THROUGHPUT, layout.WORKLOAD, layout.CPU, layout.MEMORY, layout.READY]


class SimulatedTarget(Target):
    """A simulated job under load."""

    def __init__(self, assignment: Assignment) -> None:
        self._options = Options.read(assignment.options)
        self._profile = self._options.applied_to(assignment.job.profiles[assignment.engine])
        self._plant = Plant(
            self._profile, assignment.curve, assignment.initial_workers, self._options.max_workers, assignment.seed
        )
        self._end = assignment.curve.size
        self._late_s = round(self._profile["scrape_delay_s"])
        self._slots = int(self._profile["slots_per_node"])
        self._trouble = Trouble(assignment.faults, self, self._tell)
        self._requests = Requests(self._trouble, self._plant.workers, assignment.seed)
        self._host = HostLog(assignment.seed, self._host_inputs)
        self._bytes = self._profile["event_bytes_in"], self._profile["event_bytes_out"]
        self._pushed = self._profile["memory_per_event"] > 0
        self._observed = self._drained = 0
        self._fraction = 0.0
        start = self._plant.workers
        self._started_s = np.zeros(start)
        self._ready_since_s = np.zeros(start)
        self._ready = np.ones(start, dtype=np.bool_)
        self._last_rescale: Rescale | None = None
        self._rescaling = self._save_first = False
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
        left = min(left, self._end - self._plant.second)
        while left > 0:
            self._trouble.act(self.time_s)
            self._requests.act(self.time_s)
            self._start_rescale()
            until = math.ceil(min(self._trouble.next_s(), self._requests.next_s(), self.time_s + left))
            waits = self._requests.wanted != self._plant.next_workers
            done, happenings = self._plant.advance(max(1, until - self._plant.second), stop_at_end=waits)
            left -= round(done)
            for happening in happenings:
                self._note(happening)

    def observe(self) -> Observation:
        first, self._observed = self._observed, max(self._observed, self._plant.second - self._late_s)
        rows, instances = self._between(first, self._observed)
        cpu, memory, throughput = (
            instances[:, : self._ready.size, plane] for plane in (gauges.I_CPU, gauges.I_MEMORY, gauges.I_THROUGHPUT)
        )
        workload = rows[:, layout.SEEN_WORKLOAD]
        view = OperatorView(
            parallelism=self._requests.wanted,
            ready=self._ready.copy(),
            started_s=self._started_s.copy(),
            ready_since_s=self._ready_since_s.copy(),
            cpu=cpu,
            memory=memory,
            throughput=throughput,
            input_rate=workload,
            backlog=float(rows[-1, layout.SEEN_BACKLOG]) if rows.size else math.nan,
            response_time=rows[:, layout.SEEN_LATENCY],
        )
        return Observation(
            time_s=self.time_s,
            workload=workload,
            operators={JOB: view},
            host=self._host.note(rows[:, _HOST_COLUMNS]),  # a copy: it outlives the plant's buffer
            last_rescale=self._last_rescale,
        )

    def apply(self, decision: Decision) -> list[Applied]:
        before = self._requests.wanted
        asked = decision.parallelism.get(JOB, before)
        if asked != before:
            self._save_first = decision.save_first
            self._requests.make(self.time_s, min(self._plant.limit, max(1, asked)), self._tell)
            self._start_rescale()
        return [Applied(JOB, before, asked, self._requests.accepted)]

    def drain(self) -> Recording:
        first, self._drained = self._drained, self._plant.second
        rows, instances = self._between(first, self._drained)
        time_s = np.arange(first, self._drained, dtype=np.int32)
        events, self._events = self._events, []
        drained = Recording(
            # a copy: the plant reuses its buffer as soon as it may forget
            metrics=recording.metrics(
                time_s, rows.copy(), self._requests.history(time_s), self._plant.demand[time_s], self._slots
            ),
            instances=recording.instances(time_s, instances, self._options.instance_period_s),
            events=recording.events(events),
        )
        self._plant.forget(keep=self._plant.second - self._observed)
        return drained

    def _host_inputs(self, rows: Floats) -> HostInputs:
        throughput, workload, cpu, memory, workers = rows.T
        return HostInputs(throughput, workload, cpu, memory, workers, *self._bytes, pushed=self._pushed)

    # --- what incidents do to it -------------------------------------------------------------

    @property
    def loads(self) -> Floats:
        return self._plant.loads

    def crash(self, victims: Sequence[int]) -> None:
        self._plant.crash(victims=victims)
        self._rescaling = False
        self._outage_started_s = math.nan
        self._ready = np.delete(self._ready, [i for i in victims if i < self._ready.size])
        self._resize(self._plant.next_workers, self.time_s)

    def lose_node(self, worker: int) -> None:
        first = worker // self._slots * self._slots
        self.crash(list(range(first, min(first + self._slots, self._plant.workers))))

    def slow(self, worker: int, speed: float) -> None:
        self._plant.slow(worker, speed)

    def stall(self, stalled: bool) -> None:
        self._plant.stall(stalled)

    def delay(self, seconds: float) -> None:
        self._plant.delay(seconds)

    def blind(self, sight: int) -> None:
        self._plant.blind(sight)

    # --- rescaling ---------------------------------------------------------------------------

    def _tell(self, now: float, kind: str, detail: str) -> None:
        self._events.append((now, kind, JOB, detail))

    def _start_rescale(self) -> None:
        wanted, before = self._requests.wanted, self._plant.workers
        if not self._plant.steady or wanted == before:
            return
        now = self.time_s
        self._plant.rescale(wanted, save_first=self._save_first)
        self._rescaling = True
        self._tell(now, "rescale_start", f"{before} to {wanted} workers{', saved first' if self._save_first else ''}")
        self._save_first = False
        self._last_rescale = Rescale(started_s=now, before=before, after=wanted, downtime_s=math.nan)
        self._outage_started_s = math.nan
        self._resize(wanted, now)

    def _resize(self, workers: int, now: float) -> None:
        """New workers are created, not yet ready; workers that go are the last ones."""
        kept = min(workers, self._ready.size)
        new = workers - kept
        self._ready = np.concatenate([self._ready[:kept], np.zeros(new, dtype=np.bool_)])
        self._started_s = np.concatenate([self._started_s[:kept], np.full(new, now)])
        self._ready_since_s = np.concatenate([self._ready_since_s[:kept], np.full(new, now)])

    def _note(self, happening: Happening) -> None:
        ended = happening.code == layout.RESCALE_END
        self._tell(happening.time_s, "restored" if ended and not self._rescaling else _KINDS[happening.code], "")
        if happening.code == layout.OUTAGE_START:
            self._outage_started_s = happening.time_s
        elif ended:
            self._ready_since_s[~self._ready] = happening.time_s
            self._ready[:] = True
            if self._rescaling and self._last_rescale is not None:
                began = self._last_rescale
                downtime = 0.0 if math.isnan(self._outage_started_s) else happening.time_s - self._outage_started_s
                self._last_rescale = Rescale(began.started_s, began.before, began.after, downtime)
            self._rescaling = False

    def _between(self, first: int, end: int) -> tuple[Floats, Floats]:
        offset = self._plant.filled - self._plant.second
        rows = self._plant.rows[first + offset : end + offset]
        instances = self._plant.instances[first + offset : end + offset]
        rows.flags.writeable = instances.flags.writeable = False  # a policy sees the record, and must not change it
        return rows, instances
