"""WordCount as E2DF's authors simulated it: four operators on the nodes of three data centres, minute by minute."""

from __future__ import annotations

import math

from jobs.model import Constant, Distribution, Engine, Operator
from jobs.operators import OperatorsProfile

_PAPER = "Russo Russo et al. 2018"
_SETUP = f"{_PAPER}, section 8.1"
_NOT_MODELLED = f"{_SETUP}: not part of their model"
_NEXT_MINUTE = f"{_SETUP}: all adaptation actions are completed within the next minute"
_HOME = (
    f"{_PAPER}, section 7: new replicas go where the operator's others are, and nothing says where that is; of the 14 "
    "ways to spread four operators over regions that are alike, those were kept that make 12 nodes a region enough "
    "(section 8.2), and of these the one nearest to Table 2, thresholds with w_d = 0.1, on the authors' own load"
)
_STEADY = f"{_SETUP}: each minute an operator is an M/D/1 queue of its own, with no word of what a minute leaves behind"

E2DF = Engine(
    name="e2df",
    about="E2DF: each operator has instances of its own, on nodes of several regions; decisions minute by minute",
    style="live",
    coupling="partitioned",
    scales="operators",
    constants={
        "step_s": Constant(60.0, "s", f"{_SETUP}: control and time advance by the minute"),
        "buffer_events": Constant(math.inf, "events", f"{_SETUP}: an operator is an M/D/1 queue, which has no bound"),
        "source_share": Constant(1.0, "weight", f"{_SETUP}: one source"),
        "saturation": Constant(1 - 1e-9, "share", "no effect: a queue without a steady state has no bounded waiting"),
        "steady": Constant(1, "yes or no", _STEADY),
        "recovered_wait_s": Constant(1.0, "s", "assumed: events that wait no longer than this are up to date"),
        "scaling_exponent": Constant(1.0, "", f"{_SETUP}: replicas do not slow each other down"),
        "speed_spread": Constant(0.0, "share", f"{_PAPER}, section 3.2: resources are homogeneous"),
        "capacity_noise": Constant(0.0, "share", _NOT_MODELLED),
        "capacity_noise_time_s": Constant(120.0, "s", "no effect: there is no such noise"),
        "cpu_noise": Constant(0.0, "share", _NOT_MODELLED),
        "throughput_noise": Constant(0.0, "share", _NOT_MODELLED),
        "cpu_idle": Constant(0.0, "share", f"{_PAPER}, section 7.1: utilisation is the share of CPU time used"),
        "cpu_full": Constant(1.0, "share", "as above"),
        "memory_base": Constant(0.0, "share", _NOT_MODELLED),
        "memory_state": Constant(0.0, "share", _NOT_MODELLED),
        "random_leave": Constant(1.0, "share", f"{_PAPER}, section 7: a randomly selected replica is terminated"),
        "slots_per_node": Constant(2, "instances", f"{_SETUP}: two CPU cores a virtual machine"),
        "nodes_max": Constant(50, "nodes", f"{_SETUP}: up to 50 nodes a region"),
        "nodes_initial": Constant(12, "nodes", f"{_PAPER}, section 8.2: 12 nodes a region in the static baseline"),
        "latency_within_s": Constant(0.0, "s", f"{_PAPER}, section 3.2: negligible within a region"),
        "latency_between_s": Constant(0.002, "s", f"{_SETUP}: the largest of the three"),
        "latency_between_s.dc1.dc2": Constant(0.002, "s", _SETUP),
        "latency_between_s.dc1.dc3": Constant(0.002, "s", _SETUP),
        "latency_between_s.dc2.dc3": Constant(0.001, "s", _SETUP),
    },
    delays={
        "boot_s": Distribution.always(60.0, "s", f"{_NEXT_MINUTE}: the next planning can use the node"),
        "reconfigure_s": Distribution.always(
            0.0, "s", f"{_NEXT_MINUTE}: it is served by the new replicas; on the authors' own load Table 1 comes out so"
        ),
        "pause_s": Distribution.always(
            0.0,
            "s",
            f"{_PAPER}, Table 1: 0.01 % of the time violates the response time while 3.2 % see a reconfiguration, "
            "so their model lets no event wait for one",
        ),
        "restart_s": Distribution.always(60.0, "s", f"assumed: as any other action; {_PAPER} has no failures"),
    },
)

WORDCOUNT = OperatorsProfile(
    E2DF,
    {
        "worker_capacity": Constant(330.0, "events/s", f"{_SETUP}: service rate of an M/D/1 queue"),
        "instances_max": Constant(20, "instances", f"{_SETUP}: up to 20 replicas an operator"),
        "key_count": Constant(0, "keys", f"{_SETUP}: replicas share an operator's load evenly"),
        "key_skew": Constant(0.0, "", "no effect: there are no keys"),
        "key_groups": Constant(128, "groups", "no effect: there are no keys"),
        "home.splitter": Constant(0, "region", _HOME),
        "home.filter": Constant(0, "region", _HOME),
        "home.counter": Constant(1, "region", _HOME),
        "home.consumer": Constant(1, "region", _HOME),
    },
    topology=(
        Operator("splitter", selectivity=5.0),
        Operator("filter", selectivity=0.4),
        Operator("counter", selectivity=1.0, keyed=True),
        Operator("consumer", selectivity=0.0),
    ),
    regions=("dc1", "dc2", "dc3"),
    placement="home",
)
