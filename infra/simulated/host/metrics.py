"""The metrics by name, as dstat groups and heads them, and the lazy mapping that a policy gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from autoscalers.model import Floats
from infra.simulated.host.constants import HOST
from infra.simulated.host.load import AVERAGES, Load
from infra.simulated.host.machine import (
    BUFFERS,
    CACHE,
    FREE,
    HIQ,
    IDL,
    PERCENT,
    SIQ,
    SWAPPED,
    SYS,
    USED,
    USR,
    WAI,
    HostInputs,
    Machine,
)
from infra.simulated.host.noise import standard_normal
from jobs.model import Constant

_SETTLE_S: Final = 3_600
"""Seconds after which load averages are brought up to date though nobody asks, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One column of dstat, named after its group and heading."""

    unit: str
    about: str
    read: Callable[[Machine], Floats]


METRICS: Final[Mapping[str, Metric]] = {
    "cpu_usr": Metric("%", "CPU time in programs", lambda m: m.cpu[USR]),
    "cpu_sys": Metric("%", "CPU time in the kernel", lambda m: m.cpu[SYS]),
    "cpu_idl": Metric("%", "CPU time without work", lambda m: m.cpu[IDL]),
    "cpu_wai": Metric("%", "CPU time waiting for the disk", lambda m: m.cpu[WAI]),
    "cpu_hiq": Metric("%", "CPU time in hardware interrupts", lambda m: m.cpu[HIQ]),
    "cpu_siq": Metric("%", "CPU time in software interrupts", lambda m: m.cpu[SIQ]),
    "sys_int": Metric("1/s", "interrupts", lambda m: m.interrupts),
    "sys_csw": Metric("1/s", "context switches", lambda m: m.switches),
    "load_1m": Metric("threads", "running threads, damped over a minute", lambda m: m.running),
    "load_5m": Metric("threads", "the same over five minutes", lambda m: m.running),
    "load_15m": Metric("threads", "the same over fifteen minutes", lambda m: m.running),
    "mem_used": Metric("B", "memory of programs", lambda m: m.memory[USED]),
    "mem_buff": Metric("B", "memory of buffers", lambda m: m.memory[BUFFERS]),
    "mem_cach": Metric("B", "memory of cached files", lambda m: m.memory[CACHE]),
    "mem_free": Metric("B", "memory that nobody uses", lambda m: m.memory[FREE]),
    "mem_used_pct": Metric("%", "share of the memory that programs use", lambda m: m.memory_share(USED)),
    "mem_free_pct": Metric("%", "share of the memory that nobody uses", lambda m: m.memory_share(FREE)),
    "swap_used": Metric("B", "memory moved to disk", lambda m: m.memory[SWAPPED]),
    "swap_free": Metric("B", "room for more of it", lambda m: m.per_host("swap_total") - m.memory[SWAPPED]),
    "paging_in": Metric("B/s", "from swap", lambda m: m.swapping),
    "paging_out": Metric("B/s", "to swap", lambda m: m.swapping),
    "vm_majpf": Metric("1/s", "page faults that need the disk", lambda m: m.swapping / m.constant("page_bytes")),
    "vm_minpf": Metric("1/s", "page faults that do not", lambda m: m.minor_faults),
    "dsk_read": Metric("B/s", "read from disk", lambda m: m.disk_read),
    "dsk_writ": Metric("B/s", "written to disk", lambda m: m.disk_written),
    "dsk_util": Metric("%", "time that the disk is busy", lambda m: PERCENT * m.disk_busy),
    "io_read": Metric("1/s", "read requests", lambda m: m.disk_read / m.constant("disk_request_bytes")),
    "io_writ": Metric("1/s", "write requests", lambda m: m.disk_written / m.constant("disk_request_bytes")),
    "net_recv": Metric("B/s", "received", lambda m: m.received),
    "net_send": Metric("B/s", "sent", lambda m: m.sent),
    "procs_run": Metric("threads", "running", lambda m: m.counted("procs_run", m.running)),
    "procs_blk": Metric("processes", "waiting for the disk", lambda m: m.blocked),
    "procs_new": Metric("1/s", "started", lambda m: m.counted("procs_new", m.per_host("processes_new"))),
    "sock_tot": Metric("sockets", "open", lambda m: m.objects("sockets_idle", "sockets_per_worker")),
    "sock_tcp": Metric("sockets", "of TCP", lambda m: m.tcp_listening + m.tcp_active),
    "tcp_lis": Metric("sockets", "listening", lambda m: m.tcp_listening),
    "tcp_act": Metric("sockets", "connected", lambda m: m.tcp_active),
    "tcp_syn": Metric("sockets", "connecting", lambda m: np.zeros_like(m.hosts)),
    "tcp_tim": Metric("sockets", "closed a short while ago", lambda m: m.per_host("tcp_waiting")),
    "tcp_clo": Metric("sockets", "closing", lambda m: np.zeros_like(m.hosts)),
    "fs_files": Metric("files", "open", lambda m: m.objects("files_idle", "files_per_worker")),
    "fs_inodes": Metric("inodes", "in use", lambda m: m.per_host("inodes")),
}
_ROW: Final = {name: row for row, name in enumerate(METRICS)}


class HostMetrics(Mapping[str, Floats]):
    """Low-level metrics of some seconds by name, [t] each; nothing is worked out before it is asked for."""

    def __init__(
        self,
        first_second: int,
        inputs: HostInputs,
        constants: Mapping[str, Constant] = HOST,
        seed: int = 0,
        load: Load | None = None,
    ) -> None:
        self._first_second = first_second
        self._seconds = inputs.workers.size
        self._seed = seed
        self._load = Load(inputs, constants) if load is None else load
        self._machine = Machine(inputs, constants, self._noise_of)
        self._known: dict[str, Floats] = {}

    def __getitem__(self, name: str) -> Floats:
        if name not in self._known:
            values = self._load.average(name) if name in AVERAGES else METRICS[name].read(self._machine)
            values.flags.writeable = False
            self._known[name] = values
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in METRICS

    def __iter__(self) -> Iterator[str]:
        return iter(METRICS)

    def __len__(self) -> int:
        return len(METRICS)

    @cached_property
    def _noise(self) -> Floats:
        return standard_normal(self._seed, len(METRICS), self._first_second, self._seconds)

    def _noise_of(self, name: str) -> Floats:
        return np.asarray(self._noise[_ROW[name]])


class Host:
    """The machines under one run: hands out the metrics of one observation after the other, without a gap.

    >>> second = np.ones(1)
    >>> inputs = HostInputs(9e4 * second, 1e5 * second, 0.9 * second, 0.4 * second, 2 * second, 200, 500, pushed=True)
    >>> float(Host(seed=1).look(0, inputs)["net_send"].round(-6)[0])
    45000000.0
    """

    def __init__(self, constants: Mapping[str, Constant] = HOST, seed: int = 0) -> None:
        self._constants = constants
        self._seed = seed
        self._load: Load | None = None
        self._next_second = 0
        self._settled = 0

    def look(self, first_second: int, inputs: HostInputs) -> HostMetrics:
        if self._load is not None and first_second != self._next_second:
            raise ValueError(f"second {self._next_second} comes next, not {first_second}")
        load = self._load = Load(inputs, self._constants, self._load)
        self._next_second = first_second + inputs.workers.size
        if self._next_second - self._settled >= _SETTLE_S:
            load.start()
            self._settled = self._next_second
        return HostMetrics(first_second, inputs, self._constants, self._seed, load)
