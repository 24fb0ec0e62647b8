"""What a report is about: the campaign as it was planned and ended, and its result tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis import results as result_tables
from analysis.cost import Objectives
from analysis.figures import Scenario
from experiments.schema import RESULT_TABLES


@dataclass(frozen=True, slots=True)
class ExperimentInfo:
    """One experiment of the suite."""

    id: str
    label: str
    job: str
    workload: str
    autoscaler: str
    place: str
    planned: int
    """Repetitions that the suite asks for."""
    finished: int
    """Repetitions in the archive."""

    @property
    def scenario(self) -> Scenario:
        return Scenario(self.job, self.workload, self.place)


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run without results."""

    run_id: str
    label: str
    error: str
    """The last line of what went wrong."""
    log: str
    """Where to read on, relative to the campaign's folder in the archive."""


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What the tables do not say."""

    suite: str
    description: str
    places: Sequence[str]
    objectives: Objectives
    baseline: str | None = None
    """The autoscaler, by its label, that the others are measured against."""
    experiments: Sequence[ExperimentInfo] = ()
    failed: Sequence[FailedRun] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def autoscalers(self) -> list[str]:
        """In the suite's order."""
        return list(dict.fromkeys(experiment.autoscaler for experiment in self.experiments))


@dataclass(frozen=True, slots=True)
class Tables:
    """The result tables; one that was not written is empty."""

    frames: Mapping[str, pd.DataFrame]

    @classmethod
    def load(cls, results: Path) -> Tables:
        return cls(
            {
                name: result_tables.read(results, name)
                if result_tables.exists(results, name)
                else pd.DataFrame(columns=schema.names)
                for name, schema in RESULT_TABLES.items()
            }
        )

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.frames[name]

    def by_experiment(self, name: str) -> dict[str, pd.DataFrame]:
        """A table's rows, experiment by experiment."""
        return {str(experiment): rows for experiment, rows in self.frames[name].groupby("experiment", sort=False)}
