"""A load that wanders."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import PlainValidator
from pydantic.dataclasses import dataclass
from scipy.special import ndtr

from workloads.model import Floats, Timeline
from workloads.noise import autocorrelated
from workloads.shapes.base import STRICT, Banded, shape
from workloads.units import parse_whole_seconds

Seconds = Annotated[int, PlainValidator(parse_whole_seconds)]


@shape("random-walk")
@dataclass(frozen=True, kw_only=True, config=STRICT)
class RandomWalk(Banded):
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
        position = autocorrelated(timeline.generator(), timeline.duration_s, self.memory)
        return self.between(np.asarray(ndtr(position)))
