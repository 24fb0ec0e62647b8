"""How fast a worker averages vehicles' speeds, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Profile

_PHOEBE = "Phoebe runs (dos-group/phoebe, Apache-2.0), CARS: fit over 1-17 workers"
_DEMETER = "Demeter runs (Apache-2.0), CARS"

FLINK_REACTIVE = Profile(
    engine="flink-reactive",
    constants={
        **engines.FLINK_REACTIVE,
        "worker_capacity": Constant(21_580.0, "events/s", f"{_PHOEBE}, factor of the power law"),
        "scaling_exponent": Constant(0.835, "", f"{_PHOEBE}, exponent of the power law; it contains the skew"),
        "key_count": Constant(0, "keys", "evenly spread: the fit above contains the skew"),
        "key_skew": Constant(0.0, "", "as above"),
        "key_groups": Constant(128, "groups", "Flink's default maximum parallelism"),
        "cpu_idle": Constant(0.081, "share", "as for yahoo: Daedalus measurements, single worker ramp"),
        "cpu_full": Constant(0.98, "share", "as for yahoo: Daedalus measurements, 12 workers"),
        "memory_base": Constant(0.35, "share", "assumed"),
        "memory_state": Constant(0.05, "share", "assumed: windows of ten seconds are small"),
        "latency_base_s": Constant(0.988, "s", f"{_DEMETER}: median latency of the static run"),
        "latency_spread": Constant(0.14, "log s", f"{_DEMETER}: p95 over median latency of the static run"),
        "outage_out_s": Constant(6.0, "s", f"{_DEMETER}, 692 reactive rescales: median outage"),
        "outage_in_s": Constant(6.0, "s", "as above: the data do not tell out from in"),
        "outage_spread": Constant(0.85, "log s", f"{_DEMETER}, reactive rescales: p90 17.9 s over p50 6 s"),
    },
)
