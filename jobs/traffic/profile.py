"""How fast a worker averages vehicles' speeds, on which engine, and who says so."""

from jobs import engines
from jobs.model import Constant, Distribution, Profile

_PHOEBE = "Phoebe runs (dos-group/phoebe, Apache-2.0), CARS: fit over 1-17 workers"
_DEMETER = "Demeter runs (Apache-2.0), CARS"

_FLINK = {
    "worker_capacity": Constant(21_580.0, "events/s", f"{_PHOEBE}, factor of the power law"),
    "scaling_exponent": Constant(0.835, "", f"{_PHOEBE}, exponent of the power law; it contains the skew"),
    "key_count": Constant(0, "keys", "evenly spread: the fit above contains the skew"),
    "key_skew": Constant(0.0, "", "as above"),
    "key_groups": Constant(128, "groups", "Flink's default maximum parallelism"),
    "cpu_idle": Constant(0.081, "share", "as for yahoo: Daedalus measurements, single worker ramp"),
    "cpu_full": Constant(0.98, "share", "as for yahoo: Daedalus measurements, 12 workers"),
    "memory_base": Constant(0.35, "share", "assumed"),
    "memory_state": Constant(0.05, "share", "assumed: windows of ten seconds are small"),
    "memory_per_event": Constant(0.0, "share", "what waits stays in Kafka"),
    "latency_base_s": Constant(0.988, "s", f"{_DEMETER}: median latency of the static run"),
    "latency_spread": Constant(0.14, "log s", f"{_DEMETER}: p95 over median latency of the static run"),
    "latency_idle_s": Constant(0.14, "s", "as for yahoo"),
    "latency_idle_load": Constant(0.12, "share", "as for yahoo"),
    "event_bytes_in": Constant(150.0, "bytes", "assumed: a vehicle's position and speed in JSON"),
    "event_bytes_out": Constant(15.0, "bytes", "assumed: one in ten is within the radius of interest"),
}


def _outage(source: str, *quantiles: float) -> Distribution:
    """From the 10th, 25th, 50th, 75th and 90th percentile; nothing is known beyond the outer two."""
    inner = zip((0.1, 0.25, 0.5, 0.75, 0.9), quantiles, strict=True)
    return Distribution(((0.0, quantiles[0]), *inner, (1.0, quantiles[-1])), "s", f"{_DEMETER}, {source}")


_REACTIVE = _outage("692 reactive rescales", 2.0, 3.0, 6.0, 11.0, 17.9)
_OPERATOR = _outage("101 rescales by the operator", 55.0, 59.0, 72.0, 82.0, 89.0)

FLINK_REACTIVE = Profile(
    engines.FLINK_REACTIVE,
    _FLINK,
    {
        "outage_out_s": _REACTIVE,
        "outage_in_s": _REACTIVE,
        "failure_outage_s": _outage("126 failures in reactive mode", 2.0, 3.0, 5.0, 11.0, 22.5),
    },
)
FLINK_OPERATOR = Profile(
    engines.FLINK_OPERATOR,
    _FLINK,
    {
        "outage_out_s": _OPERATOR,
        "outage_in_s": _OPERATOR,
        "failure_outage_s": _outage("63 failures under the operator", 15.0, 16.0, 17.0, 19.0, 22.0),
    },
)
