"""How fast a worker counts words, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

_SINE = "Daedalus measurements, sine_p2 (two workers): throughput over CPU"
_KEYS = {
    "key_count": Constant(50_000, "keys", "vocabulary of an English corpus"),
    "key_skew": Constant(
        0.78, "", f"{_SINE}: the busier took 1.022 of the mean; counting is only a part of the work that goes by word"
    ),
}

_FLINK = {
    **_KEYS,
    "worker_capacity": Constant(112_900.0, "events/s", f"{_SINE}, extrapolated to full CPU, mean of both"),
    "scaling_exponent": Constant(0.98, "", "as for yahoo: its measurement at 12 workers"),
    "speed_spread": Constant(0.068, "share", f"{_SINE}, extrapolated to full CPU: 107 and 118 k events/s"),
    "key_groups": Constant(128, "groups", "Flink's default maximum parallelism"),
    "cpu_idle": Constant(0.086, "share", f"{_SINE}, intercept, mean of both"),
    "cpu_full": Constant(0.98, "share", "Daedalus measurements, 12 workers near maximum load: the hottest worker"),
    "memory_base": Constant(0.35, "share", "assumed"),
    "memory_state": Constant(0.15, "share", "assumed: state of the whole job, in memory of one worker"),
    "memory_per_event": Constant(0.0, "share", "what waits stays in Kafka"),
    "latency_base_s": Constant(1.135, "s", "as for yahoo: no latency of this job was measured"),
    "latency_spread": Constant(0.045, "log s", "as for yahoo"),
    "latency_idle_s": Constant(0.14, "s", "as for yahoo"),
    "latency_idle_load": Constant(0.12, "share", "as for yahoo"),
    "event_bytes_in": Constant(60.0, "bytes", "assumed: a line of ten short words"),
    "event_bytes_out": Constant(80.0, "bytes", "assumed: five words with their counts"),
}

FLINK_REACTIVE = Profile(engines.FLINK_REACTIVE, _FLINK)
FLINK_OPERATOR = Profile(engines.FLINK_OPERATOR, _FLINK)

_QUARTER = "measured on a quarter of a core a worker: 10, 24 and 56 k sentences/s with 1, 2 and 4 instances"

KAFKA_STREAMS = Profile(
    engines.KAFKA_STREAMS,
    {
        **_FLINK,
        "worker_capacity": Constant(10_000.0, "events/s", f"{_QUARTER}: one instance"),
        "scaling_exponent": Constant(1.0, "", f"{_QUARTER}: at least linear"),
        "key_groups": Constant(
            18, "partitions", "Pfister et al. 2024, section 4.4: as many as the largest fleet, which section 4.7 names"
        ),
        "speed_spread": Constant(0.0, "share", "assumed: alike"),
    },
)
SPARK = Profile(
    engines.SPARK,
    {
        **_FLINK,
        "speed_spread": Constant(0.0, "share", "assumed: alike"),
        "worker_capacity": Constant(10_000.0, "events/s", "assumed: as on Kafka Streams"),
        "scaling_exponent": Constant(0.91, "", "as for yahoo on spark"),
        "latency_base_s": Constant(0.1, "s", "assumed: reading from and writing to Kafka, beside the batch itself"),
        "latency_idle_s": Constant(0.0, "s", "a batch has no buffers that wait to be full"),
    },
)
