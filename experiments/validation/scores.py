"""How far a replay is from the run it replays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autoscalers.model import Flags, Floats
from experiments.validation.interruptions import Interruption, find, find_by_action
from experiments.validation.measured import LATE_S, Measured
from experiments.validation.replay import Replay

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Pair:
    """The same figure twice; NaN where it was not measured."""

    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """Relative to what was measured.

        >>> round(Pair(100.0, 98.0).error, 9)
        -0.02
        """
        return self.simulated / self.measured - 1.0 if self.measured else NAN

    @property
    def difference(self) -> float:
        return self.simulated - self.measured


@dataclass(frozen=True, slots=True)
class Score:
    """One run's figures; `outside` are the seconds that no interruption touches in either series."""

    throughput: Pair
    lag_mean: Pair
    lag_final: Pair
    latency_mean: Pair
    latency_p95: Pair
    latency_mean_outside: Pair
    latency_p95_outside: Pair
    cpu: Pair
    outside: float
    """Share of the seconds."""
    late: float
    """Share of the seconds in which the measured job was overloaded: ten seconds late or more."""


def score(run: Measured, replayed: Replay, seen: list[Interruption], simulated: list[Interruption]) -> Score:
    outside = ~(touched(seen, run.seconds) | touched(simulated, run.seconds))
    known = np.isfinite(run.latency_s)
    return Score(
        throughput=_means(run.throughput, replayed.throughput),
        lag_mean=_means(run.lag, replayed.lag),
        lag_final=_means(run.lag[-_FINAL_S:], replayed.lag[-_FINAL_S:]),
        latency_mean=_means(run.latency_s, replayed.latency_s),
        latency_p95=_tails(run.latency_s, replayed.latency_s),
        latency_mean_outside=_means(run.latency_s[outside], replayed.latency_s[outside]),
        latency_p95_outside=_tails(run.latency_s[outside], replayed.latency_s[outside]),
        cpu=_means(run.cpu, replayed.cpu),
        outside=float(outside.mean()),
        late=float((run.latency_s[known] > LATE_S).mean()) if known.any() else NAN,
    )


#: The lag that a run ends with is that of its last minutes.
_FINAL_S = 300


def seen_in(run: Measured, series: Measured | Replay) -> list[Interruption]:
    """By outages where seconds show them, by actions where they do not."""
    if run.scrape_period_s > 1:
        return find_by_action(series.latency_s, run.actions)
    return find(series.throughput, series.latency_s, run.actions)


def touched(interruptions: list[Interruption], seconds: int) -> Flags:
    """Seconds from each interruption until latency was usual again; if it was not, until the next."""
    flags = np.zeros(seconds, dtype=np.bool_)
    begins = [*(one.begin_s for one in interruptions), seconds]
    for one, following in zip(interruptions, begins[1:], strict=True):
        end = one.begin_s + one.recovery_s
        flags[max(0, one.begin_s - _EARLIER_S) : following if np.isnan(end) else int(end)] = True
    return flags


#: A failure stops the job some time before its outage is seen.
_EARLIER_S = 30


def _means(measured: Floats, simulated: Floats) -> Pair:
    return _pair(measured, simulated, lambda known: float(known.mean()))


def _tails(measured: Floats, simulated: Floats) -> Pair:
    return _pair(measured, simulated, lambda known: float(np.quantile(known, 0.95)))


def _pair(measured: Floats, simulated: Floats, figure: Callable[[Floats], float]) -> Pair:
    """Of what was read, in each; a figure that was never measured has no counterpart."""
    read, replayed = measured[np.isfinite(measured)], simulated[np.isfinite(simulated)]
    if not read.size or not replayed.size:
        return Pair(NAN, NAN)
    return Pair(figure(read), figure(replayed))
