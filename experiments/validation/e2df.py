"""Table 1 of E2DF on the load that its authors publish, rates held for a minute each.

    python -m experiments.validation.e2df PROFILE.csv[.gz] [COMBINATION ...] [NAME=NUMBER ...]

The profile has the columns t_seconds,rate, a row a minute, and is not part of Tidebed. A combination is a label of the
suite paper-e2df, such as static/threshold; without any, all that the paper has are run. A name is a parameter of
the policy or a constant of the simulated system (`tidebed list profiles`): idle=1, random_leave=0.

What was measured ends with where the nodes go: those that the replicas of each region need if packed tightly, those
that they need beyond that because they are scattered, and those that hold none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import autoscalers
import infra
import jobs
from autoscalers.model import Floats, RegionView
from experiments.loop import FLUSH_S
from experiments.planning import Run, plan
from experiments.suite import load
from experiments.validation.city import SUITE
from infra.model import Assignment
from workloads.trace import load_trace

BOUND_S = np.float32(0.06)
METRICS = ("slo_violation_share", "reconfigured_share", "mean_workers", "mean_nodes")
PARTS = ("packed", "scattered", "empty")


def measured(run: Run, rates: Floats, changes: dict[str, float]) -> dict[str, float]:
    """What Table 1 reports, of one run on these rates, one a minute."""
    own = {name: type(run.parameters[name])(value) for name, value in changes.items() if name in run.parameters}
    policy = autoscalers.create(run.policy, seed=run.seed, **{**run.parameters, **own})
    options = {"constants": {name: value for name, value in changes.items() if name not in own}}
    assignment = Assignment("profile", jobs.get(run.job), run.engine, np.repeat(rates, 60), run.seed, 1, options)
    totals = dict.fromkeys((*METRICS, *PARTS), 0.0)
    with infra.get("simulated").provision(assignment) as cluster, cluster.deploy() as target:
        flushed, end = 0.0, 60.0 * rates.size
        while target.time_s < end:
            target.advance(60.0)
            if target.time_s - flushed >= FLUSH_S or target.time_s >= end:
                _add(totals, target.drain().metrics)
                flushed = target.time_s
            if target.time_s < end:
                observation = target.observe()
                for region in observation.regions.values():
                    _add_nodes(totals, region)
                applied = target.apply(policy.decide(observation))
                changed = any(one.applied != one.before and not one.target.startswith("region:") for one in applied)
                totals["reconfigured_share"] += changed
    return {name: total / rates.size for name, total in totals.items()}


def _add(totals: dict[str, float], rows: dict[str, Floats]) -> None:
    job = np.asarray(rows["operator"]) == "job"
    totals["slo_violation_share"] += float((~(rows["latency_mean_s"][job] <= BOUND_S)).sum())
    totals["mean_workers"] += float(rows["workers_running"][job].sum())
    totals["mean_nodes"] += float(rows["nodes"][job].sum())


def _add_nodes(totals: dict[str, float], region: RegionView) -> None:
    """What becomes of a region's nodes. Those that boot are empty."""
    empty = region.idle + region.booting
    packed = -(-(region.slots * (region.nodes - region.booting) - region.free) // region.slots)
    totals["packed"] += packed
    totals["scattered"] += region.nodes - empty - packed
    totals["empty"] += empty


def published() -> dict[str, dict[str, float]]:
    """By combination and metric, from the suite."""
    found: dict[str, dict[str, float]] = {}
    for statement in load(SUITE).suite.published:
        if statement.value is not None and statement.autoscaler is not None:
            found.setdefault(statement.autoscaler, {})[statement.metric] = statement.value
    return found


def table(
    profile: Path, wanted: list[str], changes: dict[str, float]
) -> Iterator[tuple[str, dict[str, float], dict[str, float]]]:
    """Combination, what was published, what came out."""
    loaded = load(SUITE)
    rates = load_trace(profile).curve(int(loaded.suite.duration))[::60]
    figures = published()
    for experiment in plan(loaded, repetitions=1):
        if experiment.autoscaler in (wanted or figures):
            yield (
                experiment.autoscaler,
                figures.get(experiment.autoscaler, {}),
                measured(experiment.runs[0], rates, changes),
            )


def main(arguments: list[str]) -> int:
    console = Console(width=120)
    experiments = plan(load(SUITE), repetitions=1)
    known = [experiment.autoscaler for experiment in experiments]
    try:
        changes = {name: float(value) for name, equals, value in (it.partition("=") for it in arguments) if equals}
    except ValueError:
        changes = {"": 0.0}
    profile = jobs.get("wordcount").profiles["e2df"]
    names = {*experiments[0].runs[0].parameters, *profile.constants, *profile.delays}
    wanted = [it for it in arguments[1:] if "=" not in it]
    if not arguments or not Path(arguments[0]).is_file() or set(wanted) - set(known) or changes.keys() - names:
        usage = f"python -m experiments.validation.e2df PROFILE.csv [{' | '.join(known)}] [NAME=NUMBER]"
        Console(stderr=True).print(f"write: {usage}", markup=False)
        return 2
    shown = Table(title="Table 1 on the authors' own load", title_justify="left", title_style="bold")
    for heading in ("nodes/operators", "", "violations", "reconfigured", "replicas", "nodes", " + ".join(PARTS)):
        shown.add_column(heading, justify="left" if heading in ("nodes/operators", "") else "right", no_wrap=True)
    for name, paper, ours in table(Path(arguments[0]), wanted, changes):
        if paper:
            shown.add_row(name, "published", *_cells(paper))
        parts = " + ".join(f"{ours[name]:.2f}" for name in PARTS)
        shown.add_row("" if paper else name, "measured", *_cells(ours), parts, end_section=True)
    console.print(shown)
    return 0


def _cells(figures: dict[str, float]) -> list[str]:
    shares = [f"{100 * figures[name]:.3f} %" for name in METRICS[:2]]
    return [*shares, *(f"{figures[name]:.2f}" for name in METRICS[2:])]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
