"""The load generator's processes, as the place handles them."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np

from autoscalers.model import Floats
from infra.local.household import Household, Part
from infra.local.load import Orders
from jobs.runtime import Deployment, Program

EACH = 120_000.0
"""Events/s that one process makes with room to spare; byte for byte less for large events."""
_BYTES = 30e6


class Generators:
    """As many processes as the peak needs, each with partitions of its own and an equal part of the load."""

    def __init__(
        self,
        household: Household,
        program: Program,
        deployment: Deployment,
        *,
        name: str,
        curve: Floats,
        partitions: int,
        seed: int,
        processes: int = 0,
        extra: tuple[tuple[float, int], ...] = (),
    ) -> None:
        most = min(EACH, _BYTES / program.event_bytes)
        count = processes or max(1, math.ceil(float(curve.max(initial=0.0)) / most))
        count = min(count, partitions)
        self._files: list[Path] = []
        self.parts: list[Part] = []
        for index in range(count):
            orders = Orders(
                job=program.name,
                broker=deployment.broker,
                topic=deployment.input,
                partitions=partitions,
                own=tuple(range(index, partitions, count)),
                seed=seed,
                curve=tuple(float(value) / count for value in curve),
                extra=tuple((at, events // count + (index < events % count)) for at, events in extra),
                event_bytes=program.event_bytes,
            )
            path = household.room("load") / f"{name}-{index}.json"
            orders.write(path)
            self._files.append(path)
            command = [sys.executable, "-m", "infra.local.load", str(path)]
            self.parts.append(household.start(f"{name}-{index}", command, attached=True))

    def begin(self, start: float) -> None:
        """Say when the curve begins."""
        for part in self.parts:
            assert part.process.stdin is not None, "started attached"
            part.process.stdin.write(f"{start:.3f}\n".encode())
            part.process.stdin.flush()

    def stop(self) -> None:
        """End at once what is not at its end; what was made is delivered."""
        for part in self.parts:
            if part.process.stdin is not None:
                part.process.stdin.close()
        for part in self.parts:
            part.process.wait(90)

    def sent(self, seconds: int) -> Floats:
        """Events sent in each of the first seconds, by the control log; NaN where that is not told yet."""
        total = np.zeros(seconds)
        for path in self._files:
            own = np.full(seconds, np.nan)
            for line in _lines(path.with_suffix(".log")):
                if isinstance(line, list) and line[0] < seconds:
                    own[line[0]] = line[2]
            total += own
        return total

    def totals(self) -> tuple[int, int]:
        """Events sent and delivered, once all processes have ended."""
        ends = [line for path in self._files for line in _lines(path.with_suffix(".log")) if isinstance(line, dict)]
        return sum(end["sent"] for end in ends), sum(end["delivered"] for end in ends)


def _lines(path: Path) -> list[list[int] | dict[str, int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
