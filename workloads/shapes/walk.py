"""A load that wanders."""

from __future__ import annotations

import numpy as np
from pydantic.dataclasses import dataclass

from workloads.model import Floats, Timeline
from workloads.noise import autocorrelated
from workloads.shapes.base import STRICT, Banded
from workloads.units import Seconds


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RandomWalk(Banded, name="random-walk"):
    """A random walk between low and peak that forgets where it was after about `memory`.

    Step by step it moves like a random walk, but it is pulled back to the middle (an Ornstein-Uhlenbeck process) and
    its distribution is spread evenly over the band: every level is equally likely, and none lies outside. `peak`
    is the bound, which a run of many memories comes near; `{sum: [...], peak: ...}` scales to it exactly.
    """

    memory: Seconds = 600

    @property
    def random(self) -> bool:
        return True

    def rates(self, timeline: Timeline) -> Floats:
        from scipy.special import ndtr  # as slow to import as scipy.signal, which `autocorrelated` imports

        position = autocorrelated(timeline.generator(), timeline.duration_s, self.memory)
        return self.between(np.asarray(ndtr(position)))
