"""How fast a worker counts ad views, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

_RAMP = "Daedalus measurements, single worker ramp"
_TWELVE = "Daedalus measurements, data_skew_12 (12 workers near maximum load)"
_DEMETER = "Demeter runs (Apache-2.0), ADS"

FLINK_REACTIVE = Profile(
    engine="flink-reactive",
    constants={
        **engines.FLINK_REACTIVE,
        "worker_capacity": Constant(61_757.0, "events/s", f"{_RAMP}: throughput above 95 % CPU"),
        "scaling_exponent": Constant(
            0.98, "", f"{_TWELVE}: 525 k events/s at most, times the skew 1.34, over one worker's"
        ),
        "key_count": Constant(
            670, "keys", f"{_TWELVE}: as many equal keys as give the workers' shares a variation of 0.134"
        ),
        "key_skew": Constant(0.0, "", "the benchmark draws ads evenly"),
        "key_groups": Constant(128, "groups", "Flink's default maximum parallelism"),
        "cpu_idle": Constant(0.081, "share", f"{_RAMP}: intercept of CPU over throughput (r2 0.999)"),
        "cpu_full": Constant(0.98, "share", f"{_TWELVE}: the hottest worker"),
        "memory_base": Constant(0.35, "share", "assumed"),
        "memory_state": Constant(0.05, "share", "assumed: windows of ten seconds are small"),
        "latency_base_s": Constant(1.135, "s", f"{_DEMETER}: median latency of the static run"),
        "latency_spread": Constant(0.045, "log s", f"{_DEMETER}: p95 over median latency of the static run"),
        "outage_out_s": Constant(1.0, "s", f"{_DEMETER}, 467 reactive rescales: median outage"),
        "outage_in_s": Constant(1.0, "s", "as above: the data do not tell out from in"),
        "outage_spread": Constant(1.7, "log s", f"{_DEMETER}, reactive rescales: p90 9 s over p50 1 s"),
    },
)
