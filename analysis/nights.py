"""Tonight against the nights before: which figures of which experiments changed by more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from analysis import results as tables
from analysis.catalogue import METRICS
from analysis.statistics import ALPHA, Floats, holm, new_value, same, welch
from analysis.summary import samples
from experiments.schema import RESULT_TABLES

Verdict = Literal["regression", "improvement", "unchanged", "no history"]

#: A fortnight: enough to know the spread, recent enough to be about the same code.
MOST_NIGHTS = 14


def regressions(tonight: Path, before: Sequence[Path]) -> pd.DataFrame:
    """Compare tonight's results with those of the nights before (oldest first), write the table there, and return it.

    Every metric with a better direction is tested in every experiment, tonight's repetitions against
    all of the last fortnight; Holm's correction is over all of these tests, so that a night without a
    change reports one with a probability of at most 5 %. `change` is relative to the nights before,
    and null where those are 0. Nights without results are passed over.
    """
    now = samples(tables.read(tonight, "run_summary"))
    history = _pooled([night for night in before if tables.exists(night, "run_summary")][-MOST_NIGHTS:])
    judged = {key: sample for key, sample in now.items() if METRICS[key[1]].better != "neither"}
    p_values = [_p_value(sample, history.get(key, np.empty(0))) for key, sample in judged.items()]
    units = _units(tonight)
    rows: list[tuple[object, ...]] = []
    for (key, sample), p, corrected in zip(judged.items(), p_values, holm(p_values), strict=True):
        experiment, metric = key
        mean = float(sample.mean())
        earlier = float(history[key].mean()) if key in history else None
        change = (mean - earlier) / abs(earlier) if earlier else None
        verdict = _verdict(metric, mean, earlier, corrected)
        rows.append(
            (experiment, metric, units.get(key, METRICS[metric].unit), earlier, mean, change, p, corrected, verdict)
        )
    table = pd.DataFrame(rows, columns=RESULT_TABLES["regressions"].names)
    tables.write(tonight, "regressions", table)
    return tables.read(tonight, "regressions")


def _pooled(nights: Sequence[Path]) -> Mapping[tuple[str, str], Floats]:
    frames = [tables.read(night, "run_summary") for night in nights]
    return samples(pd.concat(frames)) if frames else {}


def _p_value(now: Floats, before: Floats) -> float | None:
    """None where there is too little history to know how much the figure varies by itself."""
    if now.size > 1 and before.size > 1:
        return welch(now, before)
    if now.size == 1 and before.size > 1:
        return new_value(float(now[0]), before)
    # One value before: the same figure is unchanged, of another nobody can tell whether it is chance.
    return 1.0 if before.size == 1 and all(same(value, before[0]) for value in now) else None


def _verdict(metric: str, now: float, before: float | None, p: float | None) -> Verdict:
    if before is None or p is None:
        return "no history"
    if p >= ALPHA:
        return "unchanged"
    lower = now < before
    return "improvement" if lower == (METRICS[metric].better == "lower") else "regression"


def _units(results: Path) -> dict[tuple[str, str], str]:
    """Units as the summary has them, since that of cost depends on the suite."""
    if not tables.exists(results, "summary"):
        return {}
    summary = tables.read(results, "summary")
    return {
        (experiment, metric): unit
        for experiment, metric, unit in zip(summary["experiment"], summary["metric"], summary["unit"], strict=True)
    }
