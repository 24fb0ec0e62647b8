"""From a recommended number of replicas to the one that is set: stabilisation windows and scaling policies.

The rules are those of `stabilizeRecommendationWithBehaviors`, `convertDesiredReplicasWithBehaviorRate` and
`storeScaleEvent` in kubernetes/kubernetes, pkg/controller/podautoscaler/horizontal.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

Moment = tuple[float, int]
"""When, and how many replicas."""


@dataclass(frozen=True, slots=True)
class Policy:
    """At most so many pods, or percent of the pods, within a period."""

    type: str
    value: int
    period_s: int

    def most(self, start: int) -> int:
        """Replicas that may be reached upwards from those at the start of the period."""
        # Floating point as upstream has it: 10 % on top of 50 is 56, for 50 × 1.1 is a trace above 55.
        return start + self.value if self.type == "Pods" else ceil(start * (1 + self.value / 100))

    def fewest(self, start: int) -> int:
        """Replicas that may be reached downwards."""
        return start - self.value if self.type == "Pods" else int(start * (1 - self.value / 100))


@dataclass(frozen=True, slots=True)
class Rules:
    """How one direction may be taken."""

    window_s: float
    select: str
    """Max: the policy that allows the largest change; Min: the smallest; Disabled: no change."""
    policies: tuple[Policy, ...]
    tolerance: float

    @property
    def longest_period_s(self) -> int:
        return max(policy.period_s for policy in self.policies)


class Behavior(NamedTuple):
    """The rules of both directions."""

    up: Rules
    down: Rules


class Stabilised(NamedTuple):
    """A recommendation held against those before it."""

    replicas: int
    held_by: Moment | None
    """The latest of the earlier recommendations that hold back this one."""


class Limited(NamedTuple):
    """A number of replicas that is allowed."""

    replicas: int
    by: str
    """What allows no more, or no fewer; empty where nothing was in the way."""


@dataclass(slots=True)
class History:
    """What the controller remembers of one workload.

    The lists are kept as upstream keeps them: a new entry takes the place of the last outdated one. An event
    that is outdated by the policies of its own direction, but not by those of the other, is thus forgotten as
    soon, and as late, as in a cluster.
    """

    recommendations: list[Moment] = field(default_factory=list)
    ups: list[Moment] = field(default_factory=list)
    downs: list[Moment] = field(default_factory=list)

    def begin(self, now: float, current: int) -> None:
        """The size that is found at first counts as recommended, lest a new controller scales in at once."""
        if not self.recommendations:
            self.recommendations.append((now, current))

    def stabilise(self, now: float, current: int, desired: int, behavior: Behavior) -> Stabilised:
        """Rise no further than the lowest, sink no further than the highest recommendation of the windows."""
        up_since, down_since = now - behavior.up.window_s, now - behavior.down.window_s
        lowest = highest = desired
        for time_s, replicas in self.recommendations:
            if time_s > up_since and replicas < lowest:
                lowest = replicas
            if time_s > down_since and replicas > highest:
                highest = replicas
        stable = min(max(current, lowest), highest)
        held_by = None
        if stable != desired:
            extreme = highest if desired < current else lowest
            held_by = max(moment for moment in self.recommendations if moment[1] == extreme)
        _store(self.recommendations, (now, desired), outdated=min(up_since, down_since))
        return Stabilised(stable, held_by)

    def limit(self, now: float, current: int, desired: int, behavior: Behavior, bounds: tuple[int, int]) -> Limited:
        """Within what the policies and the bounds (fewest, most) allow now."""
        minimum, maximum = bounds
        if desired > current:
            choose = min if behavior.up.select == "Min" else max
            most = max(current, self._limit(now, current, behavior.up, Policy.most, choose))
            if desired > min(maximum, most):
                return Limited(most, "scale-up policies") if most < maximum else Limited(maximum, "maximum")
        elif desired < current:
            choose = max if behavior.down.select == "Min" else min
            fewest = min(current, self._limit(now, current, behavior.down, Policy.fewest, choose))
            if desired < max(minimum, fewest):
                return Limited(fewest, "scale-down policies") if fewest > minimum else Limited(minimum, "minimum")
        return Limited(desired, "")

    def _limit(
        self,
        now: float,
        current: int,
        rules: Rules,
        allowed: Callable[[Policy, int], int],
        choose: Callable[[Iterable[int]], int],
    ) -> int:
        if rules.select == "Disabled":
            return current
        return choose(allowed(policy, self._at_start(now, current, policy.period_s)) for policy in rules.policies)

    def _at_start(self, now: float, current: int, period_s: float) -> int:
        since = now - period_s
        added = sum(replicas for time_s, replicas in self.ups if time_s > since)
        removed = sum(replicas for time_s, replicas in self.downs if time_s > since)
        return current - added + removed

    def scaled(self, now: float, before: int, after: int, behavior: Behavior) -> None:
        """Remember a change, for the policies to count."""
        if after > before:
            _store(self.ups, (now, after - before), now - behavior.up.longest_period_s)
        else:
            _store(self.downs, (now, before - after), now - behavior.down.longest_period_s)


def _store(moments: list[Moment], moment: Moment, outdated: float) -> None:
    for index in range(len(moments) - 1, -1, -1):
        if moments[index][0] < outdated:
            moments[index] = moment
            return
    moments.append(moment)
