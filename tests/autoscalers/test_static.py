from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoscalers
from autoscalers.model import Observation
from autoscalers.testing import observation


@pytest.mark.parametrize("workers", [1, 4, 12])
@pytest.mark.parametrize("cpu", [0.0, 1.0, float("nan")])
def test_it_asks_for_its_number_whatever_happens(workers: int, cpu: float) -> None:
    static = autoscalers.create("static", workers=workers)
    for parallelism in (1, 4, 20):
        assert static.decide(observation(parallelism=parallelism, cpu=cpu)).parallelism == {"job": workers}


def test_it_asks_for_every_operator() -> None:
    view = observation().operators["job"]
    both = Observation(time_s=1, workload=np.ones(1), operators={"split": view, "count": view})
    assert autoscalers.create("static", workers=3).decide(both).parallelism == {"split": 3, "count": 3}


@pytest.mark.parametrize("workers", [0, -1, 2.5, True, "4", None])
def test_what_is_no_number_of_workers(workers: Any) -> None:
    with pytest.raises(ValueError, match=r"^workers: .* is not a whole number of workers, at least 1$"):
        autoscalers.create("static", workers=workers)
