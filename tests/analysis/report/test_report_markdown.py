from __future__ import annotations

from pathlib import Path

import pytest

from analysis import results as tables
from analysis.ranking import rank
from analysis.report import ReportContext


def parsed(text: str, heading: str) -> list[list[str]]:
    """The first table below a heading, head included."""
    lines = text.split(f"\n## {heading}\n")[1].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return [rows[0], *rows[2:]]


def test_the_table_says_what_the_ranking_says(sample: tuple[Path, ReportContext]) -> None:
    results, context = sample
    overall, *_ = rank(tables.read(results, "summary"), tables.read(results, "tests"), context.objectives)
    head, *rows = parsed((results / "report.md").read_text(), "Ranking")
    assert len(rows) == len(overall.standings) == 4
    for row, standing in zip(rows, overall.standings, strict=True):
        cells = dict(zip(head, row, strict=True))
        assert cells["Rank"] == standing.rank
        assert cells["Autoscaler"] == standing.autoscaler
        assert cells["Objectives"].startswith("met" if standing.meets else "missed")
        assert cells["Mean rank"] == f"{standing.mean_rank:.2f}"
        cost, unit, *_ = cells["Total cost"].split(" ")
        assert unit == "USD"
        assert float(cost) == pytest.approx(standing.cost.mean, rel=0.005)
        assert float(cells["Violations"].split(" ")[0]) == pytest.approx(100 * standing.violations.mean, rel=0.05)
        assert float(cells["Workers"]) == pytest.approx(standing.mean_workers, rel=0.005)
        assert float(cells["Actions"]) == pytest.approx(standing.scaling_actions, rel=0.005)
        assert cells["Confidence"] == standing.confidence


def test_cost_is_given_against_the_baseline(sample: tuple[Path, ReportContext]) -> None:
    results, context = sample
    summary = tables.read(results, "summary")
    totals = summary[summary["metric"] == "cost"].groupby("autoscaler")["mean"].sum()
    head, *rows = parsed((results / "report.md").read_text(), "Ranking")
    column = head.index(f"vs {context.baseline}")
    for row in rows:
        if row[1] == context.baseline:
            assert row[column] == "baseline"
        else:
            said = float(row[column].removesuffix(" %").replace("−", "-"))
            assert said == pytest.approx(100 * (totals[row[1]] / totals[context.baseline] - 1), abs=0.51)


def test_regressions_come_worst_first(sample: tuple[Path, ReportContext]) -> None:
    text = (sample[0] / "report.md").read_text()
    _, *rows = parsed(text, "Regressions")
    assert [(row[1], row[4], row[6]) for row in rows] == [
        ("Downtime", "–", "regression"),
        ("p95 latency", "+142 %", "regression"),
        ("Cost", "+8.2 %", "regression"),
        ("p95 latency", "−20 %", "improvement"),
    ]
    assert "Of 6 figures 3 got worse against the nights before, 1 got better" in text
    assert "and 1 did not change significantly; without history so far: 1." in text


def test_published_figures_keep_their_kind(sample: tuple[Path, ReportContext]) -> None:
    text = (sample[0] / "report.md").read_text()
    _, *rows = parsed(text, "Published against measured")
    assert [row[3:8] for row in rows] == [
        ["−71 %", "−58 %", "–", "±15 points", "yes"],
        ["312 ms", "1.90 s", "+509 %", "±50 %", "no"],
        ["–", "–", "–", "–", "yes"],
    ]
    assert "2 of 3 published figures reproduced." in text


def test_failed_runs_and_provenance_are_there(sample: tuple[Path, ReportContext]) -> None:
    results, context = sample
    text = (results / "report.md").read_text()
    assert all(run.run_id in text and run.label in text for run in context.failed)
    assert all(experiment.label in text and experiment.id in text for experiment in context.experiments)
    assert all(f"- {what}: " in text for what in context.provenance)
    assert "\N{NO-BREAK SPACE}" not in text
    assert text.endswith("\n")
    assert "\n\n\n" not in text
