"""Threshold rules on CPU, the autoscaler that cloud providers offer first.

Reference
---------
Rampérez et al., FLAS (2020), section 6: the rule-based reactive autoscaler of figure 13 scales out when the CPU
is above 80 % for more than two monitoring periods, in when it is below 40 % for as long, and rests for a
cool-down after every action. The paper leaves the sizes of the period, the step and the cool-down open: here
they are a minute, one worker, and the five minutes that Amazon EC2 Auto Scaling rests by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from autoscalers import _checks
from autoscalers.model import Autoscaler, Decision, Observation, OperatorView
from autoscalers.registry import register


@dataclass(frozen=True)
class CpuThresholdParams:
    """CPU is a share of a worker's quota, averaged over the workers and the period."""

    upper: float = 0.80
    lower: float = 0.40
    periods: int = 2
    """The CPU must be beyond a threshold for more than this many periods in a row."""
    step: int = 1
    """Workers that one action adds or takes away."""
    step_share: float = 0.0
    """The same as a share of the workers there are, rounded down; the larger step counts."""
    cool_down_s: float = 300.0
    period_s: float = 60.0
    minimum: int = 1
    maximum: int = 12

    def __post_init__(self) -> None:
        _checks.share("upper", self.upper)
        _checks.number("lower", self.lower, "a share from 0 up to 1", lambda share: 0 <= share <= 1)
        if self.lower >= self.upper:
            raise ValueError(f"lower: {self.lower} is not below the upper threshold of {self.upper}")
        _checks.whole("periods", self.periods, "a whole number of periods, 0 or more", least=0)
        _checks.whole("step", self.step, "a whole number of workers, at least 1", least=1)
        _checks.number("step_share", self.step_share, "a share, 0 or more", lambda share: share >= 0)
        _checks.seconds("cool_down_s", self.cool_down_s)
        _checks.period("period_s", self.period_s)
        _checks.bounds(self.minimum, self.maximum)


@dataclass(slots=True)
class _Watch:
    """What is remembered of one operator."""

    beyond: int = 0
    """Periods in a row above the upper (positive) or below the lower (negative) threshold."""
    acted_s: float = float("-inf")


@register("cpu-threshold", CpuThresholdParams)
class CpuThreshold(Autoscaler[CpuThresholdParams]):
    """Scale out above one threshold, in below another, when the CPU stays there.

    >>> from autoscalers.testing import observation
    >>> rules = CpuThreshold()
    >>> for minute in range(1, 4):
    ...     print(rules.decide(observation(time_s=60 * minute, parallelism=4, cpu=0.9)).reason)
    CPU 90.0% is above 80% for 1 period; more than 2 are needed
    CPU 90.0% is above 80% for 2 periods; more than 2 are needed
    CPU 90.0% is above 80% for 3 periods: 4 → 5
    """

    def __init__(self, params: CpuThresholdParams | None = None, *, seed: int = 0) -> None:
        super().__init__(params, seed=seed)
        self.period_s = self.params.period_s
        self._watches: dict[str, _Watch] = {}

    def decide(self, observation: Observation) -> Decision:
        wanted: dict[str, int] = {}
        reasons: list[str] = []
        for name, view in observation.operators.items():
            watch = self._watches.setdefault(name, _Watch())
            workers, reason = self._size(watch, view, observation.time_s)
            reasons.append(f"{name}: {reason}" if len(observation.operators) > 1 else reason)
            if workers != view.parallelism:
                wanted[name] = workers
                self._watches[name] = _Watch(acted_s=observation.time_s)
        return Decision("; ".join(reasons) or "there is no operator to scale", parallelism=wanted)

    def _size(self, watch: _Watch, view: OperatorView, now: float) -> tuple[int, str]:
        params, current = self.params, view.parallelism
        allowed = min(max(current, params.minimum), params.maximum)
        if allowed != current:
            bound = f"above the maximum of {allowed}" if allowed < current else f"below the minimum of {allowed}"
            return allowed, f"{current} workers are {bound}: {current} → {allowed}"
        cpu = round(view.mean_cpu, 9)  # the mean of samples at a threshold is at it, not a trace beyond
        if isnan(cpu):
            return current, f"no CPU was measured, {current} kept"
        if params.lower <= cpu <= params.upper:
            watch.beyond = 0
            band = f"{100 * params.lower:g}% and {100 * params.upper:g}%"
            return current, f"CPU {cpu:.1%} is between {band}, {current} kept"
        return self._act(watch, current, cpu, now, direction=1 if cpu > params.upper else -1)

    def _act(self, watch: _Watch, current: int, cpu: float, now: float, *, direction: int) -> tuple[int, str]:
        params = self.params
        watch.beyond = watch.beyond + direction if watch.beyond * direction > 0 else direction
        periods = abs(watch.beyond)
        side = f"above {100 * params.upper:g}%" if direction > 0 else f"below {100 * params.lower:g}%"
        seen = f"CPU {cpu:.1%} is {side} for {periods} period{'s' if periods > 1 else ''}"
        if periods <= params.periods:
            return current, f"{seen}; more than {params.periods} are needed"
        left = watch.acted_s + params.cool_down_s - now
        if left > 0:
            return current, f"{seen}; cooling down for another {left:.0f} s"
        step = max(params.step, int(current * params.step_share))
        workers = min(max(current + direction * step, params.minimum), params.maximum)
        if workers == current:
            return current, f"{seen}; {current} is the {'maximum' if direction > 0 else 'minimum'}"
        return workers, f"{seen}: {current} → {workers}"
