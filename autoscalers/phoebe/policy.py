"""Phoebe: profiling first, then the smallest scale-out that recovers in time and answers soon.

Reference
---------
Geldenhuys, Scheinert, Kao, Thamsen: Phoebe: QoS-Aware Distributed Stream Processing through Anticipating Dynamic
Workloads, ICWS 2022; its code and the logs of its runs (dos-group/phoebe, Apache-2.0). Compared with Daedalus by
Pfister et al. (ICPE 2024), section 4.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoscalers import _checks
from autoscalers.daedalus import arima
from autoscalers.daedalus.forecast import Forecaster
from autoscalers.model import JOB, Autoscaler, Decision, Floats, Observation, OperatorView, Profiling
from autoscalers.phoebe import latency
from autoscalers.phoebe.capacity import CapacityModel
from autoscalers.phoebe.choice import Candidate, choose, worth_it
from autoscalers.phoebe.latency import LatencyModel
from autoscalers.phoebe.recovery import published_recovery_times, recovery_times
from autoscalers.registry import register


@dataclass(frozen=True)
class PhoebeParams:
    """What a user may set; the defaults are those of the authors' experiments."""

    target_recovery_s: float = 180.0
    minimum: int = 2
    maximum: int = 24
    profiles: int = 8
    """Scale-outs that are profiled, evenly from the minimum on: 2, 5, ..., 23 of at most 24."""
    load_step: float = 0.1
    """Load added from one level of the profiling to the next, as a share of the peak that the run will see."""
    level_s: int = 420
    """Seconds of a level of the profiling."""
    failure_s: int = 300
    """Seconds that a dead worker gets to be replaced before the next level."""
    overload: float = 4.0
    """Load that no scale-out can take, as a multiple of the peak, ..."""
    overload_s: int = 420
    """... and for how long it is offered."""
    downtime_s: float | None = None
    """From a failure until the job is back. None: as long as the failures of the profiling took; the authors wrote
    down what they had measured, 90 s for the advertising job and 130 s for the traffic job."""
    checkpoint_s: float = 10.0
    """Seconds between checkpoints: as much is replayed in the worst case."""
    poll_s: float = 60.0
    evaluate_after_s: float = 600.0
    """No evaluation sooner than this after the last change."""
    window_s: int = 120
    """The latest seconds whose mean throughput and latency the latency model learns."""
    horizon_s: int = 600
    """Seconds that are forecast."""
    as_published: bool = False
    """Find recovery times by slices of whole seconds, as the authors' program does: longer above half the capacity."""

    def __post_init__(self) -> None:
        _checks.bounds(self.minimum, self.maximum)
        _checks.each(_checks.period, self, "target_recovery_s", "poll_s")
        _checks.each(_checks.seconds, self, "checkpoint_s", "evaluate_after_s")
        if self.downtime_s is not None:
            _checks.seconds("downtime_s", self.downtime_s)
        _checks.share("load_step", self.load_step)
        _checks.number("overload", self.overload, "a multiple of the peak above 0", lambda given: given > 0)
        _checks.each(_checks.count, self, "profiles", "window_s", "level_s", "overload_s")
        _checks.count("failure_s", self.failure_s, least=0)
        _checks.count("horizon_s", self.horizon_s, least=60)

    @property
    def profiled(self) -> tuple[int, ...]:
        """The scale-outs to profile.

        >>> PhoebeParams().profiled
        (2, 5, 8, 11, 14, 17, 20, 23)
        >>> PhoebeParams(maximum=18).profiled
        (2, 4, 6, 8, 10, 12, 14, 16)
        """
        step = max(1, int((self.maximum - self.minimum) / max(1, self.profiles - 1) + 0.5))
        return tuple(range(self.minimum, self.maximum + 1, step))[: self.profiles]


@register("phoebe", PhoebeParams)
class Phoebe(Autoscaler[PhoebeParams]):
    """Profile first; then take the fewest workers that recover in time at low latency, ten minutes between changes.

    >>> from autoscalers.testing import observation
    >>> Phoebe().decide(observation(time_s=660, parallelism=4)).reason
    'nothing was profiled: no capacity is known, 4 kept'
    """

    def __init__(self, params: PhoebeParams | None = None, *, seed: int = 0) -> None:
        super().__init__(params, seed=seed)
        self.period_s = self.params.poll_s
        self._capacity: CapacityModel | None = None
        self._downtime_s = self.params.downtime_s
        self._latency = LatencyModel(seed=seed)
        self._forecaster = Forecaster(horizon_s=self.params.horizon_s)
        self._recent = _Recent(self.params.window_s)
        arima.prepare()
        latency.prepare()

    def profiling(self) -> Profiling:
        params = self.params
        return Profiling(
            scale_outs=params.profiled,
            load_step=params.load_step,
            level_s=params.level_s,
            window_s=min(params.window_s, params.level_s, params.overload_s),
            failure_s=params.failure_s,
            overload=params.overload,
            overload_s=params.overload_s,
        )

    def warm_start(self, history: Sequence[Observation]) -> None:
        """Fit the models to the trials of a profiling; observations that are none teach nothing."""
        overloads: list[tuple[int, float]] = []
        silences: list[float] = []
        for observed in history:
            view = observed.operators.get(JOB)
            if view is None or observed.trial is None:
                continue
            if observed.trial == "load":
                self._latency.add(view.parallelism, _mean(_total(view)), _mean(view.response_time))
            elif observed.trial == "overload":
                overloads.append((view.parallelism, _mean(_total(view))))
            elif view.response_time.size:
                silences.append(float(np.isnan(view.response_time).mean()) * view.response_time.size)
        overloads = [(workers, rate) for workers, rate in overloads if rate > 0.0]
        if overloads:
            self._capacity = CapacityModel.fitted(*map(list, zip(*overloads, strict=True)))
        if self.params.downtime_s is None and silences:
            self._downtime_s = float(np.median(silences))

    def decide(self, observation: Observation) -> Decision:
        view = observation.operators.get(JOB)
        if view is None:
            return Decision.keep("it knows only jobs that scale as one, and this one does not")
        self._recent.add(view)
        forecast = self._forecaster.update(observation.workload)
        current, params = view.parallelism, self.params
        if self._capacity is None or self._latency.observations == 0:
            return Decision.keep(f"nothing was profiled: no capacity is known, {current} kept")
        changed_s = observation.last_rescale.started_s if observation.last_rescale is not None else 0.0
        since_s = observation.time_s - changed_s
        if since_s < params.evaluate_after_s:
            return Decision.keep(
                f"{since_s:.0f} s since the last change, at least {params.evaluate_after_s:g} s needed"
            )
        self._latency.add(current, self._recent.throughput, self._recent.latency_s)
        candidates = self._candidates(self._capacity, observation.workload, forecast)
        choice = choose(candidates, current, params.target_recovery_s)
        reason = f"{choice.workers} of {current} workers: {choice.reason}"
        notes = self._notes(self._capacity, current)
        if not worth_it(choice.workers, current):
            kept = "the same" if choice.workers == current else "too few to leave for a restart"
            return Decision(f"{reason}; {kept}, {current} kept", notes=notes)
        return Decision(reason, parallelism={JOB: choice.workers}, notes=notes, save_first=True)

    def _notes(self, capacity: CapacityModel, current: int) -> dict[str, float]:
        figures = {"capacity": float(capacity.of([current])[0]), "forecast_wape": self._forecaster.last_wape}
        return {name: value for name, value in figures.items() if np.isfinite(value)}

    def _candidates(self, capacity: CapacityModel, past: Floats, forecast: Floats) -> list[Candidate]:
        params = self.params
        workers = np.arange(params.minimum, params.maximum + 1)
        known = past[np.isfinite(past)]
        times = published_recovery_times if params.as_published else recovery_times
        recovery = times(capacity.of(workers.tolist()), known, forecast, self._downtime_s or 0.0, params.checkpoint_s)
        latencies, low = self._latency.at(workers, _busiest_minute(forecast))
        return [
            Candidate(int(count), float(seconds), float(late), bool(is_low))
            for count, seconds, late, is_low in zip(workers, recovery, latencies, low, strict=True)
        ]


@dataclass(slots=True)
class _Recent:
    """Throughput and latency of the last seconds."""

    window_s: int
    _seconds: Floats | None = None

    def add(self, view: OperatorView) -> None:
        rows = np.column_stack([_total(view), view.response_time])
        joined = rows if self._seconds is None else np.concatenate([self._seconds, rows])
        self._seconds = joined[-self.window_s :]

    @property
    def throughput(self) -> float:
        return float("nan") if self._seconds is None else _mean(self._seconds[:, 0])

    @property
    def latency_s(self) -> float:
        return float("nan") if self._seconds is None else _mean(self._seconds[:, 1])


def _total(view: OperatorView) -> Floats:
    """Events/s of the whole job, [t]; NaN in a second in which no instance was measured."""
    measured = np.isfinite(view.throughput)
    return np.where(measured.any(axis=1), np.where(measured, view.throughput, 0.0).sum(axis=1), np.nan)


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _busiest_minute(forecast: Floats) -> float:
    """The highest mean of a minute: what the latency must be low at."""
    minutes = [part.mean() for part in np.array_split(forecast, max(1, forecast.size // 60))]
    return float(max(minutes))
