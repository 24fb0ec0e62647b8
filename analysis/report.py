"""The report of a campaign: report.html for reading, report.md for repositories and pull requests."""

from __future__ import annotations

from pathlib import Path

from analysis import report_html, report_markdown
from analysis.report_content import build
from analysis.report_model import ExperimentInfo, FailedRun, ReportContext, Tables

__all__ = ["ExperimentInfo", "FailedRun", "ReportContext", "write"]


def write(results: Path, context: ReportContext) -> Path:
    """Write both reports beside the tables they are made of; returns the page."""
    content = build(context, Tables.load(results))
    results.mkdir(parents=True, exist_ok=True)
    page = results / "report.html"
    page.write_text(report_html.render(content), encoding="utf-8")
    (results / "report.md").write_text(report_markdown.render(content), encoding="utf-8")
    return page
