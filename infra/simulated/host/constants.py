"""Every figure that the simulated host metrics are made of, with its unit and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobs.model import Constant

_ASSUMED = "assumed: no source gives it"
_MACHINE = "FLAS 2020, section 6: Intel i7-4790K, 16 GB of RAM, Linux 5.3.0-28-generic"
_GIB = float(2**30)
_MIB = float(2**20)

_MACHINES = {
    "threads": Constant(8.0, "threads/host", f"{_MACHINE}; four cores with two threads each"),
    "worker_threads": Constant(1.0, "threads", f"{_ASSUMED}; CPU quota of a worker"),
    "system_cpu": Constant(0.005, "share", f"{_ASSUMED}; operating system and monitoring"),
}

_MEMORY = {
    "memory_total": Constant(16 * _GIB, "B/host", _MACHINE),
    "memory_system": Constant(1.5 * _GIB, "B/host", f"{_ASSUMED}; operating system and monitoring"),
    "memory_buffers": Constant(0.1 * _GIB, "B/host", _ASSUMED),
    "memory_cache": Constant(2 * _GIB, "B/host", f"{_ASSUMED}; files, given back when programs need the room"),
    "memory_reserve": Constant(0.1 * _GIB, "B/host", f"{_ASSUMED}; the kernel keeps this free"),
    "memory_noise": Constant(8 * _MIB, "B/host", f"{_ASSUMED}; standard deviation from second to second"),
    "worker_memory": Constant(1e9, "B", "the jobs' profiles: shares of memory are shares of 1 GB"),
    "event_footprint": Constant(5.0, "B/B", "publish/subscribe profile: 200 B on the wire are a kB in memory"),
    "garbage_s": Constant(2.0, "s", f"{_ASSUMED}; how long a processed event's memory stays taken"),
    "swap_total": Constant(2 * _GIB, "B/host", _ASSUMED),
    "swap_turnover": Constant(0.01, "1/s", f"{_ASSUMED}; share of the swapped memory that moves in a second"),
    "page_bytes": Constant(4096.0, "B", "x86-64: size of a page"),
}

_TRAFFIC = {
    "network_idle": Constant(2_000.0, "B/s/host", f"{_ASSUMED}; heartbeats and monitoring"),
    "packet_bytes": Constant(1448.0, "B", "Ethernet: 1500 B less the headers of IPv4 and TCP with time stamps"),
    "rate_noise": Constant(0.02, "share", f"{_ASSUMED}; relative standard deviation of a counted rate"),
}

_SYSTEM = {
    "switches_idle": Constant(500.0, "1/s/host", _ASSUMED),
    "switches_per_event": Constant(0.2, "", f"{_ASSUMED}; events are handed from thread to thread in batches"),
    "switch_time_s": Constant(2e-6, "s", f"{_ASSUMED}; kernel time of a context switch"),
    "interrupts_idle": Constant(200.0, "1/s/host", _ASSUMED),
    "interrupts_per_packet": Constant(0.1, "", f"{_ASSUMED}; network cards gather packets"),
    "timer_hz": Constant(250.0, "1/s/thread", "Ubuntu's generic kernels: CONFIG_HZ=250, on threads that are busy"),
    "interrupt_time_s": Constant(5e-7, "s", _ASSUMED),
    "packet_time_s": Constant(1e-6, "s", f"{_ASSUMED}; kernel time of a packet on behalf of a process"),
    "softirq_time_s": Constant(1e-6, "s", f"{_ASSUMED}; kernel time of a packet in a software interrupt"),
    "cpu_noise": Constant(0.02, "share", f"{_ASSUMED}; relative standard deviation of each kind of CPU time"),
    "load_1m_s": Constant(60.0, "s", "Linux: time constant of the first load average"),
    "load_5m_s": Constant(300.0, "s", "Linux: time constant of the second load average"),
    "load_15m_s": Constant(900.0, "s", "Linux: time constant of the third load average"),
}

_DISK = {
    "disk_read_idle": Constant(2_000.0, "B/s/host", _ASSUMED),
    "disk_write_idle": Constant(20_000.0, "B/s/host", f"{_ASSUMED}; journals of the system"),
    "disk_write_per_event": Constant(0.2, "B", f"{_ASSUMED}; the job's log"),
    "disk_request_bytes": Constant(16_384.0, "B", _ASSUMED),
    "disk_bandwidth": Constant(200e6, "B/s/host", _ASSUMED),
}

_OBJECTS = {
    "processes_idle": Constant(0.2, "processes/host", f"{_ASSUMED}; running beside the job"),
    "processes_new": Constant(1.0, "1/s/host", _ASSUMED),
    "sockets_idle": Constant(150.0, "sockets/host", _ASSUMED),
    "sockets_per_worker": Constant(20.0, "sockets", _ASSUMED),
    "tcp_listening": Constant(6.0, "sockets/host", _ASSUMED),
    "tcp_listening_per_worker": Constant(2.0, "sockets", _ASSUMED),
    "tcp_active": Constant(4.0, "sockets/host", _ASSUMED),
    "tcp_active_per_worker": Constant(12.0, "sockets", f"{_ASSUMED}; to other workers and to clients"),
    "tcp_waiting": Constant(5.0, "sockets/host", f"{_ASSUMED}; closed a short while ago"),
    "files_idle": Constant(2_000.0, "files/host", _ASSUMED),
    "files_per_worker": Constant(300.0, "files", f"{_ASSUMED}; libraries and sockets"),
    "inodes": Constant(60_000.0, "inodes/host", _ASSUMED),
    "faults_idle": Constant(300.0, "1/s/host", f"{_ASSUMED}; page faults that need no disk"),
}

#: One machine as in FLAS's experiments; a job whose workers do not fit on it has several of them.
HOST: Final[Mapping[str, Constant]] = {**_MACHINES, **_MEMORY, **_TRAFFIC, **_SYSTEM, **_DISK, **_OBJECTS}
