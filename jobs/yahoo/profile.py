"""How fast a worker counts ad views, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

_RAMP = "Daedalus measurements, single worker ramp"
_TWELVE = "Daedalus measurements, data_skew_12 (12 workers near maximum load)"
_DEMETER = "Demeter runs (Apache-2.0), ADS"
_PHOEBE = "Phoebe runs (dos-group/phoebe, Apache-2.0), ADS, static 24"

_FLINK = {
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
    "memory_per_event": Constant(0.0, "share", "what waits stays in Kafka"),
    "latency_base_s": Constant(1.135, "s", f"{_DEMETER}: median latency of the static run"),
    "latency_spread": Constant(0.045, "log s", f"{_DEMETER}: p95 over median latency of the static run"),
    "latency_idle_s": Constant(0.14, "s", f"{_PHOEBE}: median latency below 10 % of the load over that at 30 %"),
    "latency_idle_load": Constant(0.12, "share", f"{_PHOEBE}: how fast that difference shrinks with the load"),
    "event_bytes_in": Constant(241.0, "bytes", "an ad event of the benchmark in JSON"),
    "event_bytes_out": Constant(1.0, "bytes", "a hundred counts of about 100 bytes a window"),
}

FLINK_REACTIVE = Profile(engines.FLINK_REACTIVE, _FLINK)
FLINK_OPERATOR = Profile(engines.FLINK_OPERATOR, _FLINK)

_QUARTER = "measured on a quarter of a core a worker: 28, 70, 92 and 108 k rows/s with 1 to 4 executors"

SPARK = Profile(
    engines.SPARK,
    {
        **_FLINK,
        "worker_capacity": Constant(30_600.0, "events/s", f"{_QUARTER}; factor of the power law through them"),
        "scaling_exponent": Constant(0.91, "", f"{_QUARTER}; its exponent, at most that of a fair share"),
        "latency_base_s": Constant(0.1, "s", "assumed: reading from and writing to Kafka, beside the batch itself"),
        "latency_idle_s": Constant(0.0, "s", "a batch has no buffers that wait to be full"),
    },
)
