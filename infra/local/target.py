"""A job on real processes, as the control loop meets it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import JOB, Decision, Observation, OperatorView, Rescale
from infra.local import recording
from infra.local.engine import Engine
from infra.local.generators import Generators
from infra.local.prometheus import Prometheus
from infra.local.sight import Sight, look
from infra.local.trouble import Trouble
from infra.model import Applied, Recording, Target
from infra.processes import wait_until

POLL_S = 1.0
BUSY_POLL_S = 0.2
"""While something changes, so that its moments are known well."""
_LAST_SAMPLES_S = 5.0
_DISTURBANCES = {"failure", "fill-lag", "pause-worker_start", "broker-down_start"}
_CHUNK_S = 600


class LocalTarget(Target):
    """A job under load, in real time."""

    def __init__(
        self,
        engine: Engine,
        generators: Generators,
        prometheus: Prometheus,
        trouble: Trouble,
        *,
        start: float,
        seconds: int,
        most: int,
        check: Callable[[], None],
    ) -> None:
        self._engine = engine
        self._generators = generators
        self._prometheus = prometheus
        self._start = start
        self._end = seconds
        self._most = most
        self._check = check
        self._trouble = trouble
        self._time_s = 0.0
        self._observed = self._drained = 0
        self._wanted = [(0.0, engine.wanted)]
        self._events: list[tuple[float, str, str, str]] = []
        self._disturbed: list[float] = []
        self._rescale: Rescale | None = None
        self._rescaling = False
        self._outage_since = math.nan
        self._downtime_s = 0.0
        engine.tell = lambda moment, kind, detail: self.tell(moment - start, kind, detail)

    @property
    def time_s(self) -> float:
        return self._time_s

    def advance(self, seconds: float) -> None:
        """Wait until then. If the loop is late by more than a second, time has passed nevertheless."""
        until = min(self._time_s + seconds, float(self._end))
        while (left := self._start + until - time.time()) > 0:
            self._tick()
            busy = self._rescaling or self._trouble.acts_soon(time.time() - self._start)
            busy = busy or math.isfinite(self._outage_since)
            time.sleep(max(0.0, min(left, BUSY_POLL_S if busy else POLL_S)))
        late = math.floor(time.time() - self._start)
        self._time_s = float(min(self._end, late)) if late > until + 1 else until

    def observe(self) -> Observation:
        first, self._observed = self._observed, int(self._time_s)
        members = [worker.member for worker in self._engine.present]
        sight = look(self._prometheus, self._start, first, self._observed, [member.index for member in members])
        known = sight.backlog[np.isfinite(sight.backlog)]
        view = OperatorView(
            parallelism=self._engine.wanted,
            ready=np.array([member.ready for member in members], dtype=np.bool_),
            started_s=np.array([member.started - self._start for member in members]),
            ready_since_s=np.array(
                [
                    (member.started if math.isnan(member.ready_since) else member.ready_since) - self._start
                    for member in members
                ]
            ),
            cpu=sight.cpu,
            memory=sight.memory,
            throughput=sight.throughput,
            input_rate=sight.offered,
            backlog=float(known[-1]) if known.size else math.nan,
            response_time=sight.latency_mean,
        )
        return Observation(self._time_s, sight.offered, {JOB: view}, last_rescale=self._rescale)

    def apply(self, decision: Decision) -> list[Applied]:
        before = self._engine.wanted
        asked = decision.parallelism.get(JOB, before)
        accepted = min(self._most, max(1, asked))
        if accepted != before:
            now = time.time() - self._start
            saved = ", saved first" if decision.save_first else ""
            self.tell(now, "rescale_start", f"{before} to {accepted} workers{saved}")
            self._disturbed.append(now)
            self._rescale = Rescale(now, before, accepted, math.nan)
            self._rescaling = True
            self._downtime_s = 0.0
            self._wanted.append((now, accepted))
            self._engine.rescale(accepted, save_first=decision.save_first)
        return [Applied(JOB, before, asked, accepted)]

    def drain(self) -> Recording:
        last = int(self._time_s)
        if self._drained < last and last >= self._end:
            self._await_last_samples()
            self._tell_totals()
        parts = [self._rows(first, min(first + _CHUNK_S, last)) for first in range(self._drained, last, _CHUNK_S)] or [
            self._rows(last, last)
        ]
        self._drained = last
        events, self._events = self._events, []
        joined = [
            {name: np.concatenate([np.asarray(part[index][name]) for part in parts]) for name in parts[0][index]}
            for index in (0, 1)
        ]
        return Recording(metrics=joined[0], instances=joined[1], events=recording.events(events))

    def tell(self, now: float, kind: str, detail: str) -> None:
        self._events.append((now, kind, JOB, detail))
        if kind in _DISTURBANCES:
            self._disturbed.append(now)

    # --- inside ------------------------------------------------------------------------------

    def _tick(self) -> None:
        self._check()
        self._trouble.act(time.time() - self._start, self.tell)
        self._engine.tick()
        now = time.time() - self._start
        if self._engine.serving and math.isfinite(self._outage_since):
            self._downtime_s += now - self._outage_since
            self.tell(now, "outage_end", f"after {now - self._outage_since:.1f} s")
            self._outage_since = math.nan
        elif not self._engine.serving and math.isnan(self._outage_since):
            self._outage_since = now
            self.tell(now, "outage_start", "")
        if self._rescaling and self._engine.settled and self._rescale is not None:
            began = self._rescale
            self._rescale = Rescale(began.started_s, began.before, began.after, self._downtime_s)
            self._rescaling = False
            self.tell(now, "rescale_end", f"{began.after} workers after {now - began.started_s:.1f} s")

    def _rows(self, first: int, last: int) -> tuple[dict[str, object], dict[str, object]]:
        time_s = np.arange(first, last, dtype=np.int32)
        sight = look(self._prometheus, self._start, first, last)
        moments, counts = zip(*self._wanted, strict=True)
        wanted = np.asarray(counts, dtype=np.int32)[np.searchsorted(moments, time_s, side="right") - 1]
        self._note_recoveries(time_s, sight)
        sent = self._generators.sent(self._end)[first:last]
        return recording.metrics(time_s, sight, sent, wanted), recording.instances(time_s, sight)

    def _note_recoveries(self, time_s: NDArray[np.int32], sight: Sight) -> None:
        for began, ended in recording.recoveries(time_s, sight, self._disturbed):
            self._disturbed.remove(began)
            self.tell(ended, "recovered", f"{ended - began:.0f} s after the disturbance")

    def _tell_totals(self) -> None:
        """Whether all that was to come has come."""
        wait_until(lambda: self._generators.totals is not None, _LAST_SAMPLES_S)
        totals = self._generators.totals
        told = "{:,} events sent, {:,} delivered".format(*totals) if totals else "the broker does not have all yet"
        self.tell(float(self._end), "load_end", told)

    def _await_last_samples(self) -> None:
        """The last second is known a scrape after its end."""
        end = self._start + self._end

        def there() -> bool:
            found = self._prometheus.samples(end - 2, time.time()).find("tidebed_job_offered_events_total")
            return bool(found.time_s.size) and bool(found.time_s[-1] >= end + 0.5)

        wait_until(there, _LAST_SAMPLES_S, poll_s=0.25)
