"""The report as Markdown: the same words and tables without the pictures."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.ranking import rule
from analysis.report_content import Content, ScenarioContent
from analysis.report_tables import Cell, Table

#: Characters that Markdown or HTML would read as something else.
_SPECIAL = "\\`*_[]<>|#~$"


def render(content: Content) -> str:
    """The whole report, ending in a line feed."""
    return "\n\n".join(_blocks(content)).replace("\N{NO-BREAK SPACE}", " ") + "\n"


def _blocks(content: Content) -> Iterator[str]:
    context = content.context
    yield f"# {escape(context.suite)}"
    if context.description:
        yield escape(context.description)
    yield f"**{escape(content.verdict)}**"
    yield f"Objectives: {escape(content.objectives)}. Place: {escape(', '.join(context.places))}."
    for notice, _ in content.notices:
        yield f"> {escape(notice)}"
    if content.ranked is not None:
        yield from _ranking(content, content.ranked)
    yield from _findings(content)
    for scenario in content.scenarios:
        yield from _scenario(scenario)
    if content.failed is not None:
        yield "## Failed runs"
        yield table(content.failed)
    yield "## Provenance"
    if content.experiments.rows:
        yield table(content.experiments)
    if context.provenance:
        yield "\n".join(f"- {escape(what)}: {escape(value)}" for what, value in context.provenance.items())


def _ranking(content: Content, ranked: Table) -> Iterator[str]:
    yield "## Ranking"
    yield table(ranked)
    yield escape(rule(content.context.objectives))
    if content.best:
        yield "\n".join(
            f"- **{escape(best.title)}:** {escape(', '.join(best.autoscalers))}, {escape(best.value)}"
            + (f" ({escape(best.note)})" if best.note else "")
            for best in content.best
        )
    if content.overview is not None:
        yield table(content.overview)


def _findings(content: Content) -> Iterator[str]:
    if content.regressions is not None:
        yield "## Regressions"
        yield escape(content.regressions_in_words)
        if content.regressions.rows:
            yield table(content.regressions)
    if content.comparison is not None:
        yield "## Published against measured"
        yield f"{content.comparison_tally} reproduced."
        yield table(content.comparison)


def _scenario(scenario: ScenarioContent) -> Iterator[str]:
    yield f"## {escape(scenario.full_title)}"
    yield escape(scenario.verdict)
    yield table(scenario.ranked)
    yield "Bold: the best, and what does not differ significantly from it."
    yield table(scenario.metrics)


def table(shown: Table) -> str:
    """A table in the pipe syntax that GitHub and most readers know."""
    lines = [
        [escape(column.title) for column in shown.columns],
        ["---:" if column.numeric else "---" for column in shown.columns],
        *([_cell(cell) for cell in row] for row in shown.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell) -> str:
    text = f"**{escape(cell.text)}**" if cell.tone == "best" else escape(cell.text)
    return f"{text} ({escape(cell.note)})" if cell.note else text


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line.

    >>> escape("<b>hpa|80 %</b>")
    '\\\\<b\\\\>hpa\\\\|80 %\\\\</b\\\\>'
    """
    flat = " ".join(text.split(" ")).replace("\r", " ").replace("\n", " ")
    return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in flat)
