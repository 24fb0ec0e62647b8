from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from operators import nights


def folder(archive: Path, night: str, suite: str = "nightly") -> Path:
    results = archive / "nights" / night / suite / "results"
    results.mkdir(parents=True)
    return results


def test_the_nights_before_come_oldest_first_and_without_tonight(tmp_path: Path) -> None:
    made = {night: folder(tmp_path, night) for night in ("2026-03-02", "2025-12-31", "2026-03-01", "2026-03-03")}
    (tmp_path / "nights" / "2026-01-01.txt").touch()
    assert nights.nights_before(made["2026-03-02"]) == [made["2025-12-31"], made["2026-03-01"]]


def test_only_nights_of_the_same_suite_are_named(tmp_path: Path) -> None:
    folder(tmp_path, "2026-03-01", suite="other")
    tonight = folder(tmp_path, "2026-03-02")
    assert all(results.parent.name == "nightly" for results in nights.nights_before(tonight))


@given(st.dates(), st.integers(min_value=1, max_value=3000), st.integers(min_value=1, max_value=10_000))
def test_no_two_nights_share_a_seed(night: date, later: int, repetitions: int) -> None:
    try:
        other = night + timedelta(days=later)
    except OverflowError:
        return
    assert nights.seed_of(night) + repetitions - 1 < nights.seed_of(other)


def test_a_run_without_a_date_of_its_own_stands_for_the_day_it_was_triggered() -> None:
    due, triggered = pd.Timestamp("2026-03-01T02:00Z"), pd.Timestamp("2026-03-04T11:00Z")
    scheduled = {"dag_run": SimpleNamespace(logical_date=due, run_after=triggered)}
    manual = {"dag_run": SimpleNamespace(logical_date=None, run_after=triggered)}
    assert nights.date_of(scheduled) == date(2026, 3, 1)
    assert nights.date_of(manual) == date(2026, 3, 4)


def test_only_what_got_worse_is_complained_about() -> None:
    columns = ["experiment", "metric", "unit", "before", "now", "change", "p", "p_holm", "verdict"]
    rows = [
        ("yahoo-hpa", "latency_p95", "s", 1.0, 2.5, 1.5, 1e-4, 0.002, "regression"),
        ("yahoo-hpa", "mean_workers", "workers", 9.0, 7.0, -0.2, 1e-4, 0.002, "improvement"),
        ("yahoo-hpa", "cost", "USD", 9.0, 9.1, 0.01, 0.8, 1.0, "unchanged"),
        ("yahoo-static", "cost", "USD", None, 9.1, None, None, None, "no history"),
    ]
    (line,) = nights.in_words(pd.DataFrame(rows, columns=columns))
    assert line == "yahoo-hpa: latency_p95 went from 1 to 2.5 s (p = 0.002)"
