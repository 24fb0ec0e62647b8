"""How long it takes to recover if the job failed now.

Everything since the last checkpoint is done again, what arrives during the downtime waits, and while that is worked
off at full capacity more arrives. The time is over when the work that was done equals the work that came in:

    capacity · t = arrivals from the last checkpoint until downtime + t,    recovery time = downtime + t

Nothing is known to arrive beyond the forecast: for a scale-out that does not catch up within it, the time is that of
all the work there is.

The authors' program finds the moment by slices: the work of a slice takes as long as the next slice lasts, until one
takes less than a second. It rounds the length of each slice up to whole seconds, and so never ends before the
forecast does if the load is above half the capacity: two seconds of load take more than one, which is two seconds
again. Their logs have the jump (from 409 s with 21 workers to 181 s with 22). Both ways are here.

Reference
---------
Geldenhuys et al. (Phoebe, ICWS 2022): the recovery time model, in the form of the authors' code (dos-group/phoebe).
"""

from __future__ import annotations

import math

import numpy as np

from autoscalers.model import Floats


def recovery_times(capacity: Floats, past: Floats, forecast: Floats, downtime_s: float, replayed_s: float) -> Floats:
    """Seconds until the backlog of a failure now is gone, for each capacity in events/s; infinite without capacity.

    `past` and `forecast` are the workload of the seconds before and after the failure.

    >>> load = np.full(600, 50.0)
    >>> recovery_times(np.array([100.0, 75.0, 60.0]), load, load, downtime_s=90.0, replayed_s=10.0).round().tolist()
    [190.0, 290.0, 590.0]
    """
    replayed = float(past[-max(1, round(replayed_s)) :].mean()) * replayed_s if past.size else 0.0
    horizon = forecast.size
    arrived = np.concatenate([[0.0], np.cumsum(forecast)])  # from the failure until each second
    moments = np.concatenate([np.arange(max(0.0, horizon - downtime_s)), [max(0.0, horizon - downtime_s)]])
    work = replayed + np.interp(downtime_s + moments, np.arange(horizon + 1.0), arrived)
    total = replayed + float(arrived[-1])
    found = np.full(capacity.size, np.inf)
    for index, rate in enumerate(capacity):
        if rate <= 0.0:
            continue
        ahead = rate * moments - work
        done = int(np.argmax(ahead >= 0.0))
        if ahead[done] < 0.0:
            found[index] = downtime_s + total / rate
        elif done == 0:
            found[index] = downtime_s
        else:
            share = -ahead[done - 1] / (ahead[done] - ahead[done - 1])  # both grow evenly within a second
            found[index] = downtime_s + moments[done - 1] + share * (moments[done] - moments[done - 1])
    return found


def published_recovery_times(
    capacity: Floats, past: Floats, forecast: Floats, downtime_s: float, replayed_s: float
) -> Floats:
    """The same by the authors' slices.

    >>> load = np.full(600, 50.0)
    >>> published_recovery_times(np.array([125.0, 75.0]), load, load, 90.0, 10.0).round().tolist()
    [157.0, 497.0]
    """
    replayed = past[past.size - round(replayed_s) :] if round(replayed_s) else past[:0]
    arrived = np.concatenate([[0.0], np.cumsum(np.concatenate([replayed, forecast]))])
    known = arrived.size - 1
    found = np.full(capacity.size, np.inf)
    for index, rate in enumerate(capacity):
        if rate <= 0.0:
            continue
        begin, end, catch_up_s = 0, replayed.size + math.ceil(downtime_s), 0.0
        while begin < known:
            took_s = float(arrived[min(end, known)] - arrived[begin]) / rate
            catch_up_s += took_s
            if took_s < 1.0:
                break
            begin, end = end, end + math.ceil(took_s)
        found[index] = downtime_s + catch_up_s
    return found
