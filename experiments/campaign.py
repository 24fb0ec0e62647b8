"""A campaign: one execution of a suite, from its plan to its report. The command line and the DAGs both call this."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import infra
from experiments import matrix
from experiments.archive import Archive, RunFolder, default_root, surroundings
from experiments.errors import UserError, did_you_mean
from experiments.execution import Finished, execute_all
from experiments.planning import Experiment, Run, plan
from experiments.provenance import provenance
from experiments.published import statements
from experiments.schema import RESULT_TABLES
from experiments.suite import Suite, load

if TYPE_CHECKING:
    from analysis.cost import Objectives
    from analysis.ranking import Ranking
    from analysis.report_model import ReportContext
    from analysis.runs import RunRecord

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

    def provision(self, *, fresh: bool = False) -> list[str]:
        """Make the places ready, if there is anything to run: what a crashed campaign left behind goes first.

        A line for each thing that was removed. A place that cannot be used now is told before any run has failed.
        """
        if self.pending(self.runs, fresh=fresh):
            reasons = [why for place in self._places() if (why := place.unready())]
            if reasons:
                raise UserError(*(f"{self.suite.name}: {why}" for why in reasons))
        return self.release()

    def release(self) -> list[str]:
        """Remove whatever this campaign's places still hold."""
        return [line for place in self._places() for line in place.sweep()]

    def run_all(
        self, *, fresh: bool = False, workers: int | None = None, on_finished: OnFinished | None = None
    ) -> Outcome:
        """Do what is missing of all experiments."""
        return self._run(self.runs, fresh=fresh, workers=workers, on_finished=on_finished)

    def run_experiment(
        self, identity: str, *, fresh: bool = False, workers: int | None = None, on_finished: OnFinished | None = None
    ) -> Outcome:
        """Do what is missing of one experiment."""
        return self._run(self.experiment(identity).runs, fresh=fresh, workers=workers, on_finished=on_finished)

    def _run(self, runs: Sequence[Run], *, fresh: bool, workers: int | None, on_finished: OnFinished | None) -> Outcome:
        pending = self.pending(runs, fresh=fresh)
        outcome = Outcome(skipped=len(runs) - len(pending))
        if pending:
            self.archive.make_room()
        for finished in execute_all(pending, self.archive, self.at_a_time(workers)):
            if finished.error is None:
                outcome.done += 1
            else:
                outcome.failed.append(self._failed(finished.run, finished.error))
            if on_finished is not None:
                on_finished(finished)
        return outcome

    def at_a_time(self, workers: int | None) -> int:
        """How many runs go on together: one where a place needs the machine to itself."""
        alone = any(place.exclusive for place in self._places())
        return 1 if alone else workers or os.cpu_count() or 1

    def real_seconds(self, runs: Sequence[Run]) -> int:
        """How long these runs take at the least, without what places need to get ready."""
        return sum(run.duration_s for run in runs if infra.get(run.place).real_time)

    def failures(self) -> list[FailedRun]:
        """The planned runs that have no data."""
        return [
            self._failed(run, self.folder(run).failure or "not run yet")
            for run in self.runs
            if not self.folder(run).finished
        ]

    def aggregate(self, spark_master: str | None = None) -> Path:
        """Turn the finished runs into the result tables. Without any, the tables of an earlier time must not stay."""
        from analysis.aggregate import aggregate
        from analysis.errors import AnalysisError

        results = self.archive.results
        results.mkdir(parents=True, exist_ok=True)
        records = {run.run_id: self._record(run) for run in self.runs if self.folder(run).finished}
        if not records:
            for table in RESULT_TABLES:
                (results / f"{table}.parquet").unlink(missing_ok=True)
            return results
        try:
            aggregate(
                list(records.values()),
                results,
                objectives=self.objectives(),
                suite=self.suite.name,
                spark_master=spark_master,
            )
        except AnalysisError as fault:
            raise UserError(str(fault)) from fault
        self._compare()
        return results

    def _compare(self) -> None:
        """Hold the measured figures against the published ones that the suite names, if it does."""
        from analysis import results
        from analysis.comparison import compare

        summary = results.read(self.archive.results, "summary")
        results.write(self.archive.results, "comparison", compare(summary, statements(self.suite, self.experiments)))

    def report(self) -> Path:
        """Write report.html and report.md from the result tables."""
        from analysis.report import write

        self.archive.results.mkdir(parents=True, exist_ok=True)
        written = write(self.archive.results, self._context())
        self._fingerprint_file.write_text(self._fingerprint(), encoding="utf-8")
        return written

    @property
    def reported(self) -> bool:
        """Whether the report says what is archived now, judged as the suite asks now."""
        try:
            return self._fingerprint_file.read_text(encoding="utf-8") == self._fingerprint()
        except OSError:
            return False

    @property
    def _fingerprint_file(self) -> Path:
        return self.archive.results / "report.sha256"

    def _fingerprint(self) -> str:
        """Of everything a report is made of: the runs, each by its manifest, and what the suite says about them."""
        digest = hashlib.sha256(self.suite.model_dump_json().encode())
        digest.update(surroundings()["versions"]["tidebed"].encode())
        for run in self.runs:
            folder = self.folder(run)
            told = (folder.path / "manifest.json").read_bytes() if folder.finished else (folder.failure or "").encode()
            digest.update(run.run_id.encode() + told)
        return digest.hexdigest()

    def ranking(self) -> list[Ranking]:
        """Who comes first, over all scenarios and in each; empty before `aggregate`."""
        from analysis import results
        from analysis.ranking import rank

        if not results.exists(self.archive.results, "summary"):
            return []
        return rank(
            results.read(self.archive.results, "summary"),
            results.read(self.archive.results, "tests"),
            self.objectives(),
        )

    def objectives(self) -> Objectives:
        """The suite's objectives in the words of the analysis."""
        from analysis.cost import Objectives

        wanted = self.suite.objectives
        return Objectives(
            latency_mean_s=wanted.latency_mean,
            latency_p50_s=wanted.latency_p50,
            latency_p95_s=wanted.latency_p95,
            latency_p99_s=wanted.latency_p99,
            backlog=wanted.backlog,
            allowed_violations=wanted.violations,
            worker_hour=wanted.worker_hour.amount if wanted.worker_hour else None,
            node_hour=wanted.node_hour.amount if wanted.node_hour else None,
            violation_minute=wanted.violation_minute.amount if wanted.violation_minute else None,
            currency=wanted.currency,
        )

    def _places(self) -> list[infra.Place]:
        return [infra.get(name) for name in dict.fromkeys(experiment.place for experiment in self.experiments)]

    def _failed(self, run: Run, error: str) -> FailedRun:
        return FailedRun(run.run_id, run.label, error, self.folder(run).path / "logs")

    def _record(self, run: Run) -> RunRecord:
        from analysis.runs import RunRecord

        return RunRecord(
            run_id=run.run_id,
            folder=self.folder(run).path,
            experiment=run.experiment,
            job=run.job_label,
            workload=run.workload,
            autoscaler=run.autoscaler,
            place=run.place,
            seed=run.seed,
            duration_s=run.duration_s,
        )

    def _context(self) -> ReportContext:
        from analysis import report_model

        top = self.archive.results.parent
        return report_model.ReportContext(
            suite=self.suite.name,
            description=self.suite.description,
            places=list(dict.fromkeys(experiment.place for experiment in self.experiments)),
            objectives=self.objectives(),
            baseline=self._baseline(),
            experiments=[
                report_model.ExperimentInfo(
                    id=experiment.id,
                    label=experiment.label,
                    job=experiment.job,
                    workload=experiment.workload,
                    autoscaler=experiment.autoscaler,
                    place=experiment.place,
                    planned=len(experiment.runs),
                    finished=sum(self.folder(run).finished for run in experiment.runs),
                )
                for experiment in self.experiments
            ],
            failed=[
                report_model.FailedRun(failed.run_id, failed.label, failed.error, str(failed.log.relative_to(top)))
                for failed in self.failures()
            ],
            provenance=provenance(self),
        )

    def _baseline(self) -> str | None:
        if self.suite.baseline is None:
            return None
        labels = (experiment.autoscaler for experiment in self.experiments)
        return next((label for label in labels if matrix.matches(self.suite.baseline, label)), None)
