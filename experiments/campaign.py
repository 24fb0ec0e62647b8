"""A campaign: one execution of a suite, from its plan to its report. The command line and the DAGs both call this."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import infra
from experiments.archive import Archive, RunFolder, default_root, surroundings
from experiments.errors import UserError, did_you_mean
from experiments.execution import Finished, execute_all
from experiments.planning import Experiment, Run, plan
from experiments.suite import Suite, load

if TYPE_CHECKING:
    from analysis.aggregate import RunRecord
    from analysis.objectives import Objectives
    from analysis.report import ReportContext

OnFinished = Callable[[Finished], None]


@dataclass(frozen=True)
class FailedRun:
    """A run without data, and why."""

    run_id: str
    label: str
    error: str
    log: Path


@dataclass
class Outcome:
    """What became of some runs."""

    done: int = 0
    skipped: int = 0
    failed: list[FailedRun] = field(default_factory=list)


@dataclass(frozen=True)
class Campaign:
    """A suite, its planned experiments, and the archive that they fill."""

    suite: Suite
    archive: Archive
    experiments: tuple[Experiment, ...]

    @classmethod
    def open(
        cls,
        suite: str,
        *,
        archive: Path | None = None,
        place: str | None = None,
        repetitions: int | None = None,
        only: Sequence[str] = (),
        seed: int | None = None,
    ) -> Campaign:
        """Read the suite and plan it. Nothing is started yet."""
        loaded = load(suite)
        if repetitions is not None and repetitions < 1:
            raise UserError(f"repetitions: {repetitions} is too few; at least 1 is needed")
        experiments = plan(loaded, place=place, repetitions=repetitions, only=only, seed=seed)
        return cls(loaded.suite, Archive((archive or default_root()).resolve(), loaded.suite.name), experiments)

    @property
    def runs(self) -> list[Run]:
        return [run for experiment in self.experiments for run in experiment.runs]

    def folder(self, run: Run) -> RunFolder:
        return self.archive.run(run.run_id)

    def pending(self, runs: Sequence[Run], *, fresh: bool = False) -> list[Run]:
        """The runs that still have to be done, each id once."""
        distinct = {run.run_id: run for run in runs}
        return [run for run in distinct.values() if fresh or not self.folder(run).finished]

    def experiment(self, identity: str) -> Experiment:
        for experiment in self.experiments:
            if experiment.id == identity:
                return experiment
        known = [experiment.id for experiment in self.experiments]
        raise UserError(f'{self.suite.name}: unknown experiment "{identity}"{did_you_mean(identity, known)}')

    def provision(self) -> list[str]:
        """Make the places ready: what a crashed campaign left behind goes first. Returns a line for each thing removed."""
        return [line for place in self._places() for line in place.sweep()]

    def release(self) -> list[str]:
        """Remove whatever this campaign's places still hold."""
        return self.provision()

    def run_all(self, *, fresh: bool = False, workers: int | None = None, on_finished: OnFinished | None = None) -> Outcome:
        """Do what is missing of all experiments."""
        return self._run(self.runs, fresh=fresh, workers=workers, on_finished=on_finished)

    def run_experiment(
        self, identity: str, *, fresh: bool = False, workers: int | None = None, on_finished: OnFinished | None = None
    ) -> Outcome:
        """Do what is missing of one experiment."""
        return self._run(self.experiment(identity).runs, fresh=fresh, workers=workers, on_finished=on_finished)

    def _run(
        self, runs: Sequence[Run], *, fresh: bool, workers: int | None, on_finished: OnFinished | None
    ) -> Outcome:
        pending = self.pending(runs, fresh=fresh)
        outcome = Outcome(skipped=len(runs) - len(pending))
        alone = any(place.exclusive for place in self._places())
        for finished in execute_all(pending, self.archive, 1 if alone else workers or os.cpu_count() or 1):
            if finished.error is None:
                outcome.done += 1
            else:
                outcome.failed.append(self._failed(finished.run, finished.error))
            if on_finished is not None:
                on_finished(finished)
        return outcome

    def failures(self) -> list[FailedRun]:
        """The planned runs that have no data."""
        return list(self._failures())

    def aggregate(self, spark_master: str | None = None) -> Path:
        """Turn the finished runs into the result tables."""
        from analysis.aggregate import aggregate

        records = [self._record(run) for run in self.runs if self.folder(run).finished]
        if not records:
            raise UserError(f"{self.suite.name}: no run finished, so there is nothing to aggregate")
        aggregate(
            records, self.archive.results, objectives=self._objectives(), suite=self.suite.name, spark_master=spark_master
        )
        return self.archive.results

    def report(self) -> Path:
        """Write report.html and report.md from the result tables."""
        from analysis.report import write

        return write(self.archive.results, self._context())

    def _places(self) -> list[infra.Place]:
        return [infra.get(name) for name in dict.fromkeys(experiment.place for experiment in self.experiments)]

    def _failures(self) -> Iterator[FailedRun]:
        for run in self.runs:
            if not self.folder(run).finished:
                yield self._failed(run, self.folder(run).failure or "not run yet")

    def _failed(self, run: Run, error: str) -> FailedRun:
        return FailedRun(run.run_id, run.label, error, self.folder(run).path / "logs")
