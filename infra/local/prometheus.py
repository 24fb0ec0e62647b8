"""Prometheus on loopback with a fresh directory, and what it has seen, on a grid of seconds.

A reused directory would answer with series of the last run for minutes. Raw samples are fetched, never `rate()`: they
have the moment at which they were taken, so that a counter can be read at any second in between.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException

from autoscalers.model import Floats
from infra.local.errors import LocalError
from infra.local.household import Household, Part
from infra.local.ports import LOOPBACK

PACKAGE = "prometheus"
STALE_S = 3.5
"""A value that is older, or lies in a gap that is wider, is not known."""
_QUERY_S = 10.0
_EMPTY: Floats = np.empty(0)


@dataclass(frozen=True, slots=True)
class Series:
    """The samples of one series, in the order of time."""

    labels: Mapping[str, str]
    time_s: Floats
    value: Floats

    def gauge(self, grid: Floats, stale_s: float = STALE_S) -> Floats:
        """The last value at each moment of the grid; NaN where that is stale.

        >>> Series({}, np.array([0.0, 1.0, 2.0]), np.array([5.0, 6.0, 7.0])).gauge(np.array([1.5, 9.0]))
        array([ 6., nan])
        """
        if not self.time_s.size:
            return np.full(grid.size, np.nan)
        last = np.searchsorted(self.time_s, grid, side="right") - 1
        found = np.where(last >= 0, self.value[last], np.nan)
        return np.where(grid - self.time_s[last] <= stale_s, found, np.nan)

    def rate(self, grid: Floats) -> Floats:
        """A counter's growth in each second that begins on the grid; NaN in gaps, and where it began anew.

        >>> Series({}, np.array([0.0, 2.0, 4.0]), np.array([0.0, 20.0, 60.0])).rate(np.array([0.0, 1.0, 2.0, 9.0]))
        array([10., 10., 20., nan])
        """
        grown = self._between(grid + 1.0) - self._between(grid)
        return np.where(grown >= 0, grown, np.nan)

    def _between(self, moments: Floats) -> Floats:
        if self.time_s.size < 2:
            return np.full(moments.size, np.nan)
        after = np.clip(np.searchsorted(self.time_s, moments), 1, self.time_s.size - 1)
        gap = self.time_s[after] - self.time_s[after - 1]
        fresh = (moments >= self.time_s[0] - 1.0) & (moments <= self.time_s[-1] + 1.0) & (gap <= STALE_S)
        # at the edges the slope of the nearest samples goes on, for less than one interval of the scrapes
        slope = (self.value[after] - self.value[after - 1]) / np.maximum(gap, 1e-3)
        value = self.value[after - 1] + slope * (moments - self.time_s[after - 1])
        return np.where(fresh, value, np.nan)


class Samples:
    """What Prometheus has of one stretch of time."""

    def __init__(self, answer: Sequence[Mapping[str, object]] = ()) -> None:
        self._series: dict[str, list[Series]] = {}
        for entry in answer:
            labels = dict(entry["metric"])  # type: ignore[call-overload]
            values = np.array(entry["values"], dtype=np.float64)
            self._series.setdefault(labels.pop("__name__"), []).append(Series(labels, values[:, 0], values[:, 1]))

    def find(self, name: str, **labels: str) -> Series:
        """The series of this name and these labels; one without samples if there is none."""
        for series in self._series.get(name, []):
            if all(series.labels.get(key) == value for key, value in labels.items()):
                return series
        return Series(labels, _EMPTY, _EMPTY)

    def all(self, name: str) -> list[Series]:
        return self._series.get(name, [])


class Prometheus:
    """A server that scrapes each second."""

    def __init__(self, household: Household, port: int, targets: Mapping[str, int]) -> None:
        self._household = household
        self._port = port
        self._folder = household.room("prometheus")
        jobs = [
            {"job_name": name, "static_configs": [{"targets": [f"{LOOPBACK}:{port}"]}]}
            for name, port in targets.items()
        ]
        every = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
        # JSON is YAML, too
        (self._folder / "prometheus.yml").write_text(json.dumps({"global": every, "scrape_configs": jobs}))
        session = requests.Session()
        session.trust_env = False  # no proxy stands between this machine and itself
        self._client = PrometheusConnect(url=f"http://{LOOPBACK}:{port}", session=session, timeout=_QUERY_S)
        self.part: Part | None = None

    def start(self) -> Part:
        program = shutil.which("prometheus")
        if program is None:
            raise LocalError(f"prometheus was not found; on Debian or Ubuntu: apt-get install {PACKAGE}")
        command = [
            program,
            f"--config.file={self._folder}/prometheus.yml",
            f"--storage.tsdb.path={self._folder}/data",
            f"--web.listen-address={LOOPBACK}:{self._port}",
            "--storage.tsdb.retention.time=30d",
            "--query.lookback-delta=4s",
            "--query.max-samples=200000000",
            "--log.level=warn",
        ]
        self.part = self._household.start("prometheus", command)
        return self.part

    def await_ready(self) -> None:
        assert self.part is not None, "started"
        self._household.await_("waiting for Prometheus", self._sees_targets, self.part)

    def samples(self, start: float, end: float) -> Samples:
        """All samples of `tidebed_*` between two moments (seconds since the epoch); none if it does not answer."""
        span = max(1, int(end - start))
        try:
            answer = self._client.custom_query(f'{{__name__=~"tidebed_.+"}}[{span}s]', params={"time": f"{end:.3f}"})
        except (requests.RequestException, PrometheusApiClientException):
            return Samples()
        return Samples(answer)

    def _sees_targets(self) -> bool:
        try:
            up = self._client.custom_query("up")
        except (requests.RequestException, PrometheusApiClientException):
            return False
        return bool(up) and all(float(entry["value"][1]) == 1 for entry in up)
