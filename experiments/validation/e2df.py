"""Tables 1 and 2 of E2DF on the load that its authors publish, rates held for a minute each.

    python -m experiments.validation.e2df PROFILE.csv[.gz] [COMBINATION ...] [NAME=NUMBER ...]

The profile has the columns t_seconds,rate, a row a minute, and is not part of Tidebed; `suite` in its place stands for
the load of the suites, with their first seed, to be compared with it. A combination is a label of the
suites paper-e2df and paper-e2df-objectives, such as static/threshold or "rl w_d=0.1"; without any, all that the paper
has are run. A name is a parameter of the policy or a constant of the simulated system (`tidebed list profiles`):
idle=1, random_leave=0. `cut=613` cuts the load off at that rate.

What was measured ends with where the nodes go: those that the replicas of each region need if packed tightly, those
that they need beyond that because they are scattered, and those that hold none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import autoscalers
import infra
import jobs
import workloads
from autoscalers.model import Floats, RegionView
from experiments.loop import FLUSH_S
from experiments.planning import Run, plan
from experiments.suite import load
from infra.model import Assignment
from workloads.trace import load_trace

SUITES = ("paper-e2df", "paper-e2df-objectives")
BOUND_S = np.float32(0.06)
METRICS = ("slo_violation_share", "reconfigured_share", "mean_workers", "mean_nodes")
PARTS = ("packed", "scattered", "empty")
#: In place of a profile: the suites' own load. Where a load is cut off.
OWN, CUT = "suite", "cut"


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


def combinations() -> dict[str, Run]:
    """The first run of each, by label."""
    return {one.autoscaler: one.runs[0] for suite in SUITES for one in plan(load(suite), repetitions=1)}


def published() -> dict[str, dict[str, float]]:
    """By combination and metric, from the suites."""
    found: dict[str, dict[str, float]] = {}
    for statement in (one for suite in SUITES for one in load(suite).suite.published):
        if statement.value is not None and statement.autoscaler is not None:
            found.setdefault(statement.autoscaler, {})[statement.metric] = statement.value
    return found


def profile_rates(profile: Path) -> Floats:
    """What the authors' load offers in each minute, for as long as the suites take."""
    return load_trace(profile).curve(int(load(SUITES[0]).suite.duration))[::60]


def suite_rates(run: Run) -> Floats:
    """What the suites' own load offers in each minute of a run."""
    return workloads.parse(dict(run.workload_spec), run.base).curve(run.duration_s, run.seed)[::60]


def main(arguments: list[str]) -> int:
    console = Console(width=120)
    runs, figures = combinations(), published()
    wanted = [it for it in arguments[1:] if it in runs or "=" not in it]
    try:
        changes = {it.partition("=")[0]: float(it.partition("=")[2]) for it in arguments[1:] if it not in wanted}
    except ValueError:
        changes = {"": 0.0}
    profile = jobs.get("wordcount").profiles["e2df"]
    names = {*runs["rl/rl"].parameters, *profile.constants, *profile.delays, CUT}
    own = arguments[:1] == [OWN]
    if not (own or (arguments and Path(arguments[0]).is_file())) or set(wanted) - set(runs) or changes.keys() - names:
        usage = f"python -m experiments.validation.e2df PROFILE.csv|suite [{' | '.join(runs)}] [NAME=NUMBER]"
        Console(stderr=True).print(f"write: {usage}", markup=False)
        return 2
    rates = suite_rates(runs["rl/rl"]) if own else profile_rates(Path(arguments[0]))
    rates = np.minimum(rates, changes.pop(CUT, np.inf))
    whose = "the suites'" if own else "the authors'"
    shown = Table(title=f"Tables 1 and 2 on {whose} own load", title_justify="left", title_style="bold")
    for heading in ("nodes/operators", "", "violations", "reconfigured", "replicas", "nodes", " + ".join(PARTS)):
        shown.add_column(heading, justify="left" if heading in ("nodes/operators", "") else "right", no_wrap=True)
    for name in wanted or figures:
        paper, ours = figures.get(name), measured(runs[name], rates, changes)
        if paper:
            shown.add_row(name, "published", *_cells(paper))
        parts = " + ".join(f"{ours[part]:.2f}" for part in PARTS)
        shown.add_row("" if paper else name, "measured", *_cells(ours), parts, end_section=True)
    console.print(shown)
    return 0


def _cells(figures: dict[str, float]) -> list[str]:
    shares = [f"{100 * figures[name]:.3f} %" for name in METRICS[:2]]
    return [*shares, *(f"{figures[name]:.2f}" for name in METRICS[2:])]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
