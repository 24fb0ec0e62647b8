"""Operator Managers: each proposes to add or to remove a replica of its operator (section 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isnan

import numpy as np

from autoscalers.e2df.agents import Agent, Learning, ModelBased, QLearning, Space
from autoscalers.e2df.backup import CHANGES
from autoscalers.e2df.monitor import OperatorState


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What all Operator Managers of an application share."""

    minimum: int
    maximum: int
    scale_out: float
    scale_in: float
    weights: tuple[float, float, float]
    """Reconfiguration, performance, resources."""
    bound_s: float
    """Response time of one operator that should not be exceeded."""
    levels: int
    learning: Learning


class OperatorManager(ABC):
    """The local policy of one operator."""

    cost = float("nan")
    """What the last period cost, for those that count."""

    def __init__(self, settings: OperatorSettings, rate_max: float, rng: np.random.Generator) -> None:
        self.settings = settings
        self.rate_max = rate_max
        """The operator's highest rate; 0 where nobody says which it is."""
        self.rng = rng

    def propose(self, state: OperatorState) -> int:
        """The wanted change of replicas."""
        if state.replicas < self.settings.minimum:
            return self.settings.minimum - state.replicas
        if state.replicas > self.settings.maximum:
            return self.settings.maximum - state.replicas
        return self.plan(state)

    @abstractmethod
    def plan(self, state: OperatorState) -> int:
        """The change of replicas, within the bounds."""


class Threshold(OperatorManager):
    """Add one above the target utilisation; remove one if the others stay well below it (section 7.1)."""

    def plan(self, state: OperatorState) -> int:
        settings, replicas = self.settings, state.replicas
        if isnan(state.utilisation):
            return 0
        if state.hottest > settings.scale_out:
            return int(replicas < settings.maximum)
        spread = state.utilisation * replicas / max(1, replicas - 1)
        return -int(replicas > settings.minimum and spread < settings.scale_in * settings.scale_out)


class Learner(OperatorManager):
    """An agent over replicas and levels of the arrival rate, at the cost of equation (6) (section 7.2)."""

    kind: type[Agent]

    def __init__(self, settings: OperatorSettings, rate_max: float, rng: np.random.Generator) -> None:
        super().__init__(settings, rate_max, rng)
        self._met = 0.0
        reconfiguration, self._performance, resources = settings.weights
        replicas = np.arange(settings.minimum, settings.maximum + 1)
        changing = np.array([reconfiguration if change else 0.0 for change in CHANGES])
        known = resources * replicas / settings.maximum + changing[:, None]
        self.agent = self.kind(Space(replicas.size, settings.levels, 1, known), settings.learning, rng)
        self._level = 0

    def plan(self, state: OperatorState) -> int:
        if not isnan(state.rate):
            self._level = self._level_of(state.rate)
        late = self._performance if state.response_s > self.settings.bound_s else 0.0
        change = self.agent.step((state.replicas - self.settings.minimum, self._level, 0), late)
        self.cost = self.agent.cost
        return change

    def _level_of(self, rate: float) -> int:
        """Up to the operator's highest rate; where nobody says which that is, the highest it has met."""
        highest = self.rate_max
        if not highest:
            highest = self._met = max(rate, self._met)
        levels = self.settings.levels
        return min(levels - 1, int(levels * rate / highest)) if highest else 0


class ModelBasedManager(Learner):
    """Learns a model of its operator (Algorithm 2)."""

    kind = ModelBased


class QLearningManager(Learner):
    """Learns by trial alone."""

    kind = QLearning


OPERATOR_MANAGERS: dict[str, type[OperatorManager]] = {
    "threshold": Threshold,
    "rl": ModelBasedManager,
    "q-learning": QLearningManager,
}
