"""YAML with line numbers."""

from pathlib import Path

import pytest

from experiments.document import Problem, read
from experiments.errors import UserError


def test_every_value_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text("a: 1\nb:\n  - x: {y: 2}\n  - 3\n")
    document = read(path)
    assert document.data == {"a": 1, "b": [{"x": {"y": 2}}, 3]}
    assert document.line(("b", 0, "x", "y")) == 3
    assert document.line(("b", 1)) == 4
    assert document.line(("b", 1, "not", "there")) == 4
    assert document.describe(Problem(("b", 0, "x"), "wrong")) == "d.yaml:3: b[0].x: wrong"


def test_problems_come_in_the_order_of_lines_and_once(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text("a: 1\nb: 2\n")
    error = read(path).error([Problem(("b",), "late"), Problem(("a",), "early"), Problem(("b",), "late")])
    assert error.lines == ("d.yaml:1: a: early", "d.yaml:2: b: late")


def test_types_are_yaml_types(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text("a: 0.8\nb: true\nc: null\nd: 6h\ne: '7'\n")
    assert read(path).data == {"a": 0.8, "b": True, "c": None, "d": "6h", "e": "7"}


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="cannot be read: not UTF-8 text"):
        read(path)
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read(tmp_path)
