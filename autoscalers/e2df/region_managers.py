"""Region Managers: each proposes to launch or to terminate a node of its region (section 6)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from autoscalers.e2df.agents import Agent, Learning, ModelBased, QLearning, Space
from autoscalers.e2df.monitor import RegionState


@dataclass(frozen=True, slots=True)
class RegionSettings:
    """What all Region Managers share."""

    maximum: int
    static: int
    idle: int
    weights: tuple[float, float]
    """Unmet demand, resources."""
    quantum: float
    """Step of the utilisation in a state."""
    learning: Learning


class RegionManager(ABC):
    """The local policy of one region."""

    cost = float("nan")
    """What the last period cost, for those that count."""

    def __init__(self, settings: RegionSettings, rng: np.random.Generator) -> None:
        self.settings = settings
        self.rng = rng

    @abstractmethod
    def propose(self, state: RegionState) -> int:
        """The wanted change of nodes."""


class Static(RegionManager):
    """The same number of nodes always (section 8.2, the baseline)."""

    def propose(self, state: RegionState) -> int:
        return self.settings.static - state.nodes


class Simple(RegionManager):
    """As many idle nodes as wanted, by one a period (section 6.1)."""

    def propose(self, state: RegionState) -> int:
        if state.idle < self.settings.idle:
            return int(state.nodes < self.settings.maximum)
        return -int(state.idle > self.settings.idle)


class Learner(RegionManager):
    """An agent over nodes, levels of utilisation and whether a node is idle, at the cost of equation (1)."""

    kind: type[Agent]

    def __init__(self, settings: RegionSettings, rng: np.random.Generator) -> None:
        super().__init__(settings, rng)
        self._demand, resources = settings.weights
        known = np.tile(resources * np.arange(settings.maximum + 1) / settings.maximum, (3, 1))
        self._levels = round(1 / settings.quantum) + 1
        self.agent = self.kind(Space(settings.maximum + 1, self._levels, 2, known), settings.learning, rng)

    def propose(self, state: RegionState) -> int:
        # a trace above a level is no step up
        level = min(self._levels - 1, int(state.utilisation / self.settings.quantum + 1e-9))
        nodes = min(state.nodes, self.settings.maximum)
        change = self.agent.step((nodes, level, int(state.idle > 0)), self._demand if state.unmet else 0.0)
        self.cost = self.agent.cost
        return change


class ModelBasedManager(Learner):
    """Learns a model of its region (Algorithm 2)."""

    kind = ModelBased


class QLearningManager(Learner):
    """Learns by trial alone."""

    kind = QLearning


REGION_MANAGERS: dict[str, type[RegionManager]] = {
    "static": Static,
    "simple": Simple,
    "rl": ModelBasedManager,
    "q-learning": QLearningManager,
}
