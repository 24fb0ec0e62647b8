"""Folders and files that are not what they should be are told in one line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.errors import UserError
from experiments.validation import cut, sources


def tidebed(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=300)


def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(sources.EXTRACTS, tmp_path / "data"))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    answer = tidebed("validate", "nowhere", cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr == (
        "nowhere: no such folder; it must hold phoebe_runs, demeter_runs or daedalus_measured\n"
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no measured runs; expected phoebe_runs, demeter_runs or"):
        sources.read(tmp_path)


def test_what_is_missing_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    data = copied(tmp_path)
    shutil.rmtree(data / "phoebe_runs")
    found = sources.read(data)
    assert [run.source for run in found.runs] == ["Demeter"]
    assert "phoebe_runs is missing: not compared" in found.remarks


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("phoebe_runs/events.csv", "run,job\na,b\n", "no column system, t, kind, w_from, w_to; there are: run, job"),
        ("phoebe_runs/cars_phoebe_4.parquet", "no Parquet", "not a readable Parquet file"),
        (
            "phoebe_runs/events.csv",
            "run,job,system,t,kind,w_from,w_to\ncars_phoebe_4,CARS,phoebe,soon,failure,,\n",
            't is "soon"; it must be a number',
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, file: str, content: str, complaint: str) -> None:
    data = copied(tmp_path)
    (data / file).write_text(content)
    with pytest.raises(UserError) as told:
        sources.read(data)
    assert str(told.value).startswith(str(data / file))
    assert complaint in str(told.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "["], '--only: "[" is no regular expression'),
        (["--only", "mars"], '--only: no run matches "mars"; there are: cars_phoebe_4'),
        (
            ["--page", "no/such/folder.html"],
            "--page: no/such/folder.html cannot be written (No such file or directory)",
        ),
    ],
)
def test_wrong_options_exit_with_2_and_one_line(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    answer = tidebed("validate", *arguments, cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].startswith(complaint)
    assert "Traceback" not in answer.stderr


def test_validate_writes_its_page_where_it_is_called(tmp_path: Path) -> None:
    answer = tidebed("validate", "--only", "cars_phoebe", "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "validation.html").stat().st_size > 10_000


def test_the_extracts_are_what_cutting_them_again_gives(full_data: Path, tmp_path: Path) -> None:
    cut.cut(full_data, tmp_path)
    for file in sorted(tmp_path.rglob("*.csv")):
        assert file.read_text() == (sources.EXTRACTS / file.relative_to(tmp_path)).read_text()
    assert {file.name for file in tmp_path.rglob("*.parquet")} == {
        file.name for file in sources.EXTRACTS.rglob("*.parquet")
    }
