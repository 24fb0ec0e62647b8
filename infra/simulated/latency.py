"""How late the events of a step come out, compiled."""

from __future__ import annotations

import math
from typing import Any

from autoscalers.model import Floats
from infra.simulated import queues
from infra.simulated.compiled import compiled
from infra.simulated.layout import MEAN, P50, P95, P99, THROUGHPUT, Constants

#: Standard normal quantiles, and what an exponential tail multiplies its mean with.
Z95, Z99 = 1.6448536269514722, 2.3263478740408408
TAIL50, TAIL95, TAIL99 = math.log(2.0), math.log(20.0), math.log(100.0)


@compiled
def settle(age_s: float, constants: Constants, waits: Floats) -> None:
    """For a while after a restart events are late by this much at least, even if next to none waited."""
    left_s = constants.settle_s - age_s
    if left_s <= 0.0:
        return
    falls_s = constants.settle_s - constants.settle_flat_s
    late = constants.settle_latency_s * (1.0 if left_s >= falls_s else left_s / falls_s)
    for i in range(waits.size):
        waits[i] = max(waits[i], late)


@compiled
def tell(s: Any, row: Floats, constants: Constants, capacity: float, waits: Floats, queueing: float) -> None:
    """End-to-end latency of the events that came out: base, plus waiting in the source, plus queueing at a worker."""
    spread = constants.latency_spread
    load = row[THROUGHPUT] / capacity if capacity > 0.0 else 1.0
    base = constants.latency_base_s + constants.latency_idle_s * math.exp(-load / constants.latency_idle_load)
    late = s.network_delay_s
    row[MEAN] = base * math.exp(0.5 * spread * spread) + late + waits[queues.MEAN_WAIT] + queueing
    row[P50] = base + late + waits[queues.WAIT50] + TAIL50 * queueing
    row[P95] = base * math.exp(spread * Z95) + late + waits[queues.WAIT95] + TAIL95 * queueing
    row[P99] = base * math.exp(spread * Z99) + late + waits[queues.WAIT99] + TAIL99 * queueing
