"""A suite's published figures, with the names that its experiments have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.comparison import Published
from analysis.figures import Scenario
from experiments.matrix import matches
from experiments.planning import Experiment
from experiments.suite import Statement, Suite


def statements(suite: Suite, experiments: Sequence[Experiment]) -> list[Published]:
    """One statement for each scenario it speaks about; scenarios that were left out of the campaign are not judged."""
    return [found for statement in suite.published for found in _of(statement, experiments)]


def _of(statement: Statement, experiments: Sequence[Experiment]) -> Iterator[Published]:
    meant = [
        experiment
        for experiment in experiments
        if all(
            wanted is None or matches(wanted, label)
            for wanted, label in (
                (statement.job, experiment.job),
                (statement.workload, experiment.workload),
                (statement.place, experiment.place),
            )
        )
    ]
    labels = {experiment.autoscaler for experiment in meant}

    def label(name: str | None) -> str:
        return next((known for known in sorted(labels) if name and matches(name, known)), name or "")

    for scenario in dict.fromkeys(Scenario(each.job, each.workload, each.place) for each in meant):
        yield Published(
            source=statement.source,
            scenario=scenario,
            metric=statement.metric,
            autoscaler=label(statement.autoscaler),
            value=statement.value,
            at_most=statement.at_most,
            change=statement.change,
            versus=label(statement.versus),
            ordering=tuple(label(name) for name in statement.ordering),
            tolerance=statement.tolerance,
            factor=statement.factor,
            note=statement.note,
        )
