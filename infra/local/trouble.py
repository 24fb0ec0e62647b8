"""Carries a run's incidents out on real processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from infra.faults import KINDS, Incident
from infra.local.engine import Engine, Worker
from infra.local.kafka import Broker

#: `fill-lag` is part of the load: the generator knows it from the start.
SUPPORTED = frozenset({"crash", "slow-worker", "pause-worker", "broker-down", "fill-lag"})

Tell = Callable[[float, str, str], None]


class Trouble:
    """The incidents of one run: those to come, and those that last."""

    def __init__(
        self, incidents: Sequence[Incident], engine: Engine, broker: Broker, loads: Callable[[], Sequence[float]]
    ) -> None:
        self._coming = sorted(incidents, key=lambda incident: incident.time_s, reverse=True)
        self._lasting: list[tuple[Incident, list[Worker]]] = []
        self._engine = engine
        self._broker = broker
        self._loads = loads

    @property
    def broker_down(self) -> bool:
        return any(incident.kind == "broker-down" for incident, _ in self._lasting)

    def acts_soon(self, now: float) -> bool:
        """Whether something begins or ends within two seconds."""
        moments = [incident.until_s for incident, _ in self._lasting]
        moments += [incident.time_s for incident in self._coming[-1:]]
        return any(moment - now < 2.0 for moment in moments)

    def act(self, now: float, tell: Tell) -> None:
        """Begin and end what is due."""
        while self._coming and self._coming[-1].time_s <= now:
            self._begin(self._coming.pop(), now, tell)
        for entry in [entry for entry in self._lasting if entry[0].until_s <= now]:
            self._lasting.remove(entry)
            self._end(*entry)
            tell(now, f"{entry[0].kind}_end", "")

    def _begin(self, incident: Incident, now: float, tell: Tell) -> None:
        present = self._engine.present
        hit = [present[index] for index in incident.victims(self._loads())] if incident.workers else []
        who = f"worker {', '.join(str(worker.member.index) for worker in hit)}"
        if KINDS[incident.kind].lasts:
            tell(now, f"{incident.kind}_start", f"until {incident.until_s:g} s" + (f": {who}" if hit else ""))
            self._lasting.append((incident, hit))
        elif incident.kind == "fill-lag":
            tell(now, "fill-lag", f"{incident.amount:g} events at once")
        else:
            tell(now, "failure", f"{incident.kind}: {who}")
        if incident.kind == "broker-down" and self._broker.part is not None:
            self._broker.part.stop()
        for worker in hit:
            self._strike(incident.kind, worker)

    def _strike(self, kind: str, worker: Worker) -> None:
        match kind:
            case "crash":
                worker.part.kill()
            case "pause-worker":
                self._engine.pause(worker, paused=True)
            case "slow-worker":
                self._engine.slow(worker, self._speed(worker))

    def _end(self, incident: Incident, hit: list[Worker]) -> None:
        for worker in hit:
            if not worker.part.alive:
                continue
            if incident.kind == "pause-worker":
                self._engine.pause(worker, paused=any(worker in others for others in self._hit("pause-worker")))
            elif incident.kind == "slow-worker":
                self._engine.slow(worker, self._speed(worker))
        if incident.kind == "broker-down" and not self.broker_down:
            self._broker.start()

    def _hit(self, kind: str) -> list[list[Worker]]:
        return [hit for incident, hit in self._lasting if incident.kind == kind]

    def _speed(self, worker: Worker) -> float:
        together = KINDS["slow-worker"].together
        return together(
            incident.amount for incident, hit in self._lasting if incident.kind == "slow-worker" and worker in hit
        )
