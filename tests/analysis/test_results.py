"""Tables on disk: the schema to the letter, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis import results
from analysis.errors import AnalysisError
from experiments.schema import RESULT_TABLES

ROWS = pd.DataFrame(
    {
        "run_id": ["a", "b"],
        "experiment": ["x", "x"],
        "seed": [1, 2],
        "metric": ["cost", "cost"],
        "value": [1.5, 2.5],
        "scratch": ["not", "in the schema"],
    }
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    results.write(tmp_path / "new" / "folder", "run_summary", ROWS)
    pd.testing.assert_frame_equal(
        results.read(tmp_path / "new" / "folder", "run_summary"), ROWS.drop(columns="scratch")
    )


@pytest.mark.parametrize("table", RESULT_TABLES)
def test_every_table_has_exactly_its_schema_even_when_empty(tmp_path: Path, table: str) -> None:
    results.write(tmp_path, table, pd.DataFrame(columns=RESULT_TABLES[table].names))
    assert pq.read_schema(tmp_path / f"{table}.parquet").equals(RESULT_TABLES[table], check_metadata=True)
    assert list(results.read(tmp_path, table).columns) == RESULT_TABLES[table].names


def test_a_failed_write_leaves_the_old_table_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_the_disk(_: object, path: Path) -> None:
        path.write_bytes(b"PAR1 and then")
        raise OSError("no space left")

    results.write(tmp_path, "run_summary", ROWS)
    monkeypatch.setattr(pq, "write_table", fill_the_disk)
    with pytest.raises(OSError, match="no space left"):
        results.write(tmp_path, "run_summary", ROWS.assign(seed=[3, 4]))
    assert results.read(tmp_path, "run_summary")["seed"].tolist() == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["run_summary.parquet"]


def test_mistakes_are_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"^there is no result table \"sumary\"; known: .*summary.*$"):
        results.read(tmp_path, "sumary")
    with pytest.raises(AnalysisError, match=r"^.*tests\.parquet is not there: aggregate the campaign first$"):
        results.read(tmp_path, "tests")
    with pytest.raises(AnalysisError, match=r"^the table run_summary lacks the column seed$"):
        results.write(tmp_path, "run_summary", ROWS.drop(columns="seed"))
    (tmp_path / "tests.parquet").write_text("no Parquet")
    with pytest.raises(AnalysisError, match=r"^.*tests\.parquet cannot be read: .*$"):
        results.read(tmp_path, "tests")


def test_provenance_is_there_or_empty(tmp_path: Path) -> None:
    assert results.read_provenance(tmp_path) == {}
    results.write_provenance(tmp_path, {"rows": 3})
    assert results.read_provenance(tmp_path) == {"rows": 3}
