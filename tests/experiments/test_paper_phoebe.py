"""The suites about Phoebe: whole, and on the cluster that the validation knows."""

from __future__ import annotations

import pytest

from experiments.planning import plan
from experiments.suite import find, load
from experiments.validation.clusters import CLUSTERS

SUITES = ("paper-daedalus-phoebe", "paper-phoebe")


@pytest.mark.parametrize("name", SUITES)
def test_every_published_figure_speaks_about_an_experiment(name: str) -> None:
    loaded = load(str(find(name)))
    labels = {experiment.autoscaler for experiment in plan(loaded)}
    for statement in loaded.suite.published:
        named = {statement.autoscaler, statement.versus, *statement.ordering} - {None}
        assert named
        assert named <= labels


def test_phoebes_own_runs_are_on_the_cluster_of_the_validation() -> None:
    """Constants by their value, delays by their median."""
    place = load(str(find("paper-phoebe"))).suite.place[0]
    cluster = CLUSTERS["phoebe-savepoint"]
    known = {name: constant.value for name, constant in cluster.constants.items()}
    known |= {name: delay.median for name, delay in cluster.delays.items()}
    assert place.options["constants"] == pytest.approx(known)


def test_profiling_wants_no_more_than_the_maximum() -> None:
    import autoscalers

    for name in SUITES:
        for experiment in plan(load(str(find(name)))):
            run = experiment.runs[0]
            wanted = autoscalers.create(run.policy, **run.parameters).profiling()
            if run.policy == "phoebe":
                assert wanted is not None
                assert max(wanted.scale_outs) <= run.parameters["maximum"]
            else:
                assert wanted is None
