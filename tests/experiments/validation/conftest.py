"""Runs that the plant itself makes, so that the truth about them is known; and the full data where they are at hand."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from experiments.validation.clusters import CLUSTERS
from experiments.validation.measured import Action, Measured
from experiments.validation.replay import replay

Make = Callable[..., Measured]


@pytest.fixture
def made() -> Make:
    """A run as the plant does it, passed off as measured."""

    def make(
        actions: tuple[Action, ...] = (),
        *,
        cluster: str = "demeter",
        seconds: int = 1800,
        workers: int = 8,
        load: float = 40_000.0,
        seed: int = 7,
        job: str = "cars",
        system: str = "reactive",
        period_s: int = 1,
    ) -> Measured:
        unknown = np.full(seconds, np.nan)
        curve = load * (1.0 + 0.2 * np.sin(np.arange(seconds) / 300.0))
        blank = Measured(
            "made", "Demeter", cluster, job, system, *([curve] + [unknown] * 5), actions, workers, period_s
        )  # fmt: skip
        seen = replay(blank, CLUSTERS[cluster], seed)
        return Measured(
            name="made",
            source="Demeter",
            cluster=cluster,
            job=job,
            system=system,
            workload=curve,
            throughput=seen.throughput,
            latency_s=seen.latency_s,
            workers=seen.workers,
            cpu=seen.cpu,
            lag=seen.lag,
            actions=actions,
            first_workers=workers,
            scrape_period_s=period_s,
        )

    return make


@pytest.fixture(scope="session")
def full_data() -> Path:
    """The folder of all measured runs, which is too large, and in part not free, to come with Tidebed."""
    folder = os.environ.get("TIDEBED_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TIDEBED_DATA names no folder with measured runs: only the extracts are compared")
    return Path(folder)
