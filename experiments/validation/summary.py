"""The results in plain values, for other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from experiments.validation.calibration import Estimate
from experiments.validation.scores import Pair, Score
from experiments.validation.spreads import SHARES
from experiments.validation.validation import Validation


def plain(found: Validation) -> dict[str, Any]:
    """All figures; None where there is none."""
    return {
        "aims": [
            {
                "aim": aim.title,
                "within": aim.limit,
                "unit": aim.unit,
                "verdict": aim.verdict,
                "cases": len(aim.cases),
                "cases_within": len(aim.within),
                "median_error": _value(aim.median),
                "errors": {case.name: _value(case.error) for case in aim.cases},
            }
            for aim in found.aims
        ],
        "runs": [
            {
                "run": one.run.name,
                "source": one.run.source,
                "job": one.run.job,
                "system": one.run.system,
                "calibrated_on": one.run.calibrated,
                "seconds": one.run.seconds,
                **_figures(one.score),
            }
            for one in found.runs
        ],
        "cpu_minutes": [
            {
                "run": one.run,
                "job": one.job,
                "system": one.system,
                "calibrated_on": one.calibrated,
                "minutes": one.minutes,
                "cpu": _pair(one.cpu),
            }
            for one in found.minutes
        ],
        "interruptions": [
            {
                "source": group.source,
                "job": group.job,
                "system": group.system,
                "cause": group.cause,
                "calibrated_on": group.calibrated,
                **{
                    figure: dict(
                        zip(("measured", "simulated"), (asdict(one) for one in group.spreads(figure)), strict=True)
                    )
                    for figure in ("outage_s", "peak_s", "recovery_s")
                },
            }
            for group in found.groups
        ],
        "quantiles_at": list(SHARES),
        "remarks": list(found.remarks),
    }


def plain_estimates(estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
    return [{**asdict(one), "found": list(one.found), "used": list(one.used)} for one in estimates]


def _figures(score: Score) -> dict[str, Any]:
    return {
        name: _pair(value) if isinstance(value, Pair) else _value(value)
        for name in Score.__dataclass_fields__
        for value in (getattr(score, name),)
    }


def _pair(pair: Pair) -> dict[str, float | None]:
    return {"measured": _value(pair.measured), "simulated": _value(pair.simulated)}


def _value(value: float) -> float | None:
    return value if math.isfinite(value) else None
