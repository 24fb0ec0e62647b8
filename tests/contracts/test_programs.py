"""What every job that runs for real must be."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import runtime
from jobs.runtime import Deployment

NAMES = runtime.names()
NOW = 1_800_000_000_000
SMALL = {"images": {"megapixels": "0.05"}}


def deployment(name: str, **changes: str) -> Deployment:
    return Deployment(job=name, broker="127.0.0.1:9", input="in", output="out", group="us", state="st", **changes)


def test_the_jobs_of_the_local_place_are_there() -> None:
    assert NAMES == ["images", "traffic", "wordcount", "yahoo"]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_it_is(name: str) -> None:
    program = runtime.program(name)
    assert program.name == name
    assert program.engines
    files = {"flink": "flink.sql", "spark": "spark.py", "workers": "worker.py"}
    assert all((runtime.ROOT / name / files[engine]).is_file() for engine in program.engines)


@pytest.mark.parametrize("name", NAMES)
@given(parts=st.lists(st.integers(0, 40), min_size=1, max_size=5), seed=st.integers(0, 3), partition=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_the_same_seed_gives_the_same_events_however_they_are_cut(
    name: str, parts: list[int], seed: int, partition: int
) -> None:
    make = runtime.program(name).source
    times = NOW + np.arange(sum(parts))
    whole = make(seed, partition, 4, SMALL.get(name, {})).batch(len(times), times)
    source = make(seed, partition, 4, SMALL.get(name, {}))
    ends = np.cumsum(parts)
    cut = [
        event for end, count in zip(ends, parts, strict=True) for event in source.batch(count, times[end - count : end])
    ]
    assert cut == whole
    assert len(whole) == sum(parts)


@pytest.mark.parametrize("name", NAMES)
def test_partitions_and_seeds_differ(name: str) -> None:
    make = runtime.program(name).source
    one, other, seeded = (make(*key, 4, SMALL.get(name, {})).batch(20, NOW) for key in ((1, 0), (1, 1), (2, 0)))
    assert one != other
    assert one != seeded


@pytest.mark.parametrize("name", NAMES)
def test_events_can_be_read_again(name: str) -> None:
    program = runtime.program(name)
    decode = importlib.import_module(f"jobs.{name}.events").decode
    times = NOW + np.arange(200)
    events = program.source(1, 0, 4, SMALL.get(name, {})).batch(200, times)
    assert [decode(event, time).time_ms for event, time in zip(events, times.tolist(), strict=True)] == times.tolist()
    assert max(map(len, events)) <= program.event_bytes


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_nothing_out(name: str) -> None:
    reference = importlib.import_module(f"jobs.{name}.reference")
    arguments = ({},) if name == "yahoo" else ()
    assert runtime.program(name).source(1, 0, 4).batch(0, NOW) == []
    assert reference.expected([], *arguments) == {}
    assert reference.collected([]) == {}


@pytest.mark.parametrize("name", [name for name in NAMES if "flink" in runtime.program(name).engines])
def test_a_script_leaves_no_hole(name: str) -> None:
    script = runtime.flink_script(deployment(name, work_ns=1234, checkpoint_s=2.5))
    assert "$" not in script
    assert "'127.0.0.1:9'" in script
    assert "1234" in script
    assert "'2500 ms'" in script
    assert re.search(r"'execution.checkpointing.mode' = 'EXACTLY_ONCE'", script)
    assert len(re.findall(r"^INSERT INTO", script, re.M)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_commands_are_lists_for_this_python(name: str) -> None:
    engine = "worker" if "workers" in runtime.program(name).engines else "spark"
    if engine == "worker":
        command = runtime.worker_command(deployment(name), name="w1", metrics_port=1234)
    else:
        command = runtime.spark_command(deployment(name), checkpoint=Path("c"), conf={"a.b": "c d"}, metrics_port=1234)
        assert "--conf=a.b=c d" in command
    assert command[:3] == [sys.executable, "-m", f"jobs.{name}.{engine}"]
    assert "--metrics-port=1234" in command
    assert "--broker=127.0.0.1:9" in command


def test_jobs_are_light_until_they_run() -> None:
    heavy = {"pyspark", "cv2", "confluent_kafka", "redis"}
    code = f"""
import json, sys
from jobs import runtime
for name in runtime.names():
    runtime.program(name)
print(json.dumps(sorted({heavy!r} & set(sys.modules))))
"""
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("sources", runtime.JAVA_SOURCES.values(), ids=list(runtime.JAVA_SOURCES))
def test_java_is_where_it_is_said_to_be(sources: tuple[Path, ...]) -> None:
    assert all(source.is_file() for source in sources)
