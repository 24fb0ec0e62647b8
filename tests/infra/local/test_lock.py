"""Two campaigns on one machine do not meet."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.local import lock, ports
from infra.local.errors import LocalError

HOLDER = """
import pathlib, sys
from infra.local import lock
lock.take(pathlib.Path(sys.argv[1]))
print("taken", flush=True)
sys.stdin.read()
"""


def test_the_second_is_told_who_has_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(LocalError, match=rf"taken by process {other.pid} \("):
            lock.take(path)
        assert f"process {other.pid} " in str(lock.taken(path))
        other.kill()
        other.wait()
    assert lock.taken(path) is None  # asking does not take it
    assert path not in lock._held
    lock.take(path)  # a lock goes with its process, however that ends
    lock.take(path)  # and a process may take it as often as it likes
    assert lock.taken(path) is None
    assert path in lock._held
    lock.release(path)


def test_free_ports_are_free_and_differ() -> None:
    found = ports.free(20)
    assert len(set(found)) == 20
    assert not any(map(ports.answers, found))
