from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

from analysis import results as tables
from analysis.cost import Objectives
from analysis.palette import THEMES
from analysis.report import ExperimentInfo, FailedRun, ReportContext, write

EVIL = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
VOID = {"meta", "br", "img", "link", "input", "hr", "line", "path"}


class Page(HTMLParser):
    """What a browser makes of the page: elements with their attributes, scripts, and the text that shows."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text: list[str] = []
        self.style = ""
        self._inside: list[tuple[str, dict[str, str | None]]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._inside.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag not in VOID:
            opened, _ = self._inside.pop()
            assert opened == tag, f"<{opened}> is closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        tag, attributes = self._inside[-1] if self._inside else ("", {})
        if tag == "script":
            self.scripts.append((attributes, data))
        elif tag == "style":
            self.style += data
        else:
            self.text.append(data)

    @property
    def shown(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))

    @property
    def figures(self) -> list[dict[str, object]]:
        return [
            json.loads(text)
            for attributes, text in self.scripts
            if attributes.get("type") == "application/json" and str(attributes["id"]).startswith("picture")
        ]

    def attributes(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def test_the_page_needs_nothing_but_itself(sample: tuple[Path, ReportContext]) -> None:
    page = Page(sample[0] / "report.html")
    for attributes in page.attributes(*{tag for tag, _ in page.elements}):
        for name in ("src", "srcset", "action", "data", "poster"):
            assert name not in attributes
        target = attributes.get("href")
        assert target is None or target.startswith("#")
    assert "@import" not in page.style
    assert "url(" not in page.style
    assert not page.attributes("link", "iframe", "object", "embed", "base")


def test_the_content_policy_allows_exactly_the_pages_own_scripts(sample: tuple[Path, ReportContext]) -> None:
    page = Page(sample[0] / "report.html")
    run = [text for attributes, text in page.scripts if "type" not in attributes]
    policy = next(
        attributes["content"] or ""
        for attributes in page.attributes("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert len(run) == 2
    assert policy.startswith("default-src 'none'")
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert "unsafe" not in policy.split("style-src")[0]


def test_every_link_leads_somewhere_and_no_id_is_used_twice(sample: tuple[Path, ReportContext]) -> None:
    page = Page(sample[0] / "report.html")
    ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert max(ids.values()) == 1
    links = {str(attributes["href"])[1:] for attributes in page.attributes("a")}
    figures = {str(attributes["data-figure"]) for attributes in page.attributes("div") if "data-figure" in attributes}
    options = {str(attributes["value"]) for attributes in page.attributes("option")}
    assert links | figures | options <= set(ids)
    assert {"ranking", "regressions", "published", "scenario-4", "failed", "provenance"} <= links | {"published"} | set(
        ids
    )


def test_every_experiment_failed_run_and_fact_is_named(sample: tuple[Path, ReportContext]) -> None:
    results, context = sample
    shown = Page(results / "report.html").shown
    for experiment in context.experiments:
        assert experiment.label in shown
        assert experiment.id in shown
    for run in context.failed:
        assert {part for part in (run.run_id, run.label, run.error, run.log) if part not in shown} == set()
    for what, value in context.provenance.items():
        assert what in shown
        assert value in shown
    assert "1 of 80 runs failed." in shown
    assert shown.index("1 of 80 runs failed.") < shown.index("Ranking")


def test_the_parts_come_in_the_order_of_their_weight(sample: tuple[Path, ReportContext]) -> None:
    page = Page(sample[0] / "report.html")
    parts = [attributes["id"] for attributes in page.attributes("section")]
    assert parts == ["ranking", "regressions", "published", "scenarios", "failed", "provenance"]


def test_no_gap_shows_as_a_number(sample: tuple[Path, ReportContext]) -> None:
    page = Page(sample[0] / "report.html")
    assert not re.search(r"\b(nan|inf|None|NaN|null|undefined)\b", page.shown)
    assert "–" in page.shown  # static never rescales, so it has no recovery time


def test_tables_and_pictures_can_be_read_aloud(sample: tuple[Path, ReportContext]) -> None:
    page = Page(sample[0] / "report.html")
    heads = Counter(attributes.get("scope") for attributes in page.attributes("th"))
    assert heads["col"] > 50
    assert heads["row"] > 50
    assert heads[None] == 0
    pictures = [attributes for attributes in page.attributes("div") if attributes.get("class") == "plot"]
    assert len(pictures) == 1 + 4 * (4 + 4)
    assert all(attributes["role"] == "img" and len(attributes["aria-label"] or "") > 30 for attributes in pictures)
    assert page.attributes("html") == [{"lang": "en"}]


def coloured(value: object, theme: dict[str, str], key: str = "") -> object:
    """Colour names put in, as the page does."""
    if isinstance(value, dict):
        return {name: coloured(one, theme, name) for name, one in value.items()}
    if isinstance(value, list):
        return [coloured(one, theme, key) for one in value]
    if isinstance(value, str) and value.startswith("$") and key.endswith("color"):
        return theme[value[1:]]
    return value


@pytest.mark.parametrize("theme", list(THEMES))
def test_every_picture_is_a_valid_plotly_figure(sample: tuple[Path, ReportContext], theme: str) -> None:
    figures = Page(sample[0] / "report.html").figures
    assert len(figures) == 1 + 4 + 4 * (4 + 4)
    for figure in figures:
        go.Figure(coloured(figure, THEMES[theme]))


def test_an_autoscaler_has_the_same_colour_in_every_picture(sample: tuple[Path, ReportContext]) -> None:
    colours: dict[str, set[str]] = {}
    for figure in Page(sample[0] / "report.html").figures:
        for trace in figure["data"]:
            if trace["type"] == "scatter" and trace.get("name") in sample[1].autoscalers:
                colour = trace["line"]["color"] if trace["mode"] == "lines" else trace["marker"]["color"]
                colours.setdefault(trace["name"], set()).add(colour)
    assert colours.keys() == set(sample[1].autoscalers)
    assert all(len(found) == 1 for found in colours.values())
    assert len(set.union(*colours.values())) == len(colours)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", list(THEMES.values()), ids=list(THEMES))
def test_text_and_lines_stand_out(theme: dict[str, str]) -> None:
    for text in ("ink", "muted", "accent", "good", "bad"):
        assert contrast(theme[text], theme["paper"]) >= 4.5
    for text in ("ink", "muted"):
        assert contrast(theme[text], theme["panel"]) >= 4.5
    assert contrast(theme["accent"], theme["notice"]) >= 4.5
    for line in (name for name in theme if re.fullmatch(r"c\d", name)):
        assert contrast(theme[line], theme["paper"]) >= 3


def test_labels_and_reasons_are_text_and_nothing_else(tmp_path: Path, campaign: type) -> None:
    failed = FailedRun(EVIL, EVIL, EVIL, EVIL)
    context = campaign(
        jobs=[EVIL],
        workloads=[EVIL + "2"],
        autoscalers=["static (12 workers)", EVIL, "$c1 %{x} {{ 7 * 7 }}"],
        baseline=EVIL,
        failed=[failed],
        regressions=False,
        reason=lambda reason: EVIL + reason,
    ).write(tmp_path)
    page = Page(write(tmp_path, context))
    assert not page.attributes("img")
    assert sum("type" not in attributes for attributes, _ in page.scripts) == 2
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert page.shown.count(EVIL) > 10
    assert "{{ 7 * 7 }}" in page.shown
    reasons = [word for figure in page.figures for trace in figure["data"] for word in trace.get("text", [])]
    assert any("&lt;script" in word for word in reasons)
    named = json.dumps([figure["layout"].get("annotations", []) for figure in page.figures])
    assert "<script" not in json.dumps(page.figures) + named
    assert "<script" not in (tmp_path / "report.md").read_text().replace("\\<script", "")


def test_the_same_results_give_the_same_bytes(sample: tuple[Path, ReportContext]) -> None:
    results, context = sample
    before = [(results / name).read_bytes() for name in ("report.html", "report.md")]
    assert write(results, context) == results / "report.html"
    assert [(results / name).read_bytes() for name in ("report.html", "report.md")] == before


def test_one_run_of_one_autoscaler(tmp_path: Path, campaign: type) -> None:
    context = campaign(
        jobs=["yahoo"], workloads=["flash crowd"], autoscalers=["phoebe"], repetitions=1, baseline=None
    ).write(tmp_path)
    page = Page(write(tmp_path, context))
    assert re.search(r"phoebe (serves|misses) the objectives", page.shown)
    assert "no spread" not in page.shown
    assert not page.attributes("button", "select")
    assert not re.search(r"\b(nan|None)\b", page.shown)


def test_one_repetition_is_ranked_without_tests(tmp_path: Path, campaign: type) -> None:
    context = campaign(jobs=["yahoo"], workloads=["flash crowd"], repetitions=1).write(tmp_path)
    shown = Page(write(tmp_path, context)).shown
    assert shown.count("one run: no test") == 3
    assert "Pairwise tests" not in shown


def test_only_failed_runs(tmp_path: Path) -> None:
    planned = ExperimentInfo("e1", "yahoo / day / hpa", "yahoo", "day", "hpa", "local", 3, 0)
    failed = [FailedRun(f"r{seed}", f"yahoo / day / hpa, seed {seed}", "OSError: no", "log") for seed in range(3)]
    results = tmp_path / "results"
    context = ReportContext("s", "", ("local",), Objectives(latency_p95_s=1.0), "hpa", [planned], failed, {"Host": "h"})
    page = Page(write(results, context))
    assert "No run finished, so there is nothing to rank." in page.shown
    assert "3 of 3 runs failed." in page.shown
    assert all(run.label in page.shown for run in failed)
    assert not [attributes for attributes in page.attributes("section") if attributes["id"] == "ranking"]


def test_nulls_missing_columns_and_missing_tables_are_gaps(tmp_path: Path, campaign: type) -> None:
    context = campaign(jobs=["yahoo"], workloads=["flash crowd"]).write(tmp_path)
    for name in ("tests", "actions", "latency_cdf"):
        (tmp_path / f"{name}.parquet").unlink()
    series = tables.read(tmp_path, "series").drop(columns=["capacity", "demand_workers"])
    series.loc[::2, "backlog"] = float("nan")
    series.to_parquet(tmp_path / "series.parquet")
    summary = tables.read(tmp_path, "summary")
    summary.loc[summary["metric"].isin(["latency_p95", "recovery_time"]), ["mean", "ci_low", "ci_high"]] = None
    tables.write(tmp_path, "summary", summary[summary["metric"] != "scaling_actions"])
    page = Page(write(tmp_path, context))
    assert "not tested" in page.shown
    assert not re.search(r"\b(nan|None)\b", page.shown)
    for figure in page.figures:
        go.Figure(coloured(figure, THEMES["light"]))
    assert any(trace.get("name") == "throughput" for figure in page.figures for trace in figure["data"])
    assert "the line what the workers did" in page.shown


def test_many_experiments_are_folded_and_lines_wait_to_be_switched_on(tmp_path: Path, campaign: type) -> None:
    autoscalers = ["static (12 workers)", *(f"policy {i}" for i in range(9))]
    context = campaign(
        jobs=[f"job {i}" for i in range(5)], workloads=["flash crowd"], autoscalers=autoscalers, repetitions=2
    ).write(tmp_path)
    page = Page(write(tmp_path, context))
    scenarios = [attributes for attributes in page.attributes("details") if attributes.get("class") == "scenario"]
    assert ["open" in attributes for attributes in scenarios] == [True, False, False, False, False]
    pressed = Counter(attributes["aria-pressed"] for attributes in page.attributes("button"))
    assert pressed == {"true": 5 * 6, "false": 5 * 4}
    hidden = [attributes for attributes in page.attributes("figure") if "hidden" in attributes]
    assert len(hidden) == 5 * 4


def test_tables_without_rows_leave_no_section(tmp_path: Path, campaign: type) -> None:
    context = campaign(jobs=["yahoo"], workloads=["flash crowd"]).write(tmp_path)
    for name in ("regressions", "comparison"):
        tables.write(tmp_path, name, pd.DataFrame(columns=tables.RESULT_TABLES[name].names))
    parts = [attributes["id"] for attributes in Page(write(tmp_path, context)).attributes("section")]
    assert parts == ["ranking", "scenarios", "provenance"]


def opened(page: Path, profile: Path, budget_ms: int) -> str:
    """The document after a browser ran it for so long in its own time."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    run = [f"--virtual-time-budget={budget_ms}", "--window-size=1280,9000", f"--user-data-dir={profile}", "--dump-dom"]
    done = subprocess.run(
        ["chromium", *flags, *run, page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium to open the page with")
def test_a_browser_draws_the_pictures(sample: tuple[Path, ReportContext], tmp_path: Path) -> None:
    colours = [[int(THEMES["light"][name][i : i + 2], 16) for i in (1, 3, 5)] for name in ("c0", "c1", "c2", "c3")]
    strokes = [f"stroke: rgb({red}, {green}, {blue})" for red, green, blue in colours]
    # On a busy machine the browser's time may be over before it painted; then it gets more.
    documents = (opened(sample[0] / "report.html", tmp_path, budget) for budget in (10_000, 60_000, 300_000, 600_000))
    assert any(
        document.count('class="plot js-plotly-plot"') > 10 and all(stroke in document for stroke in strokes)
        for document in documents
    )
