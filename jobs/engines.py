"""What each engine brings to every job on it.

Figures that no source gives are called assumed; `tidebed list profiles` shows them all, `tidebed validate --calibrate`
computes those that measured runs tell.
"""

from __future__ import annotations

from jobs.model import Constant, Distribution, Engine

_ASSUMED = "assumed: none of the sources measures it"
_NOT_HERE = "does not apply to this engine"
_DEMETER = "Demeter runs (dos-group/demeter, Apache-2.0), ADS"
_LAB = "measured on a quarter of a core a worker"
_KAFKA = "Kafka's documentation"

#: How the monitoring sees the job. A suite may change these: place: {simulated: {constants: {smoothing_s: 60}}}.
_MEASUREMENT = {
    "sample_period_s": Constant(1.0, "s", "Demeter runs and Pfister et al. 2024 read their metrics each second"),
    "scrape_delay_s": Constant(0.0, "s", "as above: no delay is told"),
    "smoothing_s": Constant(0.0, "s", "as above: rates and CPU of the last second"),
    "cpu_noise": Constant(0.01, "share", "Daedalus measurements, single worker ramp: residual of CPU over throughput"),
    "throughput_noise": Constant(
        0.008, "share", "Daedalus measurements, single worker ramp: jumps of throughput, relative to it"
    ),
}

#: What varies in the system itself, whoever looks at it.
_SYSTEM = {
    "capacity_noise": Constant(
        0.038,
        "share",
        f"{_DEMETER}, quiet minutes: standard deviation of the slow drift of the CPU that an event takes",
    ),
    "capacity_noise_time_s": Constant(450.0, "s", "as above: correlation time of that drift"),
    "speed_spread": Constant(0.0, "share", _ASSUMED + "; standard deviation of the workers' speeds: alike"),
}

#: After a (re)start code is not compiled yet and caches are cold.
_WARM_UP = {
    "warmup_s": Constant(30.0, "s", _ASSUMED),
    "warmup_loss": Constant(0.2, "share", _ASSUMED + "; capacity missing at the start of the warm-up"),
    "warmup_cpu": Constant(0.1, "share", _ASSUMED + "; extra CPU at the start of the warm-up"),
}

_NEVER_RESTARTS = {
    "settle_latency_s": Constant(0.0, "s", _NOT_HERE),
    "settle_flat_s": Constant(0.0, "s", _NOT_HERE),
    "settle_s": Constant(0.0, "s", _NOT_HERE),
}

_NO_BATCHES = {
    "batch_interval_s": Constant(0.0, "s", _NOT_HERE),
    "batch_overhead_s": Constant(0.0, "s", _NOT_HERE),
}

_NO_MOVES = {
    "move_base_s": Constant(0.0, "s", _NOT_HERE),
    "move_per_backlog": Constant(0.0, "s/s", _NOT_HERE),
    "move_loss": Constant(0.0, "share", _NOT_HERE),
    "move_cpu": Constant(0.0, "share", _NOT_HERE),
}

_NO_CHECKPOINTS = {
    "checkpoint_interval_s": Constant(1.0, "s", "no effect: what was processed stays processed"),
    "checkpoint_duration_s": Constant(0.0, "s", "as above"),
    "checkpoint_first": Constant(0, "0 or 1", "as above"),
}

_COMMON = {**_MEASUREMENT, **_SYSTEM, **_WARM_UP}

_FLINK = {
    **_COMMON,
    **_NO_BATCHES,
    **_NO_MOVES,
    "checkpoint_interval_s": Constant(
        17.0, "s", f"{_DEMETER}, reactive scale-ins: latency peak over base less the outage is even over 0-17 s"
    ),
    "checkpoint_duration_s": Constant(0.0, "s", "contained in the figure above"),
    "slots_per_node": Constant(1, "workers", "one TaskManager a pod"),
    "settle_latency_s": Constant(
        2.61, "s", f"{_DEMETER}, reactive scale-ins with next to no replay: latency over the usual one after a restart"
    ),
    "settle_flat_s": Constant(7.0, "s", "as above: for so long it stays there"),
    "settle_s": Constant(11.0, "s", "as above: then it falls, and is usual again after so long, whatever was replayed"),
}

#: From the death of a worker until the job restarts; all systems of the runs are alike.
_DETECTION = Distribution(
    ((0.0, 16.0), (0.1, 16.0), (0.25, 17.0), (0.5, 18.0), (0.75, 19.0), (0.9, 20.0), (1.0, 21.0)),
    "s",
    f"{_DEMETER}, 136 failures: the job stands still, and its metrics do not change, until the outage is seen",
)

FLINK_REACTIVE = Engine(
    name="flink-reactive",
    about="Flink in reactive mode: the job restarts from its last checkpoint on as many workers as there are",
    style="restart",
    coupling="shared",
    constants={
        **_FLINK,
        "checkpoint_first": Constant(0, "0 or 1", "Pfister et al. 2024, section 4.4: from the last checkpoint"),
        "shrinks": Constant(1, "0 or 1", "reactive mode goes on with the workers that are left"),
        "restarts_processes": Constant(
            0, "0 or 1", f"{_DEMETER}: after a scale-in the workers are at full speed at once"
        ),
        "warmup_s": Constant(120.0, "s", f"{_DEMETER}, reactive runs, replayed: the median recovery of each cause"),
        "warmup_loss": Constant(0.6, "share", "as above"),
    },
    delays={
        "boot_s": Distribution(
            ((0.0, 9.4), (0.025, 9.4), (0.5, 14.0), (0.975, 20.8), (1.0, 20.8)),
            "s",
            f"{_LAB}: a TaskManager joins a Flink 2 cluster after 14 s; the spread is assumed",
        ),
        "outage_out_s": Distribution(
            (
                (0.0, 3.0),
                (0.05, 5.6),
                (0.1, 6.0),
                (0.25, 7.0),
                (0.5, 8.0),
                (0.75, 9.0),
                (0.9, 11.0),
                (0.95, 12.0),
                (1.0, 38.0),
            ),
            "s",
            f"{_DEMETER}, 133 reactive scale-outs",
        ),
        "outage_in_s": Distribution(
            ((0.0, 1.0), (0.75, 1.0), (0.9, 2.0), (0.95, 2.0), (1.0, 24.0)), "s", f"{_DEMETER}, 300 reactive scale-ins"
        ),
        "detection_s": _DETECTION,
        "failure_outage_s": Distribution(
            ((0.0, 1.0), (0.25, 1.0), (0.5, 2.0), (0.75, 2.0), (0.9, 15.0), (0.95, 15.0), (1.0, 17.0)),
            "s",
            f"{_DEMETER}, 64 failures in reactive mode: the first outage after each",
        ),
    },
)

#: In and out are alike: 63 and 65 s on average.
_REDEPLOYED = Distribution(
    ((0.0, 42.0), (0.05, 43.0), (0.1, 47.0), (0.25, 59.0), (0.5, 66.0), (0.75, 70.0), (0.9, 77.0), (1.0, 85.0)),
    "s",
    f"{_DEMETER}, 61 rescales by the operator",
)

FLINK_OPERATOR = Engine(
    name="flink-operator",
    about="Flink under its Kubernetes operator: a rescale redeploys the job from a savepoint",
    style="restart",
    coupling="shared",
    constants={
        **_FLINK,
        "checkpoint_first": Constant(1, "0 or 1", "the operator's upgrade mode savepoint"),
        "shrinks": Constant(0, "0 or 1", "the job waits for its full number of workers"),
        "restarts_processes": Constant(1, "0 or 1", "old workers stop before new ones start"),
        "warmup_s": Constant(160.0, "s", f"{_DEMETER}, static and operator runs, replayed: as for flink-reactive"),
        "warmup_loss": Constant(0.7, "share", "as above"),
    },
    delays={
        "boot_s": Distribution.always(0.0, "s", "part of the outage: old workers stop before new ones start"),
        "outage_out_s": _REDEPLOYED,
        "outage_in_s": _REDEPLOYED,
        "detection_s": _DETECTION,
        "failure_outage_s": Distribution(
            ((0.0, 14.0), (0.1, 16.0), (0.25, 18.0), (0.5, 20.0), (0.75, 21.0), (0.9, 28.2), (1.0, 49.0)),
            "s",
            f"{_DEMETER}, 49 failures under the operator",
        ),
    },
)

KAFKA_STREAMS = Engine(
    name="kafka-streams",
    about="Kafka Streams: instances join and leave a group, only the partitions that change hands stop",
    style="rebalance",
    coupling="partitioned",
    constants={
        **_COMMON,
        **_NEVER_RESTARTS,
        **_NO_BATCHES,
        **_NO_MOVES,
        "checkpoint_interval_s": Constant(0.1, "s", f"{_KAFKA}: commit.interval.ms with exactly-once"),
        "checkpoint_duration_s": Constant(0.0, "s", "a commit is part of the processing"),
        "checkpoint_first": Constant(1, "0 or 1", "a partition is committed before it changes hands"),
        "slots_per_node": Constant(1, "workers", "one instance a pod"),
    },
    delays={
        "boot_s": Distribution(
            ((0.0, 9.4), (0.025, 9.4), (0.5, 14.0), (0.975, 20.8), (1.0, 20.8)),
            "s",
            "assumed: a Java process in a pod, as for flink-reactive",
        ),
        "rebalance_s": Distribution(
            ((0.0, 1.5), (0.5, 2.7), (1.0, 6.0)),
            "s",
            f"{_LAB}: a gap of 2.7 s when an instance joins; bounds assumed at half and two heartbeats (3 s each)",
        ),
        "leave_s": Distribution(
            ((0.0, 42.0), (1.0, 48.0)),
            "s",
            f"{_KAFKA}: an instance that is closed stays in its group until session.timeout.ms, 45 s; "
            "heartbeats are 3 s apart",
        ),
    },
)

SPARK = Engine(
    name="spark",
    about="Spark Structured Streaming: micro-batches; executors come and go between them",
    style="executors",
    coupling="shared",
    constants={
        **_COMMON,
        **_NEVER_RESTARTS,
        **_NO_MOVES,
        "batch_interval_s": Constant(1.0, "s", "a trigger of one second"),
        "batch_overhead_s": Constant(0.5, "s", _ASSUMED + "; planning, offsets and commit of a batch"),
        "warmup_s": Constant(30.0, "s", f"{_LAB}: a cold executor makes its first batch 15 s late, the work it loses"),
        "warmup_loss": Constant(1.0, "share", "as above: nothing at first, all at the end, 15 s of work missing"),
        "checkpoint_interval_s": Constant(1.0, "s", "no effect: every batch is a checkpoint"),
        "checkpoint_duration_s": Constant(0.0, "s", "as above"),
        "checkpoint_first": Constant(1, "0 or 1", "a rescale takes effect between two batches"),
        "slots_per_node": Constant(1, "workers", "one executor a pod"),
    },
    delays={
        "boot_s": Distribution(
            ((0.0, 5.0), (0.5, 10.0), (1.0, 20.0)), "s", f"{_LAB}: an executor is there after 5-20 s; median assumed"
        ),
        "detection_s": Distribution.always(10.0, "s", "Spark's documentation: executors' heartbeats are 10 s apart"),
    },
)

OPENSTACK_VM = Engine(
    name="openstack-vm",
    about="a pool of virtual machines that pull from one queue: a new one joins when it has booted",
    style="boot",
    coupling="pulled",
    constants={
        **_COMMON,
        **_NEVER_RESTARTS,
        **_NO_BATCHES,
        **_NO_MOVES,
        **_NO_CHECKPOINTS,
        "slots_per_node": Constant(1, "workers", "Borkowski et al. 2019, section 3.1: one VM an instance"),
    },
    delays={
        "boot_s": Distribution(
            ((0.0, 5.0), (0.5, 11.2), (1.0, 25.0)),
            "s",
            "Borkowski et al. 2019, section 3.1: ready after 5-25 s; median: the geometric mean of the two",
        ),
        "detection_s": Distribution.always(10.0, "s", _ASSUMED),
    },
)

E_SILBOPS = Engine(
    name="e-silbops",
    about="E-SilboPS: state is repartitioned among the matchers while they go on",
    style="live",
    coupling="pulled",
    constants={
        **_COMMON,
        **_NEVER_RESTARTS,
        **_NO_BATCHES,
        **_NO_CHECKPOINTS,
        "move_base_s": Constant(2.0, "s", "FLAS 2020, Table 2: scale-in times, and the scale-out before saturation"),
        "move_per_backlog": Constant(
            1.0, "s/s", "FLAS 2020, Table 2, test case 2 at 750 ms: 2.92-5.39 s as the backlog grows by a second or two"
        ),
        "move_loss": Constant(0.2, "share", "FLAS 2020, section 6.1 names the overhead, not its size: assumed"),
        "move_cpu": Constant(0.1, "share", "as above: assumed"),
        "slots_per_node": Constant(1, "workers", "one matcher a node"),
    },
    delays={
        "boot_s": Distribution.always(0.0, "s", "FLAS 2020, Table 2: part of the scaling time"),
        "detection_s": Distribution.always(10.0, "s", _ASSUMED),
    },
)
