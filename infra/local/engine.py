"""An engine at work: workers that come and go, each a process in a control group of its own."""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from infra.local.errors import LocalError
from infra.local.household import Household, Part
from infra.local.options import Options
from infra.local.roster import Member, Roster
from jobs.runtime import Deployment

_LATEST_CAP_S = 60.0
"""A worker that is ready has its real quota after so long at the latest, whatever the job does."""

Tell = Callable[[float, str, str], None]
"""Takes down an event: when (seconds since the epoch), its kind, and a detail."""


class Worker:
    """One worker: its process, and what others are told of it."""

    def __init__(self, part: Part, member: Member) -> None:
        self.part = part
        self.member = member
        self.capped = False
        self.leaving = False
        self.speed = 1.0


class Engine(ABC):
    """A job on its workers. Nothing here waits: `tick` looks what has changed and goes on from there."""

    name: str
    memory_mb: int
    """What a worker may use."""

    def __init__(self, household: Household, deployment: Deployment, options: Options) -> None:
        self.household = household
        self.deployment = deployment
        self.options = options
        self.workers: list[Worker] = []
        self.wanted = 0
        self.tell: Tell = lambda *_: None
        self.measuring = False
        """Whether workers get their real quota when they are ready; before the measurement all have the boot quota."""
        self.roster = Roster(self.name)
        self.roster_file: Path = household.folder / "roster.json"
        self._next = 0
        self._published: object = None
        self._settled_since = float("inf")
        self._served = False

    # --- what each engine does in its own way ------------------------------------------------

    def boot(self, workers: int) -> None:
        """Start the workers; the broker need not be there yet."""
        self.wanted = workers
        for _ in range(workers):
            self.add()

    @abstractmethod
    def launch(self) -> None:
        """Start the job on them."""

    @abstractmethod
    def start_worker(self, index: int) -> Worker:
        """Start one more process."""

    @abstractmethod
    def look(self) -> None:
        """Update who is ready, and whether the job runs."""

    @property
    @abstractmethod
    def serving(self) -> bool:
        """Whether the job processes events now."""

    @property
    @abstractmethod
    def settled(self) -> bool:
        """Whether it serves on all workers that are wanted, and on no others."""

    def vital(self) -> list[Part]:
        """The parts without which nothing goes on."""
        return []

    def request(self, *, save_first: bool) -> None:
        """Tell the engine how many workers the job is to use, and whether to save its state before they change.

        Most see the one by themselves, and do nothing again that would have to be saved.
        """
        del save_first

    # --- what all do alike -------------------------------------------------------------------

    @property
    def present(self) -> list[Worker]:
        """The workers that are paid for: all that were not told to go."""
        return [worker for worker in self.workers if not worker.leaving]

    @property
    def indices(self) -> list[int]:
        return [worker.member.index for worker in self.present]

    def rescale(self, wanted: int, *, save_first: bool = False) -> None:
        self.wanted = wanted
        while len(self.present) < wanted:
            self.add()
        self.request(save_first=save_first)
        self.shrink()
        self.publish()

    def shrink(self) -> None:
        """Let those go that are too many: the youngest."""
        for worker in self.present[self.wanted :]:
            worker.leaving = True
            worker.part.signal(signal.SIGCONT)
            worker.part.signal(signal.SIGTERM)

    def add(self) -> Worker:
        worker = self.start_worker(self._next)
        self._next += 1
        self.workers.append(worker)
        return worker

    def make_worker(
        self, name: str, command: list[str], *, metrics_port: int | None, env: dict[str, str] | None = None
    ) -> Worker:
        """A process in a control group, with the quota for booting."""
        group = self.household.group(name)
        group.limit(self.options.boot_cores)
        part = self.household.start(name, command, group=group, env=env)
        member = Member(
            index=self._next,
            started=time.time(),
            cores=self.options.boot_cores,
            memory_bytes=self.memory_mb << 20,
            metrics_port=metrics_port,
            folders=dict(group.folders),
            pid=part.pid,
        )
        return Worker(part, member)

    def tick(self) -> None:
        """See what has changed: processes that ended, workers that are ready, quotas that are due."""
        self.household.check(*self.vital())
        now = time.time()
        for worker in [worker for worker in self.workers if not worker.part.alive]:
            self._bury(worker, now)
        self.look()
        served, self._served = self._served, self.serving
        self.roster.restarts += self.measuring and self._served and not served
        self._settled_since = min(self._settled_since, now) if self.settled else float("inf")
        for worker in self.workers:
            self._cap(worker, now)
        self.publish()

    def mark(self, worker: Worker, ready: bool) -> None:
        member = worker.member
        if ready != member.ready:
            member.ready = ready
            member.ready_since = time.time()
            if ready:
                took = member.ready_since - member.started
                self.tell(member.ready_since, "boot", f"worker {member.index} after {took:.1f} s")

    def settle(self) -> None:
        """All workers get their real quota: the measurement is about to begin."""
        self.measuring = True
        for worker in self.workers:
            self._limit(worker)

    def publish(self) -> None:
        self.roster.members = [worker.member for worker in self.workers]
        seen = (
            self.roster.since,
            self.roster.restarts,
            [(member.index, member.ready, member.cores) for member in self.roster.members],
        )
        if seen != self._published:
            self.roster.write(self.roster_file)
            self._published = seen

    # --- faults ------------------------------------------------------------------------------

    def pause(self, worker: Worker, *, paused: bool) -> None:
        worker.part.signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def slow(self, worker: Worker, speed: float) -> None:
        """At a share of its quota; without quotas nothing changes."""
        worker.speed = speed
        if worker.capped:
            self._limit(worker)

    # --- inside ------------------------------------------------------------------------------

    def _bury(self, worker: Worker, now: float) -> None:
        self.workers.remove(worker)
        self.household.drop(worker.part)
        if worker.leaving:
            return
        if not self.measuring:
            raise LocalError(f"{worker.part.name} ended while it booted\n{worker.part.tail()}")
        self.tell(now, "worker_lost", f"worker {worker.member.index} died; another one starts")
        if len(self.present) < self.wanted:
            self.add()

    def _cap(self, worker: Worker, now: float) -> None:
        """When the job has run on it for a while; a new process at a fraction of a core compiles for many seconds."""
        member = worker.member
        warm = now - self._settled_since >= self.options.warm_s
        late = member.ready and now - member.ready_since >= _LATEST_CAP_S
        if self.measuring and (warm or late) and not worker.capped:
            self._limit(worker)

    def _limit(self, worker: Worker) -> None:
        worker.capped = True
        worker.member.cores = self.options.cores
        if worker.part.group is not None:
            worker.part.group.limit(self.options.cores * worker.speed)
