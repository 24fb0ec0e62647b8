"""`tidebed run`: a whole campaign in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.campaign import Campaign, Outcome
from experiments.cli import ranked
from experiments.cli.console import Json, errors, listening, output, print_json, progress
from experiments.execution import Finished
from workloads.units import format_duration

SuiteArgument = Annotated[
    str, typer.Argument(metavar="SUITE", help="A shipped suite (tidebed list suites) or the path of a YAML file.")
]
ArchiveOption = Annotated[
    Path | None, typer.Option(help="Where runs and results are kept.", show_default="$TIDEBED_ARCHIVE or ./archive")
]
PlaceOption = Annotated[str | None, typer.Option(help="Run somewhere else than the suite says: simulated, ...")]
RepetitionsOption = Annotated[int | None, typer.Option(min=1, help="Runs of each experiment, with seeds of their own.")]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Only experiments with this job, workload, autoscaler or place; of one key's values any will do.",
    ),
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Do all runs again, also those that are archived.")]
MasterOption = Annotated[
    str | None, typer.Option(help="Where Spark aggregates: spark://HOST:7077, k8s://...", show_default="this machine")
]


def run(
    suite: SuiteArgument,
    place: PlaceOption = None,
    repetitions: RepetitionsOption = None,
    only: OnlyOption = None,
    archive: ArchiveOption = None,
    fresh: FreshOption = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time.", show_default="one a core")] = None,
    spark_master: MasterOption = None,
    json: Json = False,
) -> None:
    """Run a suite, aggregate, and write its report.

    What is archived already is not run again, so an interrupted campaign goes on where it stopped.

    [dim]tidebed run quickstart
    tidebed run my-suite.yaml --repetitions 20 --only autoscaler=hpa[/]
    """
    campaign = Campaign.open(suite, archive=archive, place=place, repetitions=repetitions, only=only or ())
    outcome = run_all(campaign, fresh=fresh, workers=workers)
    if not campaign.reported:
        with errors.status("Spark aggregates the metrics"):
            campaign.aggregate(spark_master)
        campaign.report()
    show(campaign, outcome, json=json)
    if outcome.failed:
        raise typer.Exit(1)


def run_all(campaign: Campaign, *, fresh: bool, workers: int | None) -> Outcome:
    """Do what is missing, with a bar."""
    for line in campaign.provision(fresh=fresh):
        errors.print(line, markup=False)
    pending = campaign.pending(campaign.runs, fresh=fresh)
    if not pending:
        errors.print(
            f"All {len(campaign.runs)} runs of {campaign.suite.name} are archived: nothing to do (--fresh redoes)."
        )
        return Outcome(skipped=len(campaign.runs))
    notes = [f"{len(campaign.experiments)} experiments", f"{len(pending)} runs"]
    notes.append(f"{campaign.at_a_time(workers)} at a time")
    if seconds := campaign.real_seconds(pending):
        notes.append(f"in real time: more than {format_duration(seconds)}")
    if archived := len(campaign.runs) - len(pending):
        notes.append(f"{archived} are archived already")
    errors.print(f"{campaign.suite.name}: {', '.join(notes)}", soft_wrap=True)
    with progress() as bar:
        task = bar.add_task("running", total=len(pending))

        def advance(finished: Finished) -> None:
            bar.update(task, advance=1, description=finished.run.label)
            if finished.error is not None:
                bar.console.print(f"failed: {finished.run.label}: {finished.error}", markup=False, soft_wrap=True)

        def waiting(what: str) -> None:
            if bar.disable:
                errors.print(what, markup=False, soft_wrap=True)
            else:
                bar.update(task, description=what)

        with listening(waiting):
            outcome = campaign.run_all(fresh=fresh, workers=workers, on_finished=advance)
        bar.update(task, description="all runs")
    return outcome


def show(campaign: Campaign, outcome: Outcome, *, json: bool) -> None:
    """The ranked table, the failures by name, and where to read on."""
    report = campaign.archive.results / "report.html"
    rankings = campaign.ranking()
    if json:
        print_json(
            {
                "suite": campaign.suite.name,
                "done": outcome.done,
                "skipped": outcome.skipped,
                "failed": [{"run_id": run.run_id, "label": run.label, "error": run.error} for run in outcome.failed],
                "rankings": [ranked.as_json(ranking) for ranking in rankings],
                "report": report,
            }
        )
        return
    # where there is one scenario, "all scenarios" would say the same again
    for ranking in rankings[1:] if len(rankings) == 2 else rankings:
        output.print(ranked.table(ranking, campaign.objectives().cost_unit, output.width))
    for run in outcome.failed:
        output.print(f"failed: {run.label}: {run.error} (see {run.log})", markup=False, soft_wrap=True)
    output.print(f"report: {report}" if campaign.reported else "no report was written", markup=False, soft_wrap=True)
