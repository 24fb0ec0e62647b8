"""The page put together: one HTML file without a network, whose scripts are named by their hashes."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from plotly.offline import get_plotlyjs

from analysis.palette import THEMES
from analysis.picture import Picture
from analysis.report_numbers import change, count
from experiments.validation.page import pictures, tables
from experiments.validation.validation import RunResult, Validation


@dataclass(frozen=True, slots=True)
class RunView:
    """A run on the page."""

    anchor: str
    title: str
    used_for: str
    summary: str
    pictures: tuple[str, ...]
    """Ids of its pictures."""
    opened: bool


def render(found: Validation, source: str) -> str:
    """The whole page; `source` says in a few words where the measured runs are from."""
    environment = _environment()
    drawn: dict[str, Picture] = {}
    boxes = [
        _draw(drawn, picture)
        for calibrated in (False, True)
        for figure, title in (("recovery_s", "Recoveries"), ("outage_s", "Outages"))
        for picture in (_boxes(found, figure, title, calibrated=calibrated),)
        if picture is not None
    ]
    # what was tested comes first, and the first of it is unfolded
    ordered = sorted(found.runs, key=lambda one: one.run.calibrated)
    runs = [_view(result, drawn, opened=index == 0) for index, result in enumerate(ordered)]
    scripts = [get_plotlyjs(), _file(environment, "report.js")]
    return environment.get_template("validation.html").render(
        verdict=_verdict(found),
        source=source,
        size=_size(found),
        remarks=found.remarks,
        aims=tables.aims(found.aims),
        table_of_runs=tables.runs(ordered),
        table_of_minutes=tables.minutes(found.minutes) if found.minutes else None,
        table_of_spreads=tables.spreads(found.groups) if found.groups else None,
        boxes=boxes,
        runs=runs,
        pictures=drawn,
        keys=(pictures.MEASURED, pictures.SIMULATED),
        marks={},
        dashes={"solid": "none"},
        themes=THEMES,
        css=_file(environment, "report.css"),
        scripts=scripts,
        policy=_policy(scripts),
    )


def _boxes(found: Validation, figure: str, title: str, *, calibrated: bool) -> Picture | None:
    groups = [group for group in found.groups if group.calibrated == calibrated]
    title = f"{title} in runs that {'constants were fitted on' if calibrated else 'nothing was fitted on'}"
    about = "p10 to p90, box p25 to p75; in brackets how many were measured and simulated; logarithmic"
    return pictures.spreads(groups, figure, title, about)


def _draw(drawn: dict[str, Picture], picture: Picture) -> str:
    key = f"picture-{len(drawn) + 1}"
    drawn[key] = picture
    return key


def _view(result: RunResult, drawn: dict[str, Picture], *, opened: bool) -> RunView:
    score = result.score
    words = [f"Throughput {change(score.throughput.error)}"]
    words.append(f"latency outside outages {change(score.latency_mean_outside.error)}")
    if score.cpu.measured == score.cpu.measured:  # NaN where CPU was not measured
        words.append(f"CPU {100.0 * score.cpu.difference:+.1f} points".replace("-", "−"))
    done = count(len(result.run.actions), "rescale or failure", "rescales and failures")
    return RunView(
        anchor=tables.anchor(result),
        title=result.run.name,
        used_for=tables.used_for(result.run.calibrated),
        summary=f"{', '.join(words)}; {done}.",
        pictures=tuple(_draw(drawn, picture) for picture in pictures.course(result)),
        opened=opened,
    )


def _verdict(found: Validation) -> str:
    met = [aim for aim in found.aims if aim.verdict == "met"]
    partly = [aim for aim in found.aims if aim.verdict == "partly"]
    tested = [aim for aim in found.aims if aim.verdict != "not tested"]
    if not tested:
        return "Nothing here was left to test on: all runs are of the job that constants were fitted on."
    words = f"{len(met)} of {len(tested)} aims are met on runs that nothing was fitted on"
    return f"{words}, {len(partly)} by half of the cases or more." if partly else f"{words}."


def _size(found: Validation) -> str:
    tested = sum(not one.run.calibrated for one in found.runs)
    hours = sum(one.run.seconds for one in found.runs) / 3600.0
    return f"{count(len(found.runs), 'run')} ({tested} for testing), {hours:,.0f} hours"


def _policy(scripts: list[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"


def _environment() -> Environment:
    """The report's own parts, and this page's."""
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("experiments.validation.page", "templates"), PackageLoader("analysis", "templates")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":"), "ensure_ascii": False}
    return environment


def _file(environment: Environment, name: str) -> str:
    assert environment.loader is not None, "the environment has a loader"
    return environment.loader.get_source(environment, name)[0]
