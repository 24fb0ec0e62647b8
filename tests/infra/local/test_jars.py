"""Jars are pinned: what differs from the lock never gets into the cache."""

import json
from pathlib import Path

import pytest

from infra.local import jars
from infra.local.errors import LocalError


def test_every_set_is_locked_with_checksums() -> None:
    locked = json.loads(jars.LOCK.read_text())
    assert set(locked) == set(jars.SETS)
    for name, coordinates in jars.SETS.items():
        for coordinate in coordinates:
            assert f"{coordinate.artifact}-{coordinate.version}.jar" in locked[name]
        assert all(len(checksum) == 64 for checksum in locked[name].values())


def test_no_host_is_named() -> None:
    for file in (jars.LOCK, Path(jars.__file__)):
        assert "https://" not in file.read_text()


def test_a_jar_that_differs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    right = dict(json.loads(jars.LOCK.read_text())["spark"])
    wrong = {**right, "kafka-clients-3.9.2.jar": "0" * 64}
    monkeypatch.setattr(jars, "_resolve", lambda name, draft: wrong)
    with pytest.raises(LocalError, match=r"jars of spark differ from jars\.lock: kafka-clients-3\.9\.2\.jar"):
        jars.fetch("spark")
    assert not jars.folder("spark").exists()


def test_what_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(LocalError, match=r"jars are missing \(kafka, flink, .*\): make jars"):
        jars.require()
