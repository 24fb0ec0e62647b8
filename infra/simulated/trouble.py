"""Carries a run's incidents out, whatever kind of plant they hit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from autoscalers.model import Floats
from infra.faults import KINDS, Incident
from infra.simulated import gauges

#: The faults that a simulated job can meet: all but those that only real processes can.
SUPPORTED = frozenset(KINDS) - {"pause-worker", "broker-down", "fill-lag"}


Tell = Callable[[float, str, str], None]
"""Takes down an event: when, its kind, and a detail."""


class Vulnerable(Protocol):
    """What incidents do to a plant."""

    @property
    def loads(self) -> Floats:
        """How busy each worker is."""

    def crash(self, victims: Sequence[int]) -> None: ...
    def lose_node(self, worker: int) -> None: ...
    def slow(self, worker: int, speed: float) -> None: ...
    def stall(self, stalled: bool) -> None: ...
    def delay(self, seconds: float) -> None: ...
    def blind(self, sight: int) -> None: ...


class Trouble:
    """The incidents of one run: those to come, and those that last."""

    def __init__(self, incidents: Sequence[Incident], plant: Vulnerable, tell: Tell) -> None:
        self._coming = sorted(incidents, key=lambda incident: incident.time_s, reverse=True)
        self._lasting: list[Incident] = []
        self._slowed: dict[Incident, list[int]] = {}
        self._plant = plant
        self._tell = tell

    def next_s(self) -> float:
        """When something begins or ends next."""
        begins = self._coming[-1].time_s if self._coming else math.inf
        return min(begins, min((incident.until_s for incident in self._lasting), default=math.inf))

    def act(self, now: float) -> None:
        """Begin and end what is due."""
        while self._coming and self._coming[-1].time_s <= now:
            self._begin(self._coming.pop(), now)
        for incident in [incident for incident in self._lasting if incident.until_s <= now]:
            self._lasting.remove(incident)
            self._tell(now, f"{incident.kind}_end", "")
            self._set(incident)

    def together(self, kind: str) -> float:
        """What the incidents of a kind that last now amount to."""
        return KINDS[kind].together(incident.amount for incident in self._lasting if incident.kind == kind)

    def _begin(self, incident: Incident, now: float) -> None:
        if not KINDS[incident.kind].lasts:
            victims = incident.victims(self._plant.loads.tolist())
            self._tell(now, "failure", f"{incident.kind}: worker {', '.join(map(str, victims))}")
            if incident.kind == "crash":
                self._plant.crash(victims)
            elif victims:
                self._plant.lose_node(victims[0])
            return
        self._lasting.append(incident)
        self._tell(now, f"{incident.kind}_start", f"until {incident.until_s:g} s")
        self._set(incident)

    def _set(self, changed: Incident) -> None:
        """Bring the plant to what all incidents of this kind amount to now."""
        match changed.kind:
            case "source-stall":
                self._plant.stall(self.together("source-stall") > 0)
            case "network-delay":
                self._plant.delay(self.together("network-delay"))
            case "metrics-missing" | "metrics-stale":
                missing, stale = self.together("metrics-missing") > 0, self.together("metrics-stale") > 0
                self._plant.blind(gauges.MISSING if missing else gauges.STALE if stale else gauges.CLEAR)
            case "slow-worker":
                self._slow(changed)

    def _slow(self, changed: Incident) -> None:
        if changed in self._lasting:
            self._slowed[changed] = changed.victims(self._plant.loads.tolist())
            touched = self._slowed[changed]
        else:
            touched = self._slowed.pop(changed)
        for worker in touched:
            speeds = [incident.amount for incident, workers in self._slowed.items() if worker in workers]
            self._plant.slow(worker, KINDS["slow-worker"].together(speeds))
