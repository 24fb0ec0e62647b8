"""What an engine brings to every job on it: how workers join, how a rescale interrupts, how often state is saved."""

from __future__ import annotations

from jobs.model import Constant

_ASSUMED = "assumed: none of the sources measures it"
_DEMETER = "Demeter runs (dos-group/demeter, Apache-2.0)"

#: Measurement and system noise, alike on every engine.
NOISE = {
    "capacity_noise": Constant(0.02, "share", _ASSUMED + "; standard deviation of the slow drift of a job's capacity"),
    "capacity_noise_time_s": Constant(120.0, "s", _ASSUMED + "; correlation time of that drift"),
    "cpu_noise": Constant(0.01, "share", "Daedalus measurements, single worker ramp: residual of CPU over throughput"),
    "throughput_noise": Constant(0.01, "share", _ASSUMED + "; relative error of a measured rate"),
}

#: After a (re)start code is not compiled yet and caches are cold.
WARM_UP = {
    "warmup_s": Constant(30.0, "s", _ASSUMED),
    "warmup_loss": Constant(0.2, "share", _ASSUMED + "; capacity missing at the start of the warm-up"),
    "warmup_cpu": Constant(0.1, "share", _ASSUMED + "; extra CPU at the start of the warm-up"),
}

FLINK_REACTIVE = {
    **NOISE,
    **WARM_UP,
    "boot_s": Constant(14.0, "s", "measured: a TaskManager joins a Flink 2 cluster in reactive mode"),
    "boot_spread": Constant(0.2, "log s", _ASSUMED + "; standard deviation of the logarithm"),
    "checkpoint_interval_s": Constant(
        20.0, "s", f"{_DEMETER}, ADS reactive: effective latency peaks spread over 3.1-17.9 s (p10-p90)"
    ),
    "slots_per_node": Constant(1, "workers", "one TaskManager a pod"),
}

OPENSTACK_VM = {
    **NOISE,
    **WARM_UP,
    "boot_s": Constant(11.2, "s", "Borkowski et al. 2019, section 3.1: ready after 5-25 s; geometric mean of the two"),
    "boot_spread": Constant(0.41, "log s", "the same range taken as a 95 % interval"),
    "outage_out_s": Constant(0.0, "s", "Borkowski et al. 2019, section 3.1: running instances go on"),
    "outage_in_s": Constant(0.0, "s", "as above"),
    "outage_spread": Constant(0.0, "log s", "no outage"),
    "checkpoint_interval_s": Constant(60.0, "s", "without effect: nothing restarts"),
    "slots_per_node": Constant(1, "workers", "Borkowski et al. 2019, section 3.1: one VM an instance"),
}

E_SILBOPS = {
    **NOISE,
    **WARM_UP,
    "boot_s": Constant(3.7, "s", "FLAS 2020, Table 2: geometric mean of the scale-out times"),
    "boot_spread": Constant(0.3, "log s", "FLAS 2020, Table 2: standard deviation of their logarithms"),
    "outage_out_s": Constant(0.0, "s", "FLAS 2020, section 5: state is repartitioned without stopping the flow"),
    "outage_in_s": Constant(0.0, "s", "as above"),
    "outage_spread": Constant(0.0, "log s", "no outage"),
    "checkpoint_interval_s": Constant(60.0, "s", "without effect: nothing restarts"),
    "slots_per_node": Constant(1, "workers", "one matcher a node"),
}
