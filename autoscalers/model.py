"""What a policy sees, what it answers, and what it is.

A policy is pure: it has no clock, does no I/O and knows no engine. The same object runs
in every place; the place owns time and hands out observations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: The operator that stands for the whole job where a job scales as one.
JOB = "job"


@dataclass(frozen=True, slots=True)
class Rescale:
    """The latest change of parallelism that was carried out."""

    started_s: float
    before: int
    after: int
    downtime_s: float
    """Seconds without output, as measured; NaN while the change is still under way."""


@dataclass(slots=True)
class OperatorView:
    """One operator as measured since the last decision: t samples of i instances.

    What could not be measured is NaN: an instance that is still booting has no CPU.
    To be read only. It is not frozen because one is made for every operator and decision, and that would take four
    times as long.
    """

    parallelism: int
    """Instances that are wanted now, i.e. what the last decision asked for."""
    ready: Flags
    """[i] whether the instance serves."""
    started_s: Floats
    """[i] when the instance was created."""
    ready_since_s: Floats
    """[i] when `ready` last changed; the creation time where it never did."""
    cpu: Floats
    """[t, i] share of the instance's CPU quota."""
    memory: Floats
    """[t, i] share of the instance's memory."""
    throughput: Floats
    """[t, i] events/s."""
    input_rate: Floats
    """[t] events/s that arrive for this operator."""
    backlog: float
    """Events that wait now."""
    response_time: Floats
    """[t] mean seconds an event takes; NaN in a second without output."""
    regions: Mapping[str, int] = field(default_factory=dict)
    """Instances by region, where a place has regions; the first is where a new instance would go."""

    @property
    def mean_cpu(self) -> float:
        """Mean over samples and the instances that were measured; NaN if there is none."""
        measured = self.cpu[np.isfinite(self.cpu)]
        return float(measured.mean()) if measured.size else float("nan")


@dataclass(slots=True)
class RegionView:
    """One region's node pool. To be read only, and not frozen for the same reason."""

    nodes: int
    idle: int
    unmet: int
    """Instances that wait for a node."""
    booting: int = 0
    """Nodes that were ordered and do not run yet; they count among `nodes`, not among `idle`."""
    free: int = 0
    """Slots without an instance on nodes that run."""
    slots: int = 1
    """Slots a node."""


Trial = Literal["load", "failure", "overload"]
"""What is tried while a job is profiled: a level of load, the death of a worker, more load than it can take."""


@dataclass(frozen=True, slots=True)
class Profiling:
    """What a policy wants tried before the run: its job at several scale-outs, each deployed on its own.

    A scale-out meets load that rises level by level until it can no longer follow; at the first level a worker dies.
    Then it is deployed once more under an overload, which shows its capacity. Loads are shares of the peak that the
    run's load will have, which whoever plans a profiling must know about.
    """

    scale_outs: tuple[int, ...]
    load_step: float = 0.1
    """The first level, and how much is added to reach the next."""
    level_s: int = 420
    window_s: int = 120
    """The last seconds of a level, or of the overload, are what is observed; before them the job settles."""
    slower: float = 3.0
    """A scale-out has had enough once its latency is this many times that of its first level."""
    failure_s: int = 300
    """From the death of a worker to the next level; 0 lets none die."""
    overload: float = 4.0
    overload_s: int = 420

    def __post_init__(self) -> None:
        if not self.scale_outs or min(self.scale_outs) < 1:
            raise ValueError(f"scale_outs: {self.scale_outs} are not whole numbers of workers, at least 1 each")
        if not 0 < self.window_s <= min(self.level_s, self.overload_s):
            raise ValueError(f"window_s: {self.window_s} s do not fit into a level or the overload")
        if not (self.load_step > 0 and self.overload > 0 and self.slower > 1 and self.failure_s >= 0):
            raise ValueError("load_step and overload must be above 0, slower above 1, failure_s not negative")


@dataclass(slots=True)
class Observation:
    """What a policy may see: the samples since its last decision, never the truth behind them. To be read only."""

    time_s: float
    workload: Floats
    """[t] events/s offered to the job."""
    operators: Mapping[str, OperatorView]
    regions: Mapping[str, RegionView] = field(default_factory=dict)
    host: Mapping[str, Floats] = field(default_factory=dict)
    """Low-level host metrics by name, [t] each."""
    last_rescale: Rescale | None = None
    trial: Trial | None = None
    """What was tried, if this was observed while the job was profiled."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Wanted parallelism per operator and nodes per region, with the reason in one line.

    No change is a decision too.

    >>> Decision.scale("job", 3, "CPU 90%").parallelism
    {'job': 3}
    >>> Decision.keep("CPU is near its target").parallelism
    {}
    """

    reason: str
    parallelism: Mapping[str, int] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, float] = field(default_factory=dict)
    """Figures that the policy went by, for the archive. Where a policy has such figures they are called `capacity`
    (events/s that the current scale-out is thought to take), `forecast_wape` (error of the last forecast, a share of
    the workload), `recovery_s` and `recovery_predicted_s` (of the last change, once it is over)."""
    save_first: bool = False
    """Whether a job that restarts to rescale saves its state right before, so that it processes nothing twice.
    Engines that do not restart, or always save, do as they do."""

    @classmethod
    def keep(cls, reason: str) -> Decision:
        return cls(reason)

    @classmethod
    def scale(cls, operator: str, wanted: int, reason: str) -> Decision:
        return cls(reason, parallelism={operator: wanted})


P = TypeVar("P")


class Autoscaler(ABC, Generic[P]):
    """A policy: parameters in, decisions out.

    Subclasses set `period_s` (a class attribute, or a property that reads a parameter)
    and implement `decide`. State may be kept between decisions; randomness comes only
    from `self.rng`, which the seed determines.
    """

    name: ClassVar[str]
    Params: ClassVar[type[Any]]
    period_s: float = 60.0

    def __init__(self, params: P | None = None, *, seed: int = 0) -> None:
        self.params: P = params if params is not None else self.Params()
        self.rng = np.random.default_rng(seed)

    def initial_workers(self) -> int | None:
        """The workers that this policy's user would deploy at the start; None if it has no opinion."""
        return None

    def profiling(self) -> Profiling | None:
        """What this policy wants tried before the run; None, the usual case, if it learns from the run alone."""
        return None

    def warm_start(self, history: Sequence[Observation]) -> None:
        """Learn from what was observed before the run, such as the trials that `profiling` asked for."""

    @abstractmethod
    def decide(self, observation: Observation) -> Decision:
        """Answer one observation. Called every `period_s` seconds of the place's time."""
