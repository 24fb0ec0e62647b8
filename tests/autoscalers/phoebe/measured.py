"""What Phoebe itself measured and logged (dos-group/phoebe, Apache-2.0)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class Spell(NamedTuple):
    """Two minutes of profiling."""

    workers: int
    throughput: float
    latency_s: float
    overload: bool


def spells() -> list[Spell]:
    """The profiling of the traffic job."""
    with (Path(__file__).parent / "profiles.csv").open(encoding="utf-8") as stream:
        next(stream)  # where it comes from
        return [
            Spell(
                int(row["scaleOut"]),
                float(row["avgThr"]),
                float(row["avgLat"]) / 1000,
                overload=row["isBckPres"] == "1",
            )
            for row in csv.DictReader(stream)
        ]


#: Events/s in overloaded spells of later runs of the same job (scale-outs with five such spells or more).
CAPACITY_SEEN_LATER = {4: 61_635, 5: 79_052, 8: 116_431, 10: 145_509, 12: 168_737, 15: 204_574, 16: 216_440}

#: The first evaluation of run 1 of the advertising job, at second 622 with 14 workers: recovery times in seconds of 2
#: to 24 workers. The load is a sine from 0 to 200,000 events/s with a period of two hours.
RECOVERY_LOGGED = dict(
    zip(
        range(2, 25),
        [
            *(2356.4, 1805.2, 1469.66, 1243.92, 1081.67, 959.42, 864.0, 787.45, 724.69, 672.28, 627.88, 589.76),
            *(556.69, 527.72, 502.14, 479.39, 459.01, 440.66, 424.06, 408.95, 180.67, 173.66, 166.33),
        ],
        strict=True,
    )
)
#: The same for latencies in milliseconds: all of 2 to 9 workers are alike, and all others.
LATENCY_LOGGED = {
    workers: 1335.44 if workers < 10 else 44888.2 if workers < 16 else 44888.19 for workers in range(2, 25)
}

#: Two evaluations of the same run with 2 workers at hardly any load, and which scale-out had the best recovery time.
QUIET_LOGGED = [
    (
        [
            *(95.66, 94.15, 93.34, 92.75, 92.37, 92.04, 91.82, 91.64, 91.49, 91.37, 91.26, 91.17, 91.1, 91.0, 90.94),
            *(90.89, 90.84, 90.8, 90.76, 90.73, 90.7, 90.67, 90.64),
        ],
        14,
    ),
    (
        [
            *(103.95, 100.21, 97.94, 96.57, 95.58, 94.83, 94.3, 93.83, 93.49, 93.2, 92.92, 92.71, 92.53, 92.38, 92.24),
            *(92.11, 91.98, 91.88, 91.79, 91.71, 91.64, 91.57, 91.51),
        ],
        11,
    ),
]
