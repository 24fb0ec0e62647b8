"""Plan: how long a change of the scale-out, or a failure, would take to recover from.

Waiting then are the events since the last checkpoint, in the worst case a whole interval's, and those that arrive
while the job is down. The job has recovered as soon as the capacity left over by new arrivals has made up for them.

Reference
---------
Pfister et al. (Daedalus, ICPE 2024), section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

import numpy as np

from autoscalers.daedalus.welford import Moments
from autoscalers.model import Floats


def predict(
    capacity: float, replayed: float, forecast: Floats, downtime_s: float, *, downtime_twice: bool = False
) -> float:
    """Seconds from the stop until the job has caught up; infinite if that is beyond the forecast.

    `replayed` events come again from the last checkpoint; `forecast` has the events/s of each second from the stop on.
    `downtime_twice` adds the downtime to a time that already contains it, as the authors' program does.

    >>> predict(150.0, replayed=1000.0, forecast=np.full(900, 100.0), downtime_s=30)
    110.0
    """
    down = ceil(downtime_s)
    backlog = replayed + float(forecast[:down].sum())
    made_up = np.cumsum(capacity - forecast[down:])
    enough = np.flatnonzero(made_up >= backlog)
    if enough.size == 0:
        return float("inf")
    return float(down + enough[0] + 1 + (down if downtime_twice else 0))


@dataclass(slots=True)
class Downtimes:
    """How long the job will be down, learned from how long it was; the first guess counts as one observation.

    >>> downtimes = Downtimes(out_s=30.0, in_s=15.0)
    >>> downtimes.learn(10.0, outwards=True)
    >>> downtimes.expected(outwards=True), downtimes.expected(outwards=False)
    (20.0, 15.0)
    """

    out_s: float
    in_s: float
    _seen: dict[bool, Moments] = field(default_factory=dict)

    def learn(self, seconds: float, *, outwards: bool) -> None:
        self._moments(outwards).update(np.array([seconds]))

    def expected(self, *, outwards: bool) -> float:
        return self._moments(outwards).mean

    def _moments(self, outwards: bool) -> Moments:
        first = self.out_s if outwards else self.in_s
        return self._seen.setdefault(outwards, Moments(count=1, mean=first))
