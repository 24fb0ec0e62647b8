"""Fabricated campaigns: plausible curves from a small queue, so that a report has something to show.

As a script it writes a sample report:  python tests/analysis/report/conftest.py DIRECTORY
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import results as tables
from analysis.catalogue import METRICS
from analysis.cost import Objectives
from analysis.report import ExperimentInfo, FailedRun, ReportContext, write
from analysis.statistics import estimate, holm, welch

STEP_S = 10
POLICIES: dict[str, dict[str, float]] = {
    "static (12 workers)": {"period": 1e9, "boot": 0, "outage": 0, "headroom": 0},
    "hpa (target 80 %)": {"period": 30, "boot": 40, "outage": 8, "headroom": 1.25},
    "hpa (target 60 %)": {"period": 30, "boot": 40, "outage": 8, "headroom": 1.66},
    "daedalus": {"period": 60, "boot": 30, "outage": 12, "headroom": 1.18},
    "phoebe": {"period": 120, "boot": 30, "outage": 14, "headroom": 1.45},
}
PEAK = {"yahoo": 60_000.0, "wordcount": 180_000.0}


def shape(workload: str, time: np.ndarray) -> np.ndarray:
    day = 0.45 - 0.4 * np.cos(2 * np.pi * time / time[-1])
    if "flash" in workload:
        crowd = 0.55 / (1 + np.exp(-(time - 3000) / 60)) / (1 + np.exp((time - 4500) / 200))
        return 0.3 + crowd
    return np.clip(day + 0.06 * np.sin(2 * np.pi * time / 900), 0.05, None)


@dataclass
class Simulated:
    """Columns [step, seed] of one experiment, and the actions of its first run."""

    columns: dict[str, np.ndarray]
    actions: list[tuple[float, int, int, str]]
    rescales: np.ndarray


def simulate(job: str, workload: str, autoscaler: str, seeds: int) -> Simulated:
    policy = POLICIES.get(autoscaler, POLICIES["phoebe"])
    known = hashlib.sha256(f"{job}/{workload}/{autoscaler}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(known[:4], "big"))
    time = np.arange(0, 7200, STEP_S, dtype=float)
    peak = PEAK.get(job, 40_000.0)
    per_worker = peak / 10.5 * rng.normal(1, 0.02, seeds)
    load = shape(workload, time)[:, None] * peak * rng.normal(1, 0.02, (time.size, seeds))
    workers = np.full(seeds, 12 if policy["headroom"] == 0 else 6)
    pending, ready_at, out_until = workers.copy(), np.zeros(seeds), np.zeros(seeds)
    backlog, rescales = np.zeros(seeds), np.zeros(seeds)
    columns = {name: np.zeros_like(load) for name in ("capacity", "backlog", "running", "ready", "mean", "output")}
    actions = []
    for i, now in enumerate(time):
        arrived = ready_at <= now
        workers = np.where(arrived, pending, workers)
        down = out_until > now
        capacity = np.where(down, 0.0, workers * per_worker)
        served = np.minimum(capacity * STEP_S, backlog + load[i] * STEP_S)
        backlog = backlog + load[i] * STEP_S - served
        if now > 0 and now % policy["period"] == 0:
            wanted = np.ceil((load[i] + backlog / 120) * policy["headroom"] / per_worker).clip(1, 12).astype(int)
            patient = (wanted < pending) & ((rng.random(seeds) < 0.9) | (wanted == pending - 1))
            change = (wanted != pending) & arrived & ~patient & ~down
            if change[0]:
                use = load[i, 0] / (workers[0] * per_worker[0])
                actions.append(
                    (now, int(pending[0]), int(wanted[0]), f"load is {use:.0%} of capacity; backlog {backlog[0]:.0f}")
                )
            ready_at = np.where(change, now + policy["boot"] * (wanted > pending), ready_at)
            out_until = np.where(change, now + policy["outage"] * rng.uniform(0.7, 1.4, seeds), out_until)
            pending = np.where(change, wanted, pending)
            rescales += change
        columns["capacity"][i] = capacity
        columns["backlog"][i], columns["running"][i], columns["ready"][i] = (
            backlog,
            np.maximum(workers, pending),
            workers,
        )
        columns["output"][i] = served / STEP_S
        columns["mean"][i] = 0.08 + backlog / np.maximum(load[i], 1) + 0.05 * rng.random(seeds)
    columns["load"], columns["demand"] = load, np.ceil(load / per_worker)
    return Simulated({"time": time, **columns}, actions, rescales)


def figures(run: Simulated, objectives: Objectives) -> dict[str, np.ndarray]:
    """Every metric of the catalogue, [seed]."""
    c, hours = run.columns, run.columns["time"].size * STEP_S / 3600
    p95, workers = c["mean"] * 2.4, c["running"]
    over, under = np.clip(workers - c["demand"], 0, None), np.clip(c["demand"] - workers, 0, None)
    bad = (p95 > (objectives.latency_p95_s or np.inf)) | (c["output"] == 0)
    seconds = workers.sum(axis=0) * STEP_S
    price = objectives.worker_hour if objectives.worker_hour is not None else 1.0
    scaled = np.where(run.rescales > 0, run.rescales, np.nan)
    return {
        "cost": seconds / 3600 * price + bad.sum(axis=0) * STEP_S / 60 * (objectives.violation_minute or 0.0),
        "worker_seconds": seconds,
        "worker_seconds_profiled": seconds * 1.5,
        "mean_nodes": workers.mean(axis=0) / 2,
        "reconfigured_share": run.rescales / c["time"].size,
        "latency_max": p95.max(axis=0),
        "latency_p95_mean": p95.mean(axis=0),
        "capacity_error": np.full(seconds.size, 0.04),
        "forecast_error": np.full(seconds.size, 0.02),
        "recovery_underestimated": np.full(seconds.size, 0.1),
        "mean_workers": workers.mean(axis=0),
        "scaling_actions": run.rescales,
        "latency_mean": c["mean"].mean(axis=0),
        "latency_p50": np.median(c["mean"], axis=0),
        "latency_p95": np.quantile(p95, 0.95, axis=0),
        "latency_p99": np.quantile(p95 * 1.6, 0.99, axis=0),
        "slo_violation_share": bad.mean(axis=0),
        "backlog_max": c["backlog"].max(axis=0),
        "downtime": (c["output"] == 0).sum(axis=0) * float(STEP_S),
        "recovery_time": 30 + 4 * c["backlog"].mean(axis=0) / c["load"].mean(axis=0) * 60 / scaled,
        "throughput": c["output"].mean(axis=0),
        "accuracy_over": (over / c["demand"]).mean(axis=0),
        "accuracy_under": (under / c["demand"]).mean(axis=0),
        "timeshare_over": (over > 0).mean(axis=0),
        "timeshare_under": (under > 0).mean(axis=0),
        "jitter": (run.rescales - (np.diff(c["demand"], axis=0) != 0).sum(axis=0)) / hours,
        "learning_time": np.full(run.rescales.shape, 3600.0),
        "decision_ms_p99": np.full(run.rescales.shape, 1.3),
    }


@dataclass
class Campaign:
    """What to fabricate."""

    jobs: Sequence[str] = ("yahoo", "wordcount")
    workloads: Sequence[str] = ("advertising day", "flash crowd")
    autoscalers: Sequence[str] = ("static (12 workers)", "hpa (target 80 %)", "hpa (target 60 %)", "daedalus")
    places: Sequence[str] = ("simulated",)
    repetitions: int = 5
    objectives: Objectives = field(
        default_factory=lambda: Objectives(latency_p95_s=5.0, worker_hour=0.0612, currency="USD")
    )
    baseline: str | None = "static (12 workers)"
    failed: Sequence[FailedRun] = ()
    regressions: bool = False
    comparison: bool = False
    reason: Callable[[str], str] = str

    def write(self, results: Path) -> ReportContext:
        frames: dict[str, list[dict[str, Any]]] = {name: [] for name in tables.RESULT_TABLES}
        infos = []
        for place, job, workload in itertools.product(self.places, self.jobs, self.workloads):
            runs = {}
            for autoscaler in self.autoscalers:
                label = f"{job} / {workload} / {autoscaler} / {place}"
                experiment = hashlib.sha256(label.encode()).hexdigest()[:12]
                infos.append(
                    ExperimentInfo(
                        experiment, label, job, workload, autoscaler, place, self.repetitions, self.repetitions
                    )
                )
                run = simulate(job, workload, autoscaler, self.repetitions)
                runs[autoscaler] = figures(run, self.objectives)
                keys = {"suite": "s", "experiment": experiment, "job": job, "workload": workload}
                keys |= {"autoscaler": autoscaler, "place": place}
                for metric, values in runs[autoscaler].items():
                    frames["summary"].append(keys | {"metric": metric, "unit": METRICS[metric].unit, **spread(values)})
                self._pictures(frames, experiment, run)
            frames["tests"] += compared(runs, {"job": job, "workload": workload, "place": place})
        if self.regressions:
            frames["regressions"] += regressed(infos)
        if self.comparison:
            frames["comparison"] += published(self.autoscalers)
        for name, schema in tables.RESULT_TABLES.items():
            if frames[name]:
                tables.write(results, name, pd.DataFrame(frames[name], columns=schema.names))
        return ReportContext(
            suite="advertising-day",
            description="Which autoscaler serves the advertising job with the fewest worker-hours?",
            places=tuple(self.places),
            objectives=self.objectives,
            baseline=self.baseline,
            experiments=tuple(infos),
            failed=tuple(self.failed),
            provenance={
                "Tidebed": "0.1.0 (git 3f9c2ab)",
                "Host": "8 cores, 32 GiB, Linux 6.1",
                "Seeds": f"1 to {self.repetitions}",
                "Campaign": "2026-01-12 02:00 to 02:41 UTC",
                "Aggregation": "exact over all seconds (Spark 4.2.1, local[*])",
            },
        )

    def _pictures(self, frames: dict[str, list[dict[str, Any]]], experiment: str, run: Simulated) -> None:
        c = run.columns
        for i in range(0, c["time"].size, 3):
            frames["series"].append(
                {
                    "experiment": experiment,
                    "run_id": "r1",
                    "time_s": c["time"][i],
                    "workload": c["load"][i, 0],
                    "throughput": c["output"][i, 0],
                    "capacity": c["capacity"][i, 0],
                    "backlog": c["backlog"][i, 0],
                    "latency_p95_s": c["mean"][i, 0] * 2.4,
                    "workers_running": c["running"][i, 0],
                    "workers_ready": c["ready"][i, 0],
                    "demand_workers": c["demand"][i, 0],
                    "cpu": min(1.0, c["output"][i, 0] / max(1.0, c["capacity"][i, 0])),
                }
            )
        for quantile in [*np.linspace(0.005, 0.995, 100), 0.999]:
            latency = float(np.quantile(c["mean"], quantile))
            frames["latency_cdf"].append({"experiment": experiment, "quantile": quantile, "latency_s": 2.4 * latency})
        for now, before, applied, reason in run.actions:
            action = {"experiment": experiment, "run_id": "r1", "time_s": now, "target": "job"}
            frames["actions"].append(action | {"before": before, "applied": applied, "reason": self.reason(reason)})


def spread(values: np.ndarray) -> dict[str, float | None]:
    known = values[np.isfinite(values)]
    if known.size == 0:
        return {"n": 0, "mean": None, "std": None, "ci_low": None, "ci_high": None}
    return dataclasses.asdict(estimate(known))


def compared(runs: dict[str, dict[str, np.ndarray]], keys: dict[str, str]) -> list[dict[str, Any]]:
    rows = []
    for metric in METRICS:
        pairs = [
            (a, b, runs[a][metric], runs[b][metric])
            for a, b in itertools.combinations(runs, 2)
            if np.isfinite([*runs[a][metric], *runs[b][metric]]).all()
        ]
        p_values = [welch(x, y) for _, _, x, y in pairs]
        for (a, b, x, y), p, corrected in zip(pairs, p_values, holm(p_values), strict=True):
            row = {"metric": metric, "a": a, "b": b, "difference": x.mean() - y.mean(), "p": p, "p_holm": corrected}
            rows.append(keys | row | {"significant": corrected is not None and corrected < 0.05})
    return rows if any(row["p"] is not None for row in rows) else []


def regressed(infos: Sequence[ExperimentInfo]) -> list[dict[str, Any]]:
    rows = [
        (infos[1].id, "latency_p95", "s", 1.2, 2.9, 0.002, "regression"),
        (infos[2].id, "cost", "USD", 0.61, 0.66, 0.03, "regression"),
        (infos[3].id, "latency_p95", "s", 2.0, 1.6, 0.01, "improvement"),
        (infos[0].id, "cost", "USD", 1.0, 1.0, 0.9, "unchanged"),
        (infos[0].id, "downtime", "s", 0.0, 30.0, 0.001, "regression"),
        (infos[0].id, "backlog_max", "events", None, 5.0, None, "no history"),
    ]
    return [
        {
            "experiment": experiment,
            "metric": metric,
            "unit": unit,
            "before": before,
            "now": now,
            "change": now / before - 1 if before else None,
            "p": p,
            "p_holm": p,
            "verdict": verdict,
        }
        for experiment, metric, unit, before, now, p, verdict in rows
    ]


def published(autoscalers: Sequence[str]) -> list[dict[str, Any]]:
    keys = {"source": "Daedalus, table 2", "job": "wordcount", "workload": "advertising day"}
    return [
        keys
        | {"autoscaler": f"{autoscalers[-1]} against {autoscalers[0]}", "metric": "worker_seconds", "kind": "change"}
        | {"published": -0.71, "measured": -0.58, "tolerance": 0.15, "reproduced": True, "note": ""},
        keys
        | {"autoscaler": autoscalers[1], "metric": "latency_mean", "kind": "value"}
        | {"published": 0.312, "measured": 1.9, "tolerance": 0.5, "reproduced": False, "note": "other hardware"},
        keys
        | {"autoscaler": f"{autoscalers[-1]} < {autoscalers[1]}", "metric": "worker_seconds", "kind": "ordering"}
        | {"published": None, "measured": None, "tolerance": 0.0, "reproduced": True, "note": ""},
    ]


FAILED = (
    FailedRun(
        "9c41d0aa2b7e",
        "wordcount / flash crowd / daedalus / simulated, seed 3",
        "TimeoutError: the job did not become ready within 120 s",
        "runs/9c41d0aa2b7e/logs/run.log",
    ),
)


@pytest.fixture(scope="session")
def campaign() -> type[Campaign]:
    return Campaign


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ReportContext]:
    """A whole campaign with everything in it, and its report written."""
    results = tmp_path_factory.mktemp("results")
    context = Campaign(failed=FAILED, regressions=True, comparison=True).write(results)
    write(results, context)
    return results, context


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print(write(target, Campaign(failed=FAILED, regressions=True, comparison=True).write(target)))
