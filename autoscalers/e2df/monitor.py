"""What the managers monitor: an operator's replicas, load and response time; a region's nodes and demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan

import numpy as np

from autoscalers.model import Floats, OperatorView, RegionView


@dataclass(frozen=True, slots=True)
class OperatorState:
    """An operator over the last period; NaN is what was not measured."""

    replicas: int
    utilisation: float
    """Mean over the replicas."""
    rate: float
    """Tuples/s that arrive."""
    response_s: float
    regions: Mapping[str, int]
    cpu: Floats

    @classmethod
    def of(cls, view: OperatorView) -> OperatorState:
        replicas = view.cpu.shape[1] or view.parallelism
        return cls(
            replicas=max(1, replicas),
            utilisation=mean(view.cpu),
            rate=(rate := mean(view.input_rate)),
            response_s=_response(mean(view.response_time), rate),
            regions=view.regions,
            cpu=view.cpu,
        )

    @property
    def hottest(self) -> float:
        """Utilisation of the busiest replica."""
        if self.cpu.shape[0] == 1 and not isnan(highest := float(self.cpu.max())):
            return highest
        means = [mean(self.cpu[:, replica]) for replica in range(self.cpu.shape[1])]
        return max((one for one in means if not isnan(one)), default=float("nan"))

    @property
    def home(self) -> str | None:
        """The region where a new replica goes; None where there are none."""
        return next(iter(self.regions), None)


@dataclass(frozen=True, slots=True)
class RegionState:
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
        beside_others = view.free - view.idle * view.slots
        taken = -(-max(0, granted - beside_others) // max(1, view.slots))
        idle = max(0, view.idle - taken) + view.booting
        return cls(view.nodes, idle, utilisation, max(short, 0))


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
