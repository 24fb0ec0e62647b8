"""Noise that leaves the mean as it is: white, autocorrelated, counted, or several of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.model import Floats, Timeline, Workload

_WHITE, _CORRELATED, _COUNTED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Noise(Workload):
    """A workload times random factors.

    The factors are log-normal, so they are never negative; their mean is 1 and their standard deviation the share
    given. White noise is new every second; autocorrelated noise is an AR(1) process that forgets with the time
    constant `correlation_s`. Both together multiply. Counted noise comes last: every `counted_s` seconds the rate is
    drawn from Poisson's distribution with the rate as its mean, as if that many events had been counted.
    """

    base: Workload
    white: float = 0.0
    correlated: float = 0.0
    correlation_s: float = 60.0
    counted_s: int = 0

    @property
    def length_s(self) -> int | None:
        return self.base.length_s

    @property
    def cycle_s(self) -> int | None:
        return None if self.white or self.correlated or self.counted_s else self.base.cycle_s

    @property
    def fits_run(self) -> bool:
        return self.base.fits_run

    @property
    def random(self) -> bool:
        return bool(self.white or self.correlated or self.counted_s) or self.base.random

    def rates(self, timeline: Timeline) -> Floats:
        rates = self.base.rates(timeline.below_noise())
        seconds = timeline.duration_s
        if self.white:
            rates = rates * _factors(timeline.noise_generator(_WHITE).standard_normal(seconds), self.white)
        if self.correlated:
            wander = autocorrelated(timeline.noise_generator(_CORRELATED), seconds, self.correlation_s)
            rates = rates * _factors(wander, self.correlated)
        if self.counted_s:
            starts = rates[:: self.counted_s]
            drawn = timeline.noise_generator(_COUNTED).poisson(starts)
            factors = np.divide(drawn, starts, out=np.ones(starts.size), where=starts > 0)
            rates = rates * np.repeat(factors, self.counted_s)[:seconds]
        return rates


def _factors(normal: Floats, deviation: float) -> Floats:
    """Log-normal factors with mean 1 and this standard deviation, from standard normal values."""
    variance = np.log1p(deviation**2)
    return np.asarray(np.exp(np.sqrt(variance) * normal - variance / 2))


def autocorrelated(generator: np.random.Generator, seconds: int, correlation_s: float) -> Floats:
    """A stationary AR(1) process: standard normal values whose correlation falls to 1/e after `correlation_s`."""
    from scipy.signal import lfilter  # takes longer to import than all the rest; few workloads need it

    kept = np.exp(-1 / correlation_s)
    shocks = generator.standard_normal(seconds)
    shocks[1:] *= np.sqrt(1 - kept**2)  # the first value stands for all that came before
    return np.asarray(lfilter([1.0], [1.0, -kept], shocks))
