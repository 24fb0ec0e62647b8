"""The machines under a job, as quantities: memory, CPU time, traffic. All machines are seen as one.

Bytes, rates and counts are sums over the machines; percentages refer to all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from autoscalers.model import Floats
from jobs.model import Constant

PERCENT: Final = 100.0
USED, BUFFERS, CACHE, FREE, SWAPPED = range(5)
"""Rows of `Machine.memory`."""
USR, SYS, WAI, HIQ, SIQ, IDL = range(6)
"""Rows of `Machine.cpu`."""


@dataclass(frozen=True, slots=True)
class HostInputs:
    """The plant's true rows of the seconds to describe, [t] each. They must not change afterwards."""

    throughput: Floats
    """events/s"""
    workload: Floats
    """events/s"""
    cpu: Floats
    """Mean share of the workers' CPU quota; NaN where there is no worker."""
    memory: Floats
    """Mean share of the workers' memory, with the events that wait in it; NaN where there is no worker."""
    workers: Floats
    """How many serve."""
    bytes_in: float
    """Of an event on the wire, as it comes."""
    bytes_out: float
    """What goes out for an event that is done."""
    pushed: bool
    """Whether events come by themselves and wait inside the job; else workers read them from where they wait."""


def without_gaps(values: Floats) -> Floats:
    """No worker takes nothing."""
    return np.where(np.isnan(values), 0.0, values)


def hosts_for(workers: Floats, constants: Mapping[str, Constant]) -> Floats:
    """Machines that so many workers need, at least one."""
    threads = workers * constants["worker_threads"].value
    return np.maximum(1.0, np.ceil(threads / constants["threads"].value))


def running_threads(cpu: Floats, workers: Floats, constants: Mapping[str, Constant]) -> Floats:
    """Threads of the job and beside it that run, on average over a second."""
    job = without_gaps(cpu) * workers * constants["worker_threads"].value
    return np.asarray(job + hosts_for(workers, constants) * constants["processes_idle"].value)


class Machine:
    """Each quantity is worked out once, when it is first asked for."""

    def __init__(self, inputs: HostInputs, constants: Mapping[str, Constant], noise: Callable[[str], Floats]) -> None:
        self._inputs = inputs
        self._constants = constants
        self._noise = noise

    def constant(self, name: str) -> float:
        return self._constants[name].value

    def per_host(self, name: str) -> Floats:
        return self.hosts * self.constant(name)

    def objects(self, per_host: str, per_worker: str) -> Floats:
        return self.per_host(per_host) + self._inputs.workers * self.constant(per_worker)

    def counted(self, metric: str, rate: Floats) -> Floats:
        """A rate as a counter shows it."""
        return np.maximum(0.0, rate * (1.0 + self.constant("rate_noise") * self._noise(metric)))

    @cached_property
    def hosts(self) -> Floats:
        return hosts_for(self._inputs.workers, self._constants)

    @cached_property
    def running(self) -> Floats:
        return running_threads(self._inputs.cpu, self._inputs.workers, self._constants)

    @cached_property
    def tcp_listening(self) -> Floats:
        return self.objects("tcp_listening", "tcp_listening_per_worker")

    @cached_property
    def tcp_active(self) -> Floats:
        return self.objects("tcp_active", "tcp_active_per_worker")

    # --- network, switches, interrupts ---------------------------------------------------------

    @cached_property
    def received(self) -> Floats:
        """Events that are pushed come in as they are offered, while there is room; others as they are processed."""
        inputs = self._inputs
        events = (
            np.where(inputs.memory < 1.0, inputs.workload, inputs.throughput) if inputs.pushed else inputs.throughput
        )
        return self.counted("net_recv", self.per_host("network_idle") + events * inputs.bytes_in)

    @cached_property
    def sent(self) -> Floats:
        out = self._inputs.throughput * self._inputs.bytes_out
        return self.counted("net_send", self.per_host("network_idle") + out)

    @cached_property
    def packets(self) -> Floats:
        return (self.received + self.sent) / self.constant("packet_bytes")

    @cached_property
    def switches(self) -> Floats:
        events = self.constant("switches_per_event") * self._inputs.throughput
        return self.counted("sys_csw", self.per_host("switches_idle") + events)

    @cached_property
    def interrupts(self) -> Floats:
        network = self.constant("interrupts_per_packet") * self.packets
        timers = self.constant("timer_hz") * self.running
        return self.counted("sys_int", self.per_host("interrupts_idle") + network + timers)

    # --- CPU time ------------------------------------------------------------------------------

    @cached_property
    def cpu(self) -> Floats:
        """[kind, t] per cent of all CPU time by kind; they add up to 100."""
        threads = self.per_host("threads")
        job = self.running - self.per_host("processes_idle")
        busy = job / threads + self.constant("system_cpu")
        kernel_s = self.switches * self.constant("switch_time_s") + self.packets * self.constant("packet_time_s")
        kernel = np.minimum(kernel_s / threads, busy)  # a worker's quota counts what the kernel does for it
        hard = self.interrupts * self.constant("interrupt_time_s") / threads
        soft = self.packets * self.constant("softirq_time_s") / threads
        kinds = np.stack([busy - kernel, kernel, self.blocked / threads, hard, soft])
        noise = np.stack([self._noise(name) for name in ("cpu_usr", "cpu_sys", "cpu_wai", "cpu_hiq", "cpu_siq")])
        kinds = PERCENT * np.maximum(0.0, kinds * (1.0 + self.constant("cpu_noise") * noise))
        kinds *= PERCENT / np.maximum(kinds.sum(axis=0), PERCENT)
        return np.vstack([kinds, np.maximum(0.0, PERCENT - kinds.sum(axis=0))])

    # --- memory and disk -----------------------------------------------------------------------

    @cached_property
    def allocated(self) -> Floats:
        """B/s that processing takes; given back when the garbage is collected."""
        return np.asarray(self._inputs.throughput * (self._inputs.bytes_in * self.constant("event_footprint")))

    @cached_property
    def memory(self) -> Floats:
        """[kind, t] bytes: used, buffers, cache and free add up to all there is; beside them what is swapped out."""
        inputs = self._inputs
        wanted = (
            self.per_host("memory_system")
            + inputs.workers * without_gaps(inputs.memory) * self.constant("worker_memory")
            + self.allocated * self.constant("garbage_s")
            + self.per_host("memory_noise") * self._noise("mem_used")
        )
        total, buffers = self.per_host("memory_total"), self.per_host("memory_buffers")
        room = total - buffers - self.per_host("memory_reserve")
        used = np.clip(wanted, 0.0, room)
        cache = np.minimum(self.per_host("memory_cache"), room - used)
        swapped = np.clip(wanted - room, 0.0, self.per_host("swap_total"))
        return np.stack([used, buffers, cache, total - used - buffers - cache, swapped])

    def memory_share(self, kind: int) -> Floats:
        return np.asarray(PERCENT * self.memory[kind] / self.per_host("memory_total"))

    @cached_property
    def swapping(self) -> Floats:
        """B/s that move to swap, and as many back."""
        return np.asarray(self.memory[SWAPPED] * self.constant("swap_turnover"))

    @cached_property
    def disk_read(self) -> Floats:
        return self.counted("dsk_read", self.per_host("disk_read_idle") + self.swapping)

    @cached_property
    def disk_written(self) -> Floats:
        log = self.constant("disk_write_per_event") * self._inputs.throughput
        return self.counted("dsk_writ", self.per_host("disk_write_idle") + log + self.swapping)

    @cached_property
    def disk_busy(self) -> Floats:
        """Share of the time."""
        return np.minimum(1.0, (self.disk_read + self.disk_written) / self.per_host("disk_bandwidth"))

    @cached_property
    def blocked(self) -> Floats:
        """On each machine one process waits while the disk is busy."""
        return self.hosts * self.disk_busy

    @cached_property
    def minor_faults(self) -> Floats:
        return self.counted("vm_minpf", self.per_host("faults_idle") + self.allocated / self.constant("page_bytes"))
