"""The archive's tables: names, types and units. Everything that reads or writes the archive starts here.

Units stand in the field metadata, so that a Parquet file explains itself.
"""

from __future__ import annotations

import pyarrow as pa

#: Part of every run id: a change here makes old runs be done anew.
SCHEMA_VERSION = 3

_NAME = pa.dictionary(pa.int16(), pa.string())


def _field(name: str, kind: pa.DataType, unit: str, about: str) -> pa.Field:
    return pa.field(name, kind, metadata={"unit": unit, "about": about})


# --- one run: runs/<run id>/ -------------------------------------------------------------

METRICS = pa.schema(
    [
        _field("run_id", _NAME, "", "the run this row belongs to"),
        _field("time_s", pa.int32(), "s", "start of the second, since the start of the run"),
        _field("operator", _NAME, "", '"job" for the whole'),
        _field("workload", pa.float64(), "events/s", "offered load"),
        _field("throughput", pa.float64(), "events/s", "processed, replayed events included"),
        _field("backlog", pa.float64(), "events", "waiting at the end of the second"),
        _field("latency_mean_s", pa.float32(), "s", "end to end; null in a second without output"),
        _field("latency_p50_s", pa.float32(), "s", ""),
        _field("latency_p95_s", pa.float32(), "s", ""),
        _field("latency_p99_s", pa.float32(), "s", ""),
        _field("workers_wanted", pa.int32(), "workers", "what the last decision asked for"),
        _field("workers_running", pa.int32(), "workers", "paid for, booting ones included"),
        _field("workers_ready", pa.int32(), "workers", "serving"),
        _field("capacity", pa.float64(), "events/s", "true capacity of the serving workers; null where unknown"),
        _field(
            "demand_workers",
            pa.int32(),
            "workers",
            "fewest workers whose true capacity covers the workload; null where unknown",
        ),
        _field("cpu", pa.float32(), "share", "mean over the serving workers"),
        _field("memory", pa.float32(), "share", "mean over the serving workers"),
        _field("nodes", pa.int32(), "nodes", ""),
        _field("seen_workload", pa.float32(), "events/s", "what the policy could see of it; null where it saw nothing"),
        _field("seen_throughput", pa.float32(), "events/s", "as above"),
        _field("seen_backlog", pa.float32(), "events", "as above"),
        _field("seen_latency_s", pa.float32(), "s", "as above, of the mean"),
        _field("seen_cpu", pa.float32(), "share", "as above, mean over the workers"),
    ]
)

INSTANCES = pa.schema(
    [
        _field("run_id", _NAME, "", ""),
        _field("time_s", pa.int32(), "s", ""),
        _field("operator", _NAME, "", ""),
        _field("instance", pa.int16(), "", "index of the worker"),
        _field("cpu", pa.float32(), "share", "as measured; null while it boots"),
        _field("memory", pa.float32(), "share", ""),
        _field("throughput", pa.float32(), "events/s", ""),
        _field("backlog", pa.float32(), "events", ""),
        _field("ready", pa.bool_(), "", ""),
    ]
)

DECISIONS = pa.schema(
    [
        _field("run_id", _NAME, "", ""),
        _field("time_s", pa.float64(), "s", ""),
        _field("target", pa.string(), "", "operator, or region:<name> for nodes"),
        _field("before", pa.int32(), "workers", ""),
        _field("wanted", pa.int32(), "workers", "what the policy asked for"),
        _field("applied", pa.int32(), "workers", "what the place accepted"),
        _field("reason", pa.string(), "", ""),
        _field("took_ms", pa.float32(), "ms", "wall time of the decision"),
        _field("notes", pa.map_(pa.string(), pa.float64()), "", "figures the policy went by; null where it gave none"),
    ]
)

EVENTS = pa.schema(
    [
        _field("run_id", _NAME, "", ""),
        _field("time_s", pa.float64(), "s", ""),
        _field(
            "kind",
            pa.string(),
            "",
            "profiled, rescale_start, outage_start, outage_end, rescale_end, recovered, failure, boot, ...",
        ),
        _field("target", pa.string(), "", ""),
        _field("detail", pa.string(), "", ""),
    ]
)

#: What was tried before the run; empty unless the policy wants a profiling.
PROFILING = pa.schema(
    [
        _field("run_id", _NAME, "", ""),
        _field("workers", pa.int32(), "workers", "the scale-out that was deployed"),
        _field("trial", pa.string(), "", "load, failure or overload"),
        _field("time_s", pa.float64(), "s", "since this deployment"),
        _field("seconds", pa.float64(), "s", "how long it was tried"),
        _field("load", pa.float64(), "events/s", "offered"),
        _field("worker_seconds", pa.float64(), "worker s", "running workers summed, booting ones included"),
        _field("throughput", pa.float64(), "events/s", "as measured at the end of the trial; likewise below"),
        _field("latency_mean_s", pa.float64(), "s", "null without output"),
        _field("backlog", pa.float64(), "events", "waiting at the end"),
    ]
)

RUN_TABLES = {
    "metrics": METRICS,
    "instances": INSTANCES,
    "decisions": DECISIONS,
    "events": EVENTS,
    "profiling": PROFILING,
}

# --- one campaign: results/ --------------------------------------------------------------

SUMMARY = pa.schema(
    [
        ("suite", pa.string()),
        ("experiment", pa.string()),
        ("job", pa.string()),
        ("workload", pa.string()),
        ("autoscaler", pa.string()),
        ("place", pa.string()),
        ("metric", pa.string()),
        ("unit", pa.string()),
        ("n", pa.int32()),
        ("mean", pa.float64()),
        ("std", pa.float64()),
        ("ci_low", pa.float64()),
        ("ci_high", pa.float64()),
    ]
)

TESTS = pa.schema(
    [
        ("job", pa.string()),
        ("workload", pa.string()),
        ("place", pa.string()),
        ("metric", pa.string()),
        ("a", pa.string()),
        ("b", pa.string()),
        ("difference", pa.float64()),
        ("p", pa.float64()),
        ("p_holm", pa.float64()),
        ("significant", pa.bool_()),
    ]
)

COMPARISON = pa.schema(
    [
        ("source", pa.string()),
        ("job", pa.string()),
        ("workload", pa.string()),
        ("autoscaler", pa.string()),
        ("metric", pa.string()),
        ("kind", pa.string()),
        ("published", pa.float64()),
        ("measured", pa.float64()),
        ("tolerance", pa.float64()),
        ("reproduced", pa.bool_()),
        ("note", pa.string()),
    ]
)

#: One row a run and metric: what the summary is made of, small enough to keep.
RUN_SUMMARY = pa.schema(
    [
        ("run_id", pa.string()),
        ("experiment", pa.string()),
        ("seed", pa.int64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)

#: What the report draws: the median-like repetition of each experiment, in at most a few hundred buckets.
SERIES = pa.schema(
    [
        ("experiment", pa.string()),
        ("run_id", pa.string()),
        ("time_s", pa.float64()),
        ("workload", pa.float64()),
        ("throughput", pa.float64()),
        ("capacity", pa.float64()),
        ("backlog", pa.float64()),
        ("latency_p95_s", pa.float64()),
        ("workers_running", pa.float64()),
        ("workers_ready", pa.float64()),
        ("demand_workers", pa.float64()),
        ("cpu", pa.float64()),
    ]
)

#: The first and the last days of the run in SERIES, where runs are long.
EXCERPTS = pa.schema(
    [
        ("experiment", pa.string()),
        ("run_id", pa.string()),
        ("part", pa.string()),
        ("time_s", pa.float64()),
        ("workload", pa.float64()),
        ("latency_mean_s", pa.float64()),
        ("workers_running", pa.float64()),
        ("nodes", pa.float64()),
    ]
)

#: Figures that the policy of the run in SERIES noted with its decisions: the mean since the start of the run.
NOTES = pa.schema(
    [
        ("experiment", pa.string()),
        ("run_id", pa.string()),
        ("note", pa.string()),
        ("time_s", pa.float64()),
        ("mean", pa.float64()),
    ]
)

#: Latency distribution of each experiment over the seconds of all its runs.
LATENCY_CDF = pa.schema([("experiment", pa.string()), ("quantile", pa.float64()), ("latency_s", pa.float64())])

#: Scaling actions of the run in SERIES, for hovering over: the first of its kind in each of the points of SERIES.
ACTIONS = pa.schema(
    [
        ("experiment", pa.string()),
        ("run_id", pa.string()),
        ("time_s", pa.float64()),
        ("target", pa.string()),
        ("before", pa.int32()),
        ("applied", pa.int32()),
        ("reason", pa.string()),
        ("n", pa.int32()),
    ]
)

#: Tonight against the nights before: what got worse, and whether chance explains it.
REGRESSIONS = pa.schema(
    [
        ("experiment", pa.string()),
        ("metric", pa.string()),
        ("unit", pa.string()),
        ("before", pa.float64()),
        ("now", pa.float64()),
        ("change", pa.float64()),
        ("p", pa.float64()),
        ("p_holm", pa.float64()),
        ("verdict", pa.string()),
    ]
)

RESULT_TABLES = {
    "summary": SUMMARY,
    "tests": TESTS,
    "comparison": COMPARISON,
    "run_summary": RUN_SUMMARY,
    "series": SERIES,
    "excerpts": EXCERPTS,
    "notes": NOTES,
    "latency_cdf": LATENCY_CDF,
    "actions": ACTIONS,
    "regressions": REGRESSIONS,
}
