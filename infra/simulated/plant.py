"""The plant behind the simulated place: a job's profile set in motion by the compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoscalers.model import Floats
from infra.simulated import changes, kernel, layout
from infra.simulated.buffers import Buffers
from infra.simulated.changes import Change
from infra.simulated.fleet import Fleet, handed_over, owned, ranges
from jobs.model import Profile

_COUPLINGS = {"shared": layout.SHARED, "pulled": layout.PULLED, "partitioned": layout.PARTITIONED}


@dataclass(frozen=True, slots=True)
class Happening:
    """An event inside the plant."""

    time_s: float
    code: int


class Plant:
    """State and history of one simulated run of a job that scales as one.

    Time passes in steps of `step_s`; the curve gives events/s, a value a second.
    """

    def __init__(
        self, profile: Profile, curve: Floats, workers: int | None, limit: int, seed: int, step_s: float = 1.0
    ) -> None:
        # streams of their own, so that a policy's actions change neither where keys fall nor how the system drifts
        keys, system, sensors, delays = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
        self._profile, self._sensors, self._delays = profile, sensors, delays
        self._weather = Weather(system)
        self.step_s = step_s
        self._step = 0
        self.fleet = Fleet(profile, limit, keys)
        self.limit = self.fleet.limit
        self.demand = self.fleet.demand(curve)
        start = min(self.limit, workers if workers is not None else int(self.demand[:_FIRST_S].max()))
        self._coupling = _COUPLINGS[profile.engine.coupling]
        self._constants = layout.Constants(*(float(profile[name]) for name in layout.Constants._fields))
        self._arrived = _arrivals(curve, step_s)
        self._lanes = self._first_lanes(start)
        self._buffers = Buffers(
            steps=self._arrived.size - 1,
            workers=max(start, _WIDTH),
            lanes=self._lanes.size,
            spell=round(profile["smoothing_s"] / step_s),
            period_s=profile["sample_period_s"],
            moments=sensors.spawn(1)[0],
        )
        self._events = np.zeros((_EVENTS, 2))
        self._speeds = np.exp(profile["speed_spread"] * keys.spawn(1)[0].standard_normal(self.limit))
        self._state = np.zeros(1, dtype=layout.STATE)
        state = self._state[0]
        state["workers"] = state["next_workers"] = start
        state["worker_capacity"] = state["next_worker_capacity"] = self.fleet.worker_capacity(start)
        state["checkpoint_s"] = -delays.uniform(0, profile["checkpoint_interval_s"])
        state["pending_s"] = np.nan
        state["restarted_s"] = -np.inf
        state["source_open"] = 1
        self._fill(0, start, fresh_s=-profile["warmup_s"])  # the run starts warm
        self._share_out(start)
        self._buffers.workers["share"] = self._buffers.workers["next_share"]

    # --- looking -----------------------------------------------------------------------------

    @property
    def rows(self) -> Floats:
        return self._buffers.rows

    @property
    def instances(self) -> Floats:
        return self._buffers.instances

    @property
    def filled(self) -> int:
        """The recorded steps."""
        return self._buffers.filled

    @property
    def second(self) -> int:
        """Whole seconds that passed."""
        return int(self._step * self.step_s)

    @property
    def time_s(self) -> float:
        return self._step * self.step_s

    @property
    def steady(self) -> bool:
        """Whether no change of the fleet is under way."""
        return int(self._state[0]["phase"]) == layout.STEADY

    @property
    def workers(self) -> int:
        """Workers that serve."""
        return int(self._state[0]["workers"])

    @property
    def next_workers(self) -> int:
        """Workers that will serve once the change under way is over."""
        return int(self._state[0]["next_workers"])

    @property
    def loads(self) -> Floats:
        """How busy each worker was last."""
        loads: Floats = self._buffers.workers["load"][: self.workers]
        return loads

    @property
    def replayed(self) -> float:
        """Events that were processed again after restarts."""
        return float(self._state[0]["replayed"])

    @property
    def processed(self) -> float:
        """Events processed, those replayed counted each time."""
        return float(self._state[0]["processed"])

    @property
    def backlog(self) -> float:
        """Events that have arrived and are not processed."""
        there = self._arrived[self._step]
        return float((self._lanes["weight"] * (there - self._lanes["position"])).sum())

    # --- acting ------------------------------------------------------------------------------

    def advance(self, seconds: float, *, stop_at_end: bool = False) -> tuple[float, list[Happening]]:
        """Let time pass; a second rescale that waits for the first wants to stop at its end."""
        steps = round(seconds / self.step_s)
        weather = self._weather.ahead(self._step, steps)
        buffers = self._buffers
        buffers.reserve(steps)
        done, events = kernel.advance(
            self._state,
            self._lanes,
            buffers.workers,
            self._constants,
            self._coupling,
            self.step_s,
            self._arrived,
            layout.Record(buffers.rows[buffers.filled :], buffers.instances[buffers.filled :], self._events),
            buffers.held,
            buffers.window,
            buffers.scratch,
            steps,
            stop_at_end,
            weather,
            self._sensors,
        )
        buffers.filled += done
        self._step += done
        happened = [Happening(float(time_s), int(code)) for time_s, code in self._events[:events]]
        return done * self.step_s, happened

    def forget(self, keep: int) -> None:
        """Drop all recorded steps but the last `keep`."""
        self._buffers.forget(keep)

    def rescale(self, workers: int, boot_s: float | None = None, *, save_first: bool = False) -> None:
        """Begin a change of the fleet, only when steady; `boot_s` overrides how long new workers take."""
        now = self.workers
        backlog_s = self.backlog / self.fleet.capacity(now)
        change = changes.rescaling(
            self._profile, outwards=workers > now, backlog_s=backlog_s, save_first=save_first, draw=self._draw
        )
        self._buffers.widen(workers)
        self._fill(now, workers, fresh_s=np.inf)
        if self._profile.engine.style == "restart" and self._profile["restarts_processes"] > 0:
            self._buffers.workers["fresh_s"][:workers] = np.inf
        self._share_out(workers)
        self._begin(workers, change, boot_s=change.boot_s if boot_s is None else boot_s)

    def crash(self, count: int = 1, victims: Sequence[int] | None = None) -> None:
        """Workers die now: the given ones, or the last."""
        state = self._state[0]
        now = self.next_workers if state["phase"] == layout.OUTAGE else self.workers
        dead = [now - 1 - i for i in range(min(count, now))] if victims is None else [i for i in victims if i < now]
        style = self._profile.engine.style
        change = changes.failure(self._profile, survivors=len(dead) < now, draw=self._draw)
        if change.outage_s > 0.0:
            shrinks = style == "restart" and self._profile["shrinks"] > 0
            left = max(1, now - len(dead)) if shrinks else now
            if not shrinks:
                self._buffers.workers["fresh_s"][dead] = np.inf
            self._share_out(left)
            self._begin(left, change)
            return
        self._remove(dead, resume_s=self.time_s + change.pause_s)
        if style == "executors":
            self._begin_batch_again()
        state["phase"] = layout.REBALANCING if change.pause_s > 0.0 else layout.DETECTING
        state["phase_end_s"] = self.time_s + max(change.pause_s, change.boot_s)
        state["recovering"] = 1

    def slow(self, worker: int, speed: float) -> None:
        """A worker does only this part of what it did; 1 heals it."""
        self._buffers.workers[worker]["speed"] = self._speeds[worker] * speed

    def stall(self, stalled: bool) -> None:
        """The source gives nothing, while events still arrive in it."""
        self._state[0]["source_open"] = 0 if stalled else 1

    def delay(self, seconds: float) -> None:
        """The network takes longer."""
        self._state[0]["network_delay_s"] = seconds

    def blind(self, sight: int) -> None:
        """Metrics are missing or stale: gauges.MISSING, gauges.STALE, or gauges.CLEAR again."""
        self._state[0]["sight"] = sight

    # --- the parts ---------------------------------------------------------------------------

    def _draw(self, name: str) -> float:
        return self._profile.delays[name].at(self._delays.random())

    def _first_lanes(self, workers: int) -> np.ndarray:
        if self._coupling != layout.PARTITIONED:
            lanes = np.zeros(1, dtype=layout.LANE)
            lanes["weight"] = 1.0
            return lanes
        weights = self.fleet.weights
        groups = int(self._profile["key_groups"])
        lanes = np.zeros(groups, dtype=layout.LANE)
        lanes["weight"] = weights if weights is not None else 1.0 / groups
        lanes["owner"] = lanes["next_owner"] = ranges(groups, workers)
        return lanes

    def _fill(self, first: int, end: int, fresh_s: float) -> None:
        """Workers that come anew."""
        self._buffers.workers["speed"][first:end] = self._speeds[first:end]
        self._buffers.workers["fresh_s"][first:end] = fresh_s
        self._buffers.clear(first, end)

    def _share_out(self, workers: int) -> None:
        """Who will take what once the fleet has this size."""
        fleet = self._buffers.workers
        fleet["next_share"] = 0.0
        if self._coupling == layout.PARTITIONED:
            self._lanes["next_owner"] = handed_over(self._lanes["owner"], workers)
            fleet["next_share"][:workers] = owned(self._lanes["weight"], self._lanes["next_owner"], workers)
        else:
            fleet["next_share"][:workers] = self.fleet.shares(workers)

    def _begin(self, workers: int, change: Change, boot_s: float = 0.0) -> None:
        state = self._state[0]
        state["next_workers"] = workers
        state["next_worker_capacity"] = self.fleet.worker_capacity(workers)
        state["phase"] = layout.BOOTING
        state["phase_end_s"] = self.time_s + boot_s
        state["outage_s"] = change.outage_s
        state["moving_s"] = change.moving_s
        state["pause_s"] = change.pause_s
        state["keeps_position"] = int(change.saves_first)

    def _remove(self, dead: Sequence[int], resume_s: float) -> None:
        """Workers are gone at once; those after them move up, and nobody reads their partitions for a while."""
        state, fleet = self._state[0], self._buffers.workers
        alive = np.delete(np.arange(self.workers), dead)
        fleet[: alive.size] = fleet[alive]
        if self._coupling == layout.PARTITIONED:
            orphaned = np.isin(self._lanes["owner"], dead)
            places = np.full(self.workers, alive.size)  # beyond the last: nobody's
            places[alive] = np.arange(alive.size)
            self._lanes["owner"] = places[self._lanes["owner"]]
            self._lanes["resume_s"][orphaned] = resume_s
        self._share_out(alive.size)
        fleet["share"] = fleet["next_share"]
        self._lanes["owner"] = self._lanes["next_owner"]
        state["workers"] = state["next_workers"] = alive.size
        state["worker_capacity"] = state["next_worker_capacity"] = self.fleet.worker_capacity(alive.size)

    def _begin_batch_again(self) -> None:
        state, lane = self._state[0], self._lanes[0]
        state["replayed"] += lane["position"] - lane["checkpoint"]
        lane["position"] = lane["checkpoint"]
        lane["arrival"] = np.searchsorted(self._arrived, lane["position"], side="right") - 1
        state["batch_running"] = 0


class Weather:
    """Random numbers by step, made in blocks so that it does not matter how time is cut."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._first = 0
        self._numbers: Floats = rng.standard_normal(_BLOCK)

    def ahead(self, first: int, count: int) -> Floats:
        """The numbers of the steps from `first` on, which never goes back."""
        while first + count > self._first + self._numbers.size:
            kept = self._numbers[max(0, first - self._first) :]
            self._first += self._numbers.size - kept.size
            self._numbers = np.concatenate([kept, self._rng.standard_normal(_BLOCK)])
        return self._numbers[first - self._first : first - self._first + count]


def _arrivals(curve: Floats, step_s: float) -> Floats:
    """Events offered before each step; within a second they come evenly."""
    by_second = np.concatenate([[0.0], np.cumsum(curve)])
    if step_s == 1.0:
        return by_second
    moments = np.arange(round(curve.size / step_s) + 1) * step_s
    return np.asarray(np.interp(moments, np.arange(curve.size + 1), by_second))


#: Seconds of load that the first fleet must carry if nobody says how many workers to start with.
_FIRST_S = 60
#: Steps whose random numbers are made at a time.
_BLOCK = 16_384
#: Workers that the first buffers have room for.
_WIDTH = 16
#: More events than one call of the kernel can cause: a rescale causes four, and the kernel stops after one that waits.
_EVENTS = 64
