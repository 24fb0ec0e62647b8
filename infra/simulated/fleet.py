"""How many events/s a number of workers can take, given how the keys fall on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autoscalers.model import Floats
from jobs.model import Profile

Owners = NDArray[np.int64]


class Fleet:
    """Capacity, shares and demand of any number of workers."""

    def __init__(self, profile: Profile, limit: int, rng: np.random.Generator) -> None:
        self.weights = group_weights(profile, rng)
        """Each key group's share of the events; None where events go evenly to all workers."""
        self.limit = min(limit, self.weights.size) if self.weights is not None else limit
        self._profile = profile
        self._shares: dict[int, Floats] = {}
        capacities = np.array([self.capacity(workers) for workers in range(1, self.limit + 1)])
        self._enough = np.maximum.accumulate(capacities)

    def worker_capacity(self, workers: int) -> float:
        """What one of `workers` can do: sharing the work costs each a little."""
        return float(self._profile["worker_capacity"] * workers ** (self._profile["scaling_exponent"] - 1.0))

    def shares(self, workers: int) -> Floats:
        """Each worker's share of the events. Like Flink, a worker owns a contiguous range of key groups."""
        if workers not in self._shares:
            if self.weights is None:
                self._shares[workers] = np.full(workers, 1.0 / workers)
            else:
                self._shares[workers] = owned(self.weights, ranges(self.weights.size, workers), workers)
        return self._shares[workers]

    def capacity(self, workers: int) -> float:
        """The hottest worker holds the others back."""
        return float(self.worker_capacity(workers) / self.shares(workers).max())

    def demand(self, curve: Floats) -> NDArray[np.int32]:
        """The fewest workers whose capacity covers each load; the most there are where none does."""
        return np.minimum(np.searchsorted(self._enough, curve) + 1, self.limit).astype(np.int32)


def group_weights(profile: Profile, rng: np.random.Generator) -> Floats | None:
    """Zipf-distributed keys, hashed to key groups; None where events go evenly to all workers."""
    keys = int(profile["key_count"])
    if keys == 0:
        return None
    frequencies = np.arange(1, keys + 1, dtype=np.float64) ** -profile["key_skew"]
    groups = int(profile["key_groups"])
    weights = np.bincount(rng.integers(0, groups, keys), frequencies, minlength=groups)
    return np.asarray(weights / weights.sum())


def ranges(groups: int, workers: int) -> Owners:
    """The owner of each group if each worker takes a contiguous range.

    >>> ranges(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    return np.arange(groups) * workers // groups


def owned(weights: Floats, owners: Owners, workers: int) -> Floats:
    """What each worker owns."""
    return np.bincount(owners, weights, minlength=workers).astype(np.float64)


def handed_over(owners: Owners, workers: int) -> Owners:
    """New owners for as few groups as possible, such that no worker has two groups more than another.

    >>> handed_over(np.array([0, 0, 0, 1, 1, 1]), 3).tolist()
    [2, 0, 0, 2, 1, 1]
    >>> handed_over(np.array([2, 0, 0, 2, 1, 1]), 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    result = owners.copy()
    counts = np.bincount(owners[owners < workers], minlength=workers)
    fair, more = divmod(owners.size, workers)
    # those who have most now are the ones that may keep one more
    allowed = np.full(workers, fair)
    allowed[np.argsort(-counts, kind="stable")[:more]] += 1
    free = []
    for group, owner in enumerate(owners.tolist()):
        if owner >= workers:
            free.append(group)
        elif counts[owner] > allowed[owner]:
            counts[owner] -= 1
            free.append(group)
    takers = np.repeat(np.arange(workers), allowed - counts)
    result[free] = takers
    return result
