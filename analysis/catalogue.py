"""The summary metrics: what each is called, its unit, what it means, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure per run."""

    name: str
    unit: str
    title: str
    about: str
    better: Better = "lower"


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "cost",
            "",
            "Cost",
            "worker-hours, node-hours and violated minutes at the suite's prices; without prices, worker-hours",
        ),
        Metric(
            "worker_seconds",
            "worker s",
            "Worker-seconds",
            "running workers summed over the run, booting ones included",
        ),
        Metric(
            "worker_seconds_profiled",
            "worker s",
            "Worker-seconds with profiling",
            "those of the run and of the trials that the autoscaler wanted before it; the cost counts the run alone",
        ),
        Metric("mean_workers", "workers", "Mean workers", "running workers on average, booting ones included"),
        Metric("mean_nodes", "nodes", "Mean nodes", "nodes on average, booting ones included"),
        Metric(
            "reconfigured_share",
            "share",
            "Time reconfigured",
            "share of the decisions that changed the parallelism of the job or of one of its operators",
        ),
        Metric(
            "scaling_actions", "", "Scaling actions", "decisions that changed the parallelism or the number of nodes"
        ),
        Metric("latency_mean", "s", "Mean latency", "over events: each second weighs with its throughput"),
        Metric("latency_p95_mean", "s", "Mean p95 latency", "each second's p95 latency, averaged over the seconds"),
        Metric("latency_p50", "s", "Median latency", "median over the seconds of each second's mean latency"),
        Metric("latency_p95", "s", "p95 latency", "95th percentile over the seconds of each second's p95 latency"),
        Metric("latency_p99", "s", "p99 latency", "99th percentile over the seconds of each second's p99 latency"),
        Metric("latency_max", "s", "Largest latency", "the highest p95 latency of a second"),
        Metric(
            "slo_violation_share",
            "share",
            "SLO violations",
            "share of seconds that break an objective; a second without output breaks every latency objective",
        ),
        Metric("backlog_max", "events", "Largest backlog", "most events that waited at once"),
        Metric("downtime", "s", "Downtime", "seconds of outage, summed; one open at the end counts up to the end"),
        Metric(
            "recovery_time",
            "s",
            "Recovery time",
            "mean from the start of a rescale or failure until the backlog is gone again, where that was reached",
        ),
        Metric("throughput", "events/s", "Throughput", "processed events per second on average", "neither"),
        Metric(
            "accuracy_over",
            "share",
            "Over-provisioning accuracy",
            "SPEC RG: ready workers above demand, relative to demand, averaged over time; 0 is best",
        ),
        Metric(
            "accuracy_under",
            "share",
            "Under-provisioning accuracy",
            "SPEC RG: ready workers below demand, relative to demand, averaged over time; 0 is best",
        ),
        Metric(
            "timeshare_over",
            "share",
            "Time over-provisioned",
            "SPEC RG: share of time with more ready workers than demand",
        ),
        Metric(
            "timeshare_under",
            "share",
            "Time under-provisioned",
            "SPEC RG: share of time with fewer ready workers than demand",
        ),
        Metric(
            "jitter",
            "1/h",
            "Jitter",
            "SPEC RG: changes of supply minus changes of demand, per hour; 0 is best",
            "neither",
        ),
        Metric(
            "capacity_error",
            "share",
            "Capacity estimate's error",
            "median over the decisions of how far the policy's estimate of the capacity is from the true one",
        ),
        Metric(
            "forecast_error",
            "share",
            "Forecast's error",
            "median over the decisions of the policy's weighted absolute percentage error since the last",
        ),
        Metric(
            "recovery_underestimated",
            "share",
            "Recoveries underestimated",
            "share of the changes from which the job recovered later than the policy had predicted",
        ),
        Metric(
            "learning_time",
            "s",
            "Learning time",
            "from the start until the average of each cost that the policy noted stays within 10 % of what it ends at",
        ),
        Metric(
            "decision_ms_p99", "ms", "Decision time p99", "99th percentile of the wall time of a decision", "neither"
        ),
    )
}
