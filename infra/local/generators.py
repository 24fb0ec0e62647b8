"""The load generator's processes, as the place handles them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from autoscalers.model import Floats
from infra.local.household import Household, Part
from infra.local.load import Orders
from jobs.runtime import Deployment, Program

EACH = 120_000.0
"""Events/s that one process makes with room to spare."""
_BYTES = 30e6
"""Bytes/s, where events are large."""
WARMUP, LOAD = "warmup", "load"


class Generators:
    """As many processes as the peak needs, each with partitions of its own and an equal part of the load."""

    def __init__(
        self,
        household: Household,
        program: Program,
        deployment: Deployment,
        *,
        curves: Mapping[str, Floats],
        partitions: int,
        seed: int,
        processes: int = 0,
        extra: tuple[tuple[float, int], ...] = (),
    ) -> None:
        most = min(EACH, _BYTES / program.event_bytes)
        peak = max(float(curve.max(initial=0.0)) for curve in curves.values())
        count = min(partitions, processes or max(1, math.ceil(peak / most)))
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
                curves={name: tuple(float(rate) / count for rate in curve) for name, curve in curves.items()},
                extra=tuple((at, events // count + (index < events % count)) for at, events in extra),
                event_bytes=program.event_bytes,
                options=deployment.options,
            )
            name = f"load-{deployment.input}-{index}"
            path = household.room("load") / f"{name}.json"
            orders.write(path)
            self._files.append(path)
            command = [sys.executable, "-m", "infra.local.load", str(path)]
            self.parts.append(household.start(name, command, attached=True))

    @property
    def ready(self) -> bool:
        return all(path.with_suffix(".ready").exists() for path in self._files)

    def play(self, name: str, start: float) -> None:
        """Follow a curve that begins at this moment."""
        self._tell(f"play {name} {start:.3f}")

    def rest(self) -> None:
        """Stop what is played."""
        self._tell("rest")

    def finish(self, patience_s: float = 90.0) -> None:
        """Let what is played come to an end, and the processes too."""
        for part in self.parts:
            if part.process.stdin is not None:
                part.process.stdin.close()
        for part in self.parts:
            part.process.wait(patience_s)

    def sent(self, seconds: int) -> Floats:
        """Events sent in each of the first seconds, by the control log; NaN where that is not told yet."""
        total = np.zeros(seconds)
        for path in self._files:
            own = np.full(seconds, np.nan)
            for line in _lines(path):
                if isinstance(line, list) and line[0] < seconds:
                    own[line[0]] = line[2]
            total += own
        return total

    @property
    def totals(self) -> tuple[int, int] | None:
        """Events sent and delivered, once all processes are through with the load."""
        ends = [line for path in self._files for line in _lines(path) if isinstance(line, dict)]
        if len(ends) < len(self._files):
            return None
        return sum(end["sent"] for end in ends), sum(end["delivered"] for end in ends)

    def _tell(self, command: str) -> None:
        for part in self.parts:
            assert part.process.stdin is not None, "started attached"
            part.process.stdin.write(f"{command}\n".encode())
            part.process.stdin.flush()


def _lines(path: Path) -> list[list[int] | dict[str, int]]:
    try:
        text = path.with_suffix(f".{LOAD}.log").read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
