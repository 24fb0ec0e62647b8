"""How fast a worker counts words, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

_SINE = "Daedalus measurements, sine_p2 (two workers): throughput over CPU"
_TRAFFIC = "as for traffic: no rescale of this job was measured at 1 s"

FLINK_REACTIVE = Profile(
    engine="flink-reactive",
    constants={
        **engines.FLINK_REACTIVE,
        "worker_capacity": Constant(112_900.0, "events/s", f"{_SINE}, extrapolated to full CPU, mean of both"),
        "scaling_exponent": Constant(0.98, "", "as for yahoo: its measurement at 12 workers"),
        "key_count": Constant(50_000, "keys", "vocabulary of an English corpus"),
        "key_skew": Constant(1.0, "", "Zipf's law: the exponent of word frequencies in English"),
        "key_groups": Constant(128, "groups", "Flink's default maximum parallelism"),
        "cpu_idle": Constant(0.086, "share", f"{_SINE}, intercept, mean of both"),
        "cpu_full": Constant(0.98, "share", "Daedalus measurements, 12 workers near maximum load: the hottest worker"),
        "memory_base": Constant(0.35, "share", "assumed"),
        "memory_state": Constant(0.15, "share", "assumed: state of the whole job, in memory of one worker"),
        "latency_base_s": Constant(1.06, "s", "Demeter runs: median latency, mean of ADS and CARS"),
        "latency_spread": Constant(0.14, "log s", "Demeter runs, CARS: p95 over median latency"),
        "outage_out_s": Constant(6.0, "s", _TRAFFIC),
        "outage_in_s": Constant(6.0, "s", _TRAFFIC),
        "outage_spread": Constant(0.85, "log s", _TRAFFIC),
    },
)
