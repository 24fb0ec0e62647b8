"""A pool of plain workers that share the input's partitions as a consumer group; one more or less is a rescale."""

from __future__ import annotations

from infra.local.engine import Engine, Worker
from infra.local.ports import LOOPBACK, free
from infra.local.progress import figures
from jobs import runtime


class Pool(Engine):
    """Workers without a master: the broker assigns partitions."""

    name = "workers"
    memory_mb = 512

    @property
    def serving(self) -> bool:
        return any(worker.member.ready for worker in self.workers)

    @property
    def settled(self) -> bool:
        return len(self.workers) == self.wanted and all(worker.member.ready for worker in self.workers)

    def boot(self, workers: int) -> None:
        """They need the broker's topics: `launch` starts them."""
        self.wanted = workers

    def launch(self) -> None:
        super().boot(self.wanted)

    def start_worker(self, index: int) -> Worker:
        (port,) = free(1)
        command = runtime.worker_command(self.deployment, name=f"worker-{index}", metrics_port=port)
        return self.make_worker(f"worker-{index}", command, metrics_port=port)

    def look(self) -> None:
        for worker in self.workers:
            told = figures(f"http://{LOOPBACK}:{worker.member.metrics_port}/metrics")
            # a worker beyond the number of partitions gets none and never serves
            self.mark(worker, told.get("tidebed_worker_ready", 0.0) == 1.0)
