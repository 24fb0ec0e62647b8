"""The report as one HTML page that needs nothing but itself: no network, and no script other than its own.

The page's content security policy names its scripts by their hashes and forbids everything else, so that
neither a mistake here nor a label in a suite can fetch or run anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from plotly.offline import get_plotlyjs

from analysis import plots, plots_long
from analysis.figures import Figure
from analysis.palette import THEMES, Mark, marks
from analysis.picture import Picture, TimeAxis
from analysis.plots_tradeoff import trade_off
from analysis.ranking import rule
from analysis.report_content import Content, ScenarioContent

#: With more autoscalers than this in a scenario the lines hide each other: the others wait to be switched on.
MOST_LINES = 6

#: With more scenarios than this only the first is unfolded.
MOST_OPEN = 4

#: Dashes of the key beside a name, by Plotly's words for them.
_DASHES = {"solid": "none", "dash": "5 3", "dot": "1.5 2.5", "dashdot": "5 2 1.5 2", "longdash": "8 3"}


@dataclass(slots=True)
class Pictures:
    """The page's figures, each under an id of its own."""

    figures: dict[str, Picture] = field(default_factory=dict)

    def add(self, picture: Picture) -> str:
        key = f"picture-{len(self.figures) + 1}"
        self.figures[key] = picture
        return key


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """A scenario with its pictures."""

    content: ScenarioContent
    trade_off: str | None
    panels: tuple[str, ...]
    charts: tuple[str, ...]
    capacity_known: bool
    """Only the simulated place knows it; elsewhere throughput is drawn."""
    shown: frozenset[str]
    """Autoscalers that are drawn from the start."""
    opened: bool


def render(content: Content) -> str:
    """The whole page."""
    looks = marks(_autoscalers(content), content.baseline)
    pictures = Pictures()
    hero = _trade_off(content, looks, pictures)
    courses = _courses(content, looks)
    scenarios = [_scenario(content, index, courses, looks, pictures) for index in range(len(content.scenarios))]
    scripts = [get_plotlyjs(), _source("report.js")]
    return (
        _environment()
        .get_template("report.html")
        .render(
            content=content,
            context=content.context,
            rule=rule(content.context.objectives),
            marks=looks,
            dashes=_DASHES,
            themes=THEMES,
            hero=hero,
            scenarios=scenarios,
            pictures=pictures.figures,
            css=_source("report.css"),
            scripts=scripts,
            policy=_policy(scripts),
        )
    )


def _autoscalers(content: Content) -> Iterator[str]:
    """In the suite's order, so that colours stay the same from night to night."""
    yield from content.context.autoscalers
    if content.ranking is not None:
        yield from sorted(standing.autoscaler for standing in content.ranking.standings)


def _trade_off(content: Content, looks: dict[str, Mark], pictures: Pictures) -> str | None:
    if content.ranking is None or len(content.ranking.standings) < 2:
        return None
    picture = trade_off(content.ranking.standings, looks, content.context.objectives)
    return None if picture is None else pictures.add(picture)


def _courses(content: Content, looks: dict[str, Mark]) -> dict[str, plots.Course]:
    """What can be drawn of each experiment, by its id."""
    tables = [(content.tables.by_experiment(name), content.tables[name].iloc[:0]) for name in _COURSE]
    return {
        experiment: plots.Course(autoscaler, looks[autoscaler], *(rows.get(experiment, none) for rows, none in tables))
        for scenario in content.scenarios
        for autoscaler, experiment in scenario.experiments.items()
    }


def _scenario(
    content: Content, index: int, found: dict[str, plots.Course], looks: dict[str, Mark], pictures: Pictures
) -> ScenarioView:
    scenario, objectives = content.scenarios[index], content.context.objectives
    order = [standing.autoscaler for standing in scenario.ranking.standings]
    courses = [found[scenario.experiments[name]] for name in order]
    drawn = [course for course in courses if not course.series.empty]
    charts: list[Picture] = []
    panels: list[Picture] = []
    if drawn:
        time = TimeAxis.spanning(max(float(course.series["time_s"].max()) for course in drawn))
        highest = [course.series[["workload", "capacity", "throughput"]].max().max() for course in drawn]
        panels = [plots.load_and_capacity(course, time, 1.06 * float(max(highest))) for course in drawn]
        charts = [plots.workers(drawn, time), plots.backlog(drawn, time)]
    if any(not course.latency.empty for course in courses):
        charts.append(plots.latency(courses, objectives))
    use = {name: scenario.field[name].get("worker_seconds", Figure()) for name in order}
    known = {name: figure.mean for name, figure in use.items() if figure.mean}
    if len(known) > 1:
        reference = scenario.baseline if scenario.baseline in known else max(known, key=lambda name: known[name])
        charts.append(plots.resource_use(use, looks, reference))
    tables = ({name: rows.get(scenario.experiments[name], none) for name in order} for rows, none in _closer(content))
    excerpts, notes = tables
    charts += plots_long.pictures(order, excerpts, notes, looks, objectives)
    own = trade_off(scenario.ranking.standings, looks, objectives) if len(content.scenarios) > 1 else None
    return ScenarioView(
        content=scenario,
        trade_off=None if own is None else pictures.add(own),
        panels=tuple(pictures.add(picture) for picture in panels),
        charts=tuple(pictures.add(picture) for picture in charts),
        capacity_known=any(course.series["capacity"].notna().any() for course in drawn),
        shown=frozenset(_shown(order, scenario.baseline)),
        opened=index == 0 or len(content.scenarios) <= MOST_OPEN,
    )


def _closer(content: Content) -> Iterator[tuple[dict[str, pd.DataFrame], pd.DataFrame]]:
    """Rows by experiment of what long runs and learning policies have more to show."""
    for name in ("excerpts", "notes"):
        yield content.tables.by_experiment(name), content.tables[name].iloc[:0]


_COURSE = ("series", "actions", "latency_cdf")


def _shown(order: list[str], baseline: str | None) -> list[str]:
    """The best ones, and always the baseline."""
    if len(order) <= MOST_LINES:
        return order
    best = [name for name in order if name != baseline][: MOST_LINES - 1]
    return best if baseline is None else [*best, baseline]


def _policy(scripts: list[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Compact, in the order given; a NaN would not be JSON, and must not get this far.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":"), "ensure_ascii": False}
    return environment


def _source(name: str) -> str:
    """A template file as it stands."""
    loader = _environment().loader
    assert loader is not None, "the environment has a loader"
    return loader.get_source(_environment(), name)[0]
