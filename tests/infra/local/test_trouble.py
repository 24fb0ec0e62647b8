"""Faults and rescales on real processes that do nothing: who is hit, who comes back, who is replaced."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from infra.faults import Incident
from infra.local import cgroups
from infra.local.engine import Engine, Worker
from infra.local.household import Household, Part
from infra.local.kafka import Broker
from infra.local.options import Options
from infra.local.roster import Roster
from infra.local.trouble import Trouble
from infra.processes import wait_until
from jobs.runtime import Deployment

NAP = [sys.executable, "-c", "import time; time.sleep(600)"]


class Sleepers(Engine):
    """Workers that are ready at once."""

    name = "sleepers"
    memory_mb = 64

    def launch(self) -> None: ...

    def start_worker(self, index: int) -> Worker:
        return self.make_worker(f"worker-{index}", NAP, metrics_port=None)

    def look(self) -> None:
        for worker in self.workers:
            self.mark(worker, ready=True)

    @property
    def serving(self) -> bool:
        return bool(self.workers)

    @property
    def settled(self) -> bool:
        return len(self.workers) == self.wanted


class Switch:
    """A broker that is a sleeper, too."""

    def __init__(self, household: Household) -> None:
        self._household = household
        self.part: Part | None = None
        self.start()

    def start(self) -> None:
        self.part = self._household.start("kafka", NAP)

    @property
    def up(self) -> bool:
        return self.part is not None and self.part.alive


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sleepers]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    deployment = Deployment(job="yahoo", broker="", input="", output="", group="")
    with Household("trouble") as household:
        made = Sleepers(household, deployment, Options(cores=0.2, warm_s=0))
        made.boot(3)
        made.tick()
        made.settle()
        yield made


def trouble(engine: Sleepers, *incidents: Incident) -> tuple[Trouble, Switch, list[str]]:
    switch, told = Switch(engine.household), list[str]()
    made = Trouble(incidents, engine, cast("Broker", switch), lambda: [0.1, 0.9, 0.5])
    return made, switch, told


def state(worker: Worker) -> str:
    return Path(f"/proc/{worker.part.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_crash_kills_the_one_it_names_and_another_one_starts(engine: Sleepers) -> None:
    made, _, told = trouble(engine, Incident(5.0, "crash", 5.0, workers=1, worker="hottest"))
    made.act(4.9, lambda _, kind, detail: told.append(f"{kind} {detail}"))
    assert told == []
    made.act(5.0, lambda _, kind, detail: told.append(f"{kind} {detail}"))
    assert told == ["failure crash: worker 1"]
    engine.tick()
    assert engine.indices == [0, 2, 3]


def test_a_paused_worker_stands_still_until_the_last_pause_is_over(engine: Sleepers) -> None:
    first = Incident(1.0, "pause-worker", 3.0, workers=1, worker=0)
    made, _, _ = trouble(engine, first, Incident(2.0, "pause-worker", 5.0, workers=1, worker=0))
    victim = engine.present[0]
    made.act(1.0, lambda *_: None)
    made.act(2.0, lambda *_: None)
    assert wait_until(lambda: state(victim) == "T", 10)
    made.act(3.0, lambda *_: None)
    assert state(victim) == "T"
    made.act(5.0, lambda *_: None)
    assert wait_until(lambda: state(victim) != "T", 10)


def test_the_broker_comes_back(engine: Sleepers) -> None:
    made, switch, told = trouble(engine, Incident(1.0, "broker-down", 4.0))
    made.act(1.0, lambda _, kind, __: told.append(kind))
    assert made.broker_down
    assert not switch.up
    made.act(4.0, lambda _, kind, __: told.append(kind))
    assert not made.broker_down
    assert switch.up
    assert told == ["broker-down_start", "broker-down_end"]


@pytest.mark.skipif(cgroups.permission() is not None, reason="no control groups for this user")
def test_a_slow_worker_has_a_smaller_quota_and_slowness_multiplies(engine: Sleepers) -> None:
    half = Incident(1.0, "slow-worker", 3.0, workers=1, worker=2, amount=0.5)
    made, _, _ = trouble(engine, half, Incident(2.0, "slow-worker", 4.0, workers=1, worker=2, amount=0.4))
    group = engine.present[2].part.group
    assert group is not None
    assert group.cores == 0.2
    for moment, cores in ((1.0, 0.1), (2.0, 0.04), (3.0, 0.08), (4.0, 0.2)):
        made.act(moment, lambda *_: None)
        assert group.cores == pytest.approx(cores)


def test_a_rescale_adds_processes_and_lets_the_youngest_go(engine: Sleepers) -> None:
    engine.rescale(5)
    engine.tick()
    assert engine.indices == [0, 1, 2, 3, 4]
    engine.rescale(2)
    assert engine.indices == [0, 1]

    def gone() -> bool:
        engine.tick()
        return len(engine.workers) == 2

    assert wait_until(gone, 20)
    assert engine.settled
    assert [member.index for member in Roster.read(engine.roster_file).members] == [0, 1]
