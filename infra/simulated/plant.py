"""The plant behind the simulated place: a job's profile set in motion by the compiled kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Floats
from infra.simulated import kernel
from jobs.model import Profile


@dataclass(frozen=True, slots=True)
class Happening:
    """An event inside the plant."""

    time_s: float
    code: int


class Fleet:
    """How many events/s a number of workers can take, given how the keys fall on them."""

    def __init__(self, profile: Profile, limit: int, rng: np.random.Generator) -> None:
        self.limit = limit
        self._profile = profile
        self._weights = _group_weights(profile, rng)
        self._shares: dict[int, Floats] = {}
        capacities = np.array([self.capacity(workers) for workers in range(1, limit + 1)])
        self._enough = np.maximum.accumulate(capacities)

    def worker_capacity(self, workers: int) -> float:
        """What one of `workers` can do: sharing the work costs each a little."""
        return float(self._profile["worker_capacity"] * workers ** (self._profile["scaling_exponent"] - 1.0))

    def shares(self, workers: int) -> Floats:
        """Each worker's share of the events. Like Flink, a worker owns a contiguous range of key groups."""
        if workers not in self._shares:
            if self._weights is None:
                self._shares[workers] = np.full(workers, 1.0 / workers)
            else:
                groups = self._weights.size
                owner = np.arange(groups) * workers // groups
                self._shares[workers] = np.bincount(owner, self._weights, minlength=workers).astype(np.float64)
        return self._shares[workers]

    def capacity(self, workers: int) -> float:
        """The hottest worker holds the others back."""
        return float(self.worker_capacity(workers) / self.shares(workers).max())

    def demand(self, curve: Floats) -> NDArray[np.int32]:
        """The fewest workers whose capacity covers each load; the most there are where none does."""
        return np.minimum(np.searchsorted(self._enough, curve) + 1, self.limit).astype(np.int32)


def _group_weights(profile: Profile, rng: np.random.Generator) -> Floats | None:
    """Zipf-distributed keys, hashed to key groups; None where events go round-robin."""
    keys = int(profile["key_count"])
    if keys == 0:
        return None
    frequencies = np.arange(1, keys + 1, dtype=np.float64) ** -profile["key_skew"]
    groups = int(profile["key_groups"])
    weights = np.bincount(rng.integers(0, groups, keys), frequencies, minlength=groups)
    return np.asarray(weights / weights.sum())


class Plant:
    """State and history of one simulated run."""

    def __init__(self, profile: Profile, curve: Floats, workers: int | None, limit: int, seed: int) -> None:
        # streams of their own, so that a policy's actions change neither where keys fall nor how long a boot takes
        keys, noise, delays = np.random.SeedSequence(seed).spawn(3)
        self._profile = profile
        self._noise = np.random.default_rng(noise)
        self._delays = np.random.default_rng(delays)
        if profile["key_count"]:
            limit = min(limit, int(profile["key_groups"]))
        self.fleet = Fleet(profile, limit, np.random.default_rng(keys))
        self.demand = self.fleet.demand(curve)
        self.limit = limit
        start = min(limit, workers if workers is not None else int(self.demand[:_FIRST_S].max()))
        self._arrived = np.concatenate([[0.0], np.cumsum(curve)])
        self._constants = kernel.Constants(*(float(profile[name]) for name in kernel.Constants._fields))
        self._events = np.zeros((_EVENTS, 2))
        self._width = max(start, 16)
        self._shares = np.zeros((2, self._width))
        self._shares[0, :start] = self.fleet.shares(start)
        self.rows = np.empty((min(curve.size, 32_768), kernel.ROW_COLUMNS))
        self.instances = np.empty((self.rows.shape[0], self._width, kernel.INSTANCE_PLANES))
        self.filled = 0
        self._state = np.zeros(1, dtype=kernel.STATE)
        state = self._state[0]
        state["workers"] = state["next_workers"] = start
        state["worker_capacity"] = self.fleet.worker_capacity(start)
        state["checkpoint_s"] = -self._delays.uniform(0, profile["checkpoint_interval_s"])
        state["restarted_s"] = -profile["warmup_s"]  # the run starts warm

    @property
    def second(self) -> int:
        return int(self._state[0]["second"])

    @property
    def steady(self) -> bool:
        return int(self._state[0]["phase"]) == kernel.STEADY

    @property
    def workers(self) -> int:
        """Workers that serve."""
        return int(self._state[0]["workers"])

    @property
    def replayed(self) -> float:
        """Events that were processed again after restarts."""
        return float(self._state[0]["replayed"])

    @property
    def processed(self) -> float:
        """Events processed, those replayed counted each time."""
        return float(self._state[0]["processed"])

    def rescale(self, workers: int) -> None:
        """Begin a change of the fleet; only when steady."""
        state = self._state[0]
        outwards = workers > state["workers"]
        outage = self._profile["outage_out_s" if outwards else "outage_in_s"]
        boot = self._delay(self._profile["boot_s"], self._profile["boot_spread"]) if outwards else 0.0
        if workers > self._width:
            self._widen(workers)
        self._shares[1, :workers] = self.fleet.shares(workers)
        state["next_workers"] = workers
        state["next_worker_capacity"] = self.fleet.worker_capacity(workers)
        state["phase"] = kernel.BOOTING
        state["phase_end_s"] = self.second + boot
        state["outage_s"] = self._delay(outage, self._profile["outage_spread"]) if outage > 0 else 0.0

    def advance(self, seconds: int, *, stop_at_end: bool) -> tuple[int, list[Happening]]:
        """Let time pass; a second rescale that waits for the first wants to stop at its end."""
        if self.filled + seconds > self.rows.shape[0]:
            self._lengthen(self.filled + seconds)
        done, events = kernel.advance(
            self._state,
            self._constants,
            self._arrived,
            self._shares,
            self.rows[self.filled :],
            self.instances[self.filled :],
            self._events,
            seconds,
            stop_at_end,
            self._noise,
        )
        self.filled += done
        return done, [Happening(float(time_s), int(code)) for time_s, code in self._events[:events]]

    def forget(self, keep: int) -> None:
        """Drop all recorded seconds but the last `keep`."""
        first = self.filled - keep
        self.rows[:keep] = self.rows[first : self.filled].copy()
        self.instances[:keep] = self.instances[first : self.filled].copy()
        self.filled = keep

    def _delay(self, median: float, spread: float) -> float:
        return float(median * np.exp(spread * self._delays.standard_normal()))

    def _lengthen(self, rows: int) -> None:
        rows = max(rows, 2 * self.rows.shape[0])
        self.rows = np.resize(self.rows, (rows, kernel.ROW_COLUMNS))
        longer = np.empty((rows, self._width, kernel.INSTANCE_PLANES))
        longer[: self.filled] = self.instances[: self.filled]
        self.instances = longer

    def _widen(self, workers: int) -> None:
        width = max(workers, 2 * self._width)
        wider = np.full((self.rows.shape[0], width, kernel.INSTANCE_PLANES), np.nan)
        wider[: self.filled, : self._width] = self.instances[: self.filled]
        self.instances = wider
        shares = np.zeros((2, width))
        shares[:, : self._width] = self._shares
        self._shares = shares
        self._width = width


#: Seconds of load that the first fleet must carry if nobody says how many workers to start with.
_FIRST_S = 60
#: More events than one call of the kernel can cause: a rescale causes four, and the kernel stops after one that waits.
_EVENTS = 64
