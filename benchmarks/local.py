"""`make bench-local`: the local place measured, as a table and as bench-local-results.json.

Ratios are of one run on one machine: the load generator against Kafka's own producer benchmark on the same broker with
the same events, throughput with 2 and 4 workers against 1, the control loop's CPU against a core.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import autoscalers
import infra
import jobs
from infra.faults import Incident
from infra.local import jars, java, lock
from infra.local.generators import LOAD, Generators
from infra.local.household import Household
from infra.local.kafka import Broker
from infra.local.ports import free
from infra.model import Assignment
from jobs import runtime
from jobs.runtime import Deployment

RATES = (10_000, 50_000, 100_000)
SECONDS = 20
PARTITIONS = 8
CEILING = 2_000_000.0
"""Events/s that no generator reaches."""
WORKERS = (1, 2, 4)
BACKLOG = 11_000_000
"""Events that keep four workers busy for the whole measurement."""
TRICKLE = 10.0
"""Events/s beside them."""
COMPILED_S = 30.0
"""By then a worker of a quarter of a core has compiled what it runs most."""


class Load:
    """A broker, and the generator against it."""

    def __init__(self, household: Household) -> None:
        self._household = household
        self.broker = Broker(household, *free(2))
        self.broker.start()
        self.broker.await_ready()
        self._topics = 0

    def topic(self) -> str:
        self._topics += 1
        name = f"events-{self._topics}"
        self.broker.create({name: (PARTITIONS, {"retention.bytes": str(256 << 20)})})
        return name

    def play(self, rate: float, seconds: int, *, to_its_end: bool = True) -> Generators:
        deployment = Deployment(job="yahoo", broker=self.broker.address, input=self.topic(), output="", group="bench")
        made = Generators(
            self._household,
            runtime.program("yahoo"),
            deployment,
            curves={LOAD: np.full(seconds, rate)},
            partitions=PARTITIONS,
            seed=1,
            processes=0 if rate < CEILING else os.cpu_count() or 1,
        )
        self._household.await_("the generator", lambda: made.ready, *made.parts)
        made.play(LOAD, time.time() + 0.5)
        if to_its_end:
            self._household.await_("its end", lambda: made.totals is not None, patience_s=seconds + 60)
        else:
            time.sleep(seconds + 0.6)
            made.rest()
            self._household.await_("its end", lambda: made.totals is not None, patience_s=120)
        made.finish()
        return made


def generator() -> dict[str, float]:
    """How exactly the load follows its curve, and how far it is from the fastest."""
    figures: dict[str, float] = {}
    with Household("bench-load") as household:
        load = Load(household)
        for rate in RATES:
            made = load.play(rate, SECONDS)
            error = np.abs(made.sent(SECONDS) / rate - 1)
            figures[f"{rate:,} events/s: share of seconds within 1 %"] = float(np.mean(error <= 0.01))
            figures[f"{rate:,} events/s: largest error of a second (%)"] = 100 * float(error.max())
            assert made.totals is not None
            figures[f"{rate:,} events/s: events missing of the total"] = rate * SECONDS - made.totals[1]
        made = load.play(CEILING, 10, to_its_end=False)
        sent = made.sent(10)
        figures["generator, as fast as it can: events/s"] = float(np.nanmean(sent[1:]))
        peer = producer_perf_test(load, folder=household.folder)
        figures["kafka-producer-perf-test: events/s"] = peer
        figures["generator over kafka-producer-perf-test"] = figures["generator, as fast as it can: events/s"] / peer
    return figures


def producer_perf_test(load: Load, folder: Path, events: int = 3_000_000) -> float:
    """Kafka's own benchmark with the same events, compression and batches."""
    payloads = folder / "payloads.txt"
    source = runtime.program("yahoo").source(1, 0, PARTITIONS)
    payloads.write_bytes(b"\n".join(source.batch(20_000, int(time.time() * 1000))) + b"\n")
    arguments = ["--topic", load.topic(), "--num-records", str(events), "--throughput", "-1"]
    arguments += ["--payload-file", str(payloads), "--bootstrap-server", load.broker.address, "--command-property"]
    arguments += ["compression.type=lz4", "linger.ms=10", "batch.size=262144", "buffer.memory=134217728"]
    main = "org.apache.kafka.tools.ProducerPerformance"
    command = java.command(main, jars.class_path("kafka"), *arguments, heap_mb=512)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(re.findall(r"([\d.]+) records/sec", done.stdout)[-1])


def throughput(workers: int, seconds: int = 30) -> tuple[float, float]:
    """Events/s of so many Flink workers that always have work, and the control loop's share of a core.

    The generator makes the work first, which takes a core or more. What counts is the time after that.
    """
    job, engine = jobs.get("yahoo"), "flink-reactive"
    fill = Incident(0.0, "fill-lag", 0.0, amount=float(BACKLOG * workers / max(WORKERS)))
    curve = np.full(180, TRICKLE)
    options = {"max_workers": workers, "warmup_s": 10}
    assignment = Assignment(f"bench-{workers}", job, engine, curve, 1, workers, options, faults=(fill,))
    policy = autoscalers.create("hpa", minimum=workers, maximum=workers, sync_period_s=5)
    with infra.get("local").provision(assignment) as cluster, cluster.deploy() as target:
        cpu, wall, filled = time.process_time(), time.monotonic(), math.inf
        while target.time_s < min(curve.size, filled + seconds):
            target.advance(5)
            seen = target.observe()
            target.apply(policy.decide(seen))
            if seen.workload[-1] <= 2 * TRICKLE:
                filled = min(filled, max(target.time_s, COMPILED_S))
        share = (time.process_time() - cpu) / (time.monotonic() - wall)
        rows = target.drain()
    backlog, processed = (np.asarray(rows.metrics[name], dtype=np.float64) for name in ("backlog", "throughput"))
    if not (filled < curve.size and backlog[-1] > 0):
        raise SystemExit(
            f"{workers} workers ran out of work, or it was not there in time: the figure would mean nothing"
        )
    return float(np.nanmean(processed[int(filled) :])), share


def scaling() -> dict[str, float]:
    figures: dict[str, float] = {}
    first = 0.0
    for workers in WORKERS:
        rate, share = throughput(workers)
        first = first or rate
        figures[f"Flink, {workers} workers of 0.25 core: events/s"] = rate
        figures[f"Flink, {workers} workers: share of proportional"] = rate / first / workers
        figures["control loop: share of a core"] = max(share, figures.get("control loop: share of a core", 0.0))
    return figures


def first_second() -> dict[str, float]:
    """From the command to the first measured second."""
    lock.release()  # this process had the machine for `scaling`; now the command must have it
    command = [str(Path(sys.executable).with_name("tidebed")), "run", "local-smoke", "--fresh"]
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with subprocess.Popen(
            [*command, "--archive", folder], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as campaign:
            assert campaign.stderr is not None
            took = next(time.monotonic() - began for line in campaign.stderr if line.startswith("measuring"))
            campaign.kill()
    subprocess.run([command[0], "sweep"], check=True, capture_output=True)
    return {"from the command to the first measured second (s)": took}


def main() -> None:
    console = Console()
    jars.require()
    results = {}
    for benchmark in (generator, scaling, first_second):
        console.print(f"{benchmark.__name__} …", style="dim")
        results[benchmark.__name__] = benchmark()
        table = Table(title=benchmark.__name__, title_justify="left", title_style="bold", show_header=False)
        table.add_column()
        table.add_column(justify="right")
        for figure, value in results[benchmark.__name__].items():
            table.add_row(figure, f"{value:,.2f}")
        console.print(table)
    host = {"system": platform.platform(terse=True), "cores": os.cpu_count(), "python": platform.python_version()}
    text = json.dumps({"host": host, "results": results}, indent=1)
    Path("bench-local-results.json").write_text(text + "\n")
    console.print("written to bench-local-results.json")


if __name__ == "__main__":
    main()
