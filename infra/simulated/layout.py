"""What the hot loop works on: the state of a job, its lanes and workers, and the rows that are recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from autoscalers.model import Floats

STEADY, BOOTING, OUTAGE, MOVING, REBALANCING, DETECTING = range(6)
"""What a change of the fleet is doing: nothing; waiting for new workers; restarting the job; moving state while the
old workers go on; handing partitions over; noticing that a worker is gone."""

SHARED, PULLED, PARTITIONED = range(3)
"""How workers hold each other back: jobs.model.Coupling."""

OUTAGE_START, OUTAGE_END, RESCALE_END, RECOVERED = range(4)
"""Codes of events."""

STATE = np.dtype(
    [
        ("step", "i8"),
        ("phase", "i8"),
        ("phase_end_s", "f8"),
        ("outage_s", "f8"),  # of the change under way, as the following two
        ("moving_s", "f8"),
        ("pause_s", "f8"),
        ("keeps_position", "i8"),  # whether the restart under way begins with a checkpoint
        ("workers", "i8"),
        ("next_workers", "i8"),
        ("worker_capacity", "f8"),
        ("next_worker_capacity", "f8"),
        ("drift", "f8"),
        ("recovering", "i8"),
        ("checkpoint_s", "f8"),
        ("pending_s", "f8"),  # when the checkpoint under way was begun; NaN if none is
        ("restarted_s", "f8"),
        ("replayed", "f8"),
        ("processed", "f8"),
        ("trigger_s", "f8"),  # micro-batches: when the next one is due, and the one that runs
        ("batch_running", "i8"),
        ("batch_begin_s", "f8"),
        ("batch_first_s", "f8"),
        ("batch_end", "f8"),
        ("overhead_left_s", "f8"),
        ("source_open", "i8"),  # faults
        ("network_delay_s", "f8"),
        ("sight", "i8"),
    ]
)

LANE = np.dtype(
    [
        ("position", "f8"),
        ("arrival", "i8"),  # the step in which the event at the position arrived
        ("checkpoint", "f8"),
        ("pending", "f8"),
        ("weight", "f8"),
        ("owner", "i8"),
        ("next_owner", "i8"),
        ("resume_s", "f8"),  # until then nobody reads it
    ]
)

WORKER = np.dtype(
    [
        ("share", "f8"),
        ("next_share", "f8"),
        ("speed", "f8"),
        ("fresh_s", "f8"),  # when its process began to serve; infinite for one that is still to
        ("able", "f8"),  # in this step: its share of a warm, sound worker's speed,
        ("cold", "f8"),  # how far it is from having warmed up,
        ("done", "f8"),  # the events it processed,
        ("load", "f8"),  # and how busy it was
    ]
)

# columns of the recorded rows: first the truth, then what the monitoring showed
(WORKLOAD, THROUGHPUT, BACKLOG, MEAN, P50, P95, P99, RUNNING, READY, CAPACITY, CPU, MEMORY) = range(12)
SEEN_WORKLOAD, SEEN_THROUGHPUT, SEEN_BACKLOG, SEEN_LATENCY, SEEN_CPU = range(12, 17)
ROW_COLUMNS = 17


class Constants(NamedTuple):
    """The profile's figures that the loop needs; units and sources stand in the job's profile."""

    cpu_idle: float
    cpu_full: float
    memory_base: float
    memory_state: float
    memory_per_event: float
    latency_base_s: float
    latency_spread: float
    latency_idle_s: float
    latency_idle_load: float
    checkpoint_interval_s: float
    checkpoint_duration_s: float
    warmup_s: float
    warmup_loss: float
    warmup_cpu: float
    settle_latency_s: float
    settle_flat_s: float
    settle_s: float
    capacity_noise: float
    capacity_noise_time_s: float
    move_loss: float
    move_cpu: float
    batch_interval_s: float
    batch_overhead_s: float
    cpu_noise: float
    throughput_noise: float
    sample_period_s: float


class Record(NamedTuple):
    """Where the loop writes, from its first step on."""

    rows: Floats
    instances: Floats
    events: Floats
