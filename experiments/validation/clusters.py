"""The clusters that were measured: what is different there from the profile of the same job.

Figures of the engine (outages, checkpoints, warm-up, noise) stay in jobs/engines.py. Everything here was fitted on
runs of the job ADS alone and is used for the runs of CARS as it is. `tidebed validate DATA --calibrate` computes it
anew and shows it beside these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jobs.model import Constant, Distribution, Profile
from jobs.yahoo.profile import FLINK_OPERATOR, FLINK_REACTIVE

_PHOEBE = "Phoebe runs (dos-group/phoebe, Apache-2.0), ADS"
_DEMETER = "Demeter runs (dos-group/demeter, Apache-2.0), ADS"
_FLINK = "Flink's documentation"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Machines and settings of one set of runs."""

    name: str
    about: str
    base: Profile
    constants: Mapping[str, Constant]
    delays: Mapping[str, Distribution] = field(default_factory=dict)
    partitions: Constant | None = None
    """Of the topic that the job reads; lag is told per partition."""
    lag_base_s: Constant | None = None
    """What lag is there in quiet seconds, as time."""

    @property
    def profile(self) -> Profile:
        return Profile(self.base.engine, {**self.base.own, **self.constants}, {**self.base.own_delays, **self.delays})


_NO_SKEW = {"key_count": Constant(0, "keys", "what skew there is stands in the measured capacity")}

_ON_PHOEBE = {
    **_NO_SKEW,
    "worker_capacity": Constant(
        18_830.0, "events/s", f"{_PHOEBE}, overloaded spells of the static and twres runs: factor of the power law"
    ),
    "scaling_exponent": Constant(0.908, "", "as above: its exponent"),
    "latency_base_s": Constant(1.166, "s", f"{_PHOEBE}: latency over load, static 24"),
    "latency_idle_s": Constant(0.194, "s", "as above: how much more it is at no load"),
    "latency_idle_load": Constant(0.15, "share", "as above: how fast that shrinks with the load"),
    "shrinks": Constant(0, "0 or 1", f"{_PHOEBE}: workers stay as many; the new pod is there before the old is missed"),
}
_PHOEBE_FAILURE = {
    "detection_s": Distribution.always(50.0, "s", f"{_FLINK}: heartbeat.timeout"),
    "failure_outage_s": FLINK_OPERATOR.delays["failure_outage_s"],
}

_ON_DEMETER = {
    **_NO_SKEW,
    "worker_capacity": Constant(13_780.0, "events/s", f"{_DEMETER}: where the line of CPU over load reaches cpu_full"),
    "scaling_exponent": Constant(0.908, "", f"{_PHOEBE}: Demeter's runs were hardly ever overloaded"),
    "latency_base_s": Constant(1.056, "s", f"{_DEMETER}: latency over load, static 24"),
    "latency_idle_s": Constant(0.169, "s", "as above: how much more it is at no load"),
    "latency_idle_load": Constant(0.2, "share", "as above: how fast that shrinks with the load"),
    "cpu_idle": Constant(0.059, "share", f"{_DEMETER}: CPU over load in quiet minutes, where the line meets no load"),
    "cpu_full": Constant(0.988, "share", f"{_DEMETER}: CPU while a backlog is worked off"),
}
_PARTITIONS = Constant(
    24, "partitions", f"{_DEMETER}: one for each worker of the largest fleet; from lag after restarts 21"
)
_LAG_BASE = Constant(0.69, "s", f"{_DEMETER}: lag in quiet seconds over throughput")

CLUSTERS: Mapping[str, Cluster] = {
    cluster.name: cluster
    for cluster in (
        Cluster("phoebe", "Phoebe's cluster, fixed or in reactive mode", FLINK_REACTIVE, _ON_PHOEBE, _PHOEBE_FAILURE),
        Cluster(
            "phoebe-savepoint",
            "Phoebe's cluster, rescaled with savepoints",
            FLINK_REACTIVE,
            {
                **_ON_PHOEBE,
                "checkpoint_first": Constant(1, "0 or 1", f"{_PHOEBE}, savepoints.csv: a savepoint comes first"),
            },
            {
                **_PHOEBE_FAILURE,
                "outage_out_s": Distribution.always(
                    18.0, "s", f"{_PHOEBE}: as long as makes the median recovery that of the runs"
                ),
                "outage_in_s": Distribution.always(20.0, "s", "as above"),
            },
        ),
        Cluster("demeter", "Demeter's cluster, reactive mode", FLINK_REACTIVE, _ON_DEMETER, {}, _PARTITIONS, _LAG_BASE),
        Cluster(
            "demeter-operator",
            "Demeter's cluster, fixed or under Flink's operator",
            FLINK_OPERATOR,
            _ON_DEMETER,
            {},
            _PARTITIONS,
            _LAG_BASE,
        ),
    )
}
