"""What a campaign is judged by: service-level objectives and prices, and what a run costs at them."""

from __future__ import annotations

from dataclasses import dataclass, fields

#: Columns of metrics.parquet that an objective can bound, second by second.
BOUNDED = ("latency_mean_s", "latency_p50_s", "latency_p95_s", "latency_p99_s", "backlog")


@dataclass(frozen=True, slots=True)
class Objectives:
    """Bounds that every second should keep, and what workers, nodes and violations cost.

    >>> Objectives(latency_p95_s=1.0, backlog=5000).bounds
    {'latency_p95_s': 1.0, 'backlog': 5000}
    >>> Objectives(worker_hour=0.0612, currency="USD").cost_unit
    'USD'
    """

    latency_mean_s: float | None = None
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    latency_p99_s: float | None = None
    backlog: float | None = None
    allowed_violations: float = 0.05
    """Share of a run's seconds that may break a bound."""
    worker_hour: float | None = None
    """Price of one worker for an hour."""
    node_hour: float | None = None
    """Price of one node for an hour, where nodes are what is paid for."""
    violation_minute: float | None = None
    """Price of sixty violated seconds."""
    currency: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not value >= 0:
                raise ValueError(f"objective {field.name} must not be negative, and is {value}")
        if self.allowed_violations > 1:
            raise ValueError(f"objective allowed_violations is a share of seconds, and is {self.allowed_violations}")

    @property
    def bounds(self) -> dict[str, float]:
        """The bounded columns with their bounds."""
        values = {name: getattr(self, name) for name in BOUNDED}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def priced(self) -> bool:
        return any(price is not None for price in (self.worker_hour, self.node_hour, self.violation_minute))

    @property
    def cost_unit(self) -> str:
        return self.currency if self.priced else "worker h"


def cost(worker_seconds: float, node_seconds: float, violated_seconds: float, objectives: Objectives) -> float:
    """What a run costs: worker-hours, node-hours and violated minutes, each at its price.

    Without any price a worker-hour counts 1; once there is one, what has no price is free.

    >>> cost(7200, 3600, 0, Objectives())
    2.0
    >>> cost(7200, 3600, 120, Objectives(worker_hour=0.5, violation_minute=0.25))
    1.5
    >>> cost(7200, 3600, 120, Objectives(node_hour=2.0))
    2.0
    """
    if not objectives.priced:
        return worker_seconds / 3600
    spent = worker_seconds / 3600 * (objectives.worker_hour or 0.0)
    if objectives.node_hour is not None:  # not every place knows its nodes
        spent += node_seconds / 3600 * objectives.node_hour
    return spent + violated_seconds / 60 * (objectives.violation_minute or 0.0)
