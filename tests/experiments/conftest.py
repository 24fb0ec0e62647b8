"""Small suites on disk, and autoscalers that misbehave."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from autoscalers import registry
from autoscalers.model import Autoscaler, Decision, Observation

SMALL = """
name: small
duration: 10m
repetitions: 2
jobs: [yahoo]
workloads:
  - {name: flat, shape: constant, peak: 100k}
autoscalers:
  - static: {workers: 3}
  - hpa
objectives: {latency_p95: 5s}
baseline: static
"""


@pytest.fixture
def suite_file(tmp_path: Path) -> Callable[..., str]:
    """Write a suite and return its path; without text, a small one that works."""

    def write(text: str = SMALL, name: str = "suite.yaml") -> str:
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)

    return write


@dataclass(frozen=True)
class RaisingParams:
    """When to fail, and how."""

    after_s: float = 120.0


class Raising(Autoscaler[RaisingParams]):
    """An autoscaler with a fault."""

    period_s = 60.0

    def decide(self, observation: Observation) -> Decision:
        if observation.time_s >= self.params.after_s:
            raise RuntimeError("lost my\nmind")
        return Decision.keep("still fine")


@pytest.fixture
def raising() -> Iterator[None]:
    """Makes the autoscaler `raising` known for the time of one test, in this process."""
    registry.names()
    registry.register("raising", RaisingParams)(Raising)
    yield
    del registry._policies["raising"]
