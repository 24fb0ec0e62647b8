"""What the managers monitor: an operator's replicas, load and response time; a region's nodes and demand."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan, nan
from typing import NamedTuple

import numpy as np

from autoscalers.model import Floats, OperatorView, RegionView


class OperatorState(NamedTuple):
    """An operator over the last period; NaN is what was not measured."""

    replicas: int
    utilisation: float
    """Mean over the replicas."""
    hottest: float
    """Utilisation of the busiest replica."""
    rate: float
    """Tuples/s that arrive."""
    response_s: float
    regions: Mapping[str, int]

    @classmethod
    def of(cls, view: OperatorView) -> OperatorState:
        cpu, rate = view.cpu, mean(view.input_rate)
        utilisation, hottest = _of_one_sample(cpu) if cpu.shape[0] == 1 else _of_samples(cpu)
        response_s = _response(mean(view.response_time), rate)
        return cls(cpu.shape[1] or max(1, view.parallelism), utilisation, hottest, rate, response_s, view.regions)

    @property
    def home(self) -> str | None:
        """The region where a new replica goes; None where there are none."""
        return next(iter(self.regions), None)


class RegionState(NamedTuple):
    """A region once the application has got what there was."""

    nodes: int
    """Booting ones included."""
    idle: int
    """Nodes without a replica, booting ones included."""
    utilisation: float
    """Mean over the replicas in it; 0 if there is none."""
    unmet: int
    """Requests for a slot that the region turned down."""

    @classmethod
    def of(cls, view: RegionView, utilisation: float, granted: int, short: int) -> RegionState:
        """New replicas fill nodes that hold one already before they take an idle one."""
        idle = view.idle
        if granted:
            beside_others = view.free - idle * view.slots
            idle = max(0, idle + max(0, granted - beside_others) // -max(1, view.slots))
        return cls(view.nodes, idle + view.booting, utilisation, short)


def _of_one_sample(cpu: Floats) -> tuple[float, float]:
    """The replicas' mean and the highest, as below, of the one sample of a simulated minute: quicker as a list."""
    (each,) = cpu.tolist()
    total = sum(each)
    if isnan(total):
        each = [one for one in each if not isnan(one)]
        total = sum(each)
    return (total / len(each), max(each)) if each else (nan, nan)


def _of_samples(cpu: Floats) -> tuple[float, float]:
    """The mean over all that was measured, and the highest mean of a replica."""
    each = [mean(cpu[:, replica]) for replica in range(cpu.shape[1])]
    return mean(cpu), max((one for one in each if not isnan(one)), default=nan)


def mean(samples: Floats) -> float:
    """Over all that was measured; NaN if nothing was.

    >>> mean(np.array([[0.5, np.nan], [1.0, np.nan]]))
    0.75
    """
    if samples.size == 1:
        return float(samples.item())
    if not samples.size:
        return float("nan")
    plain = float(samples.sum()) / samples.size
    if isfinite(plain):
        return plain
    measured = samples[np.isfinite(samples)]
    return float(measured.mean()) if measured.size else float("nan")


def _response(response_s: float, rate: float) -> float:
    """Unbounded if nothing came out although something came in."""
    return float("inf") if isnan(response_s) and rate > 0 else response_s
