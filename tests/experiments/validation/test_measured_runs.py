"""The plant against runs that were really measured: always the extracts, and all of the data where they are."""

import json
from pathlib import Path

import pytest

from experiments.validation import sources
from experiments.validation.aims import Aim
from experiments.validation.page import render
from experiments.validation.summary import plain
from experiments.validation.validation import Validation, validate


@pytest.fixture(scope="module")
def extracts() -> Validation:
    return validate(sources.read(sources.EXTRACTS))


def by_title(found: Validation) -> dict[str, Aim]:
    return {" ".join(aim.title.split()[1:3]): aim for aim in found.aims}


def test_the_extracts_meet_the_aims_on_what_nothing_was_fitted_on(extracts: Validation) -> None:
    aims = by_title(extracts)
    assert aims["throughput of"].verdict == aims["CPU of"].verdict == aims["latency of"].verdict == "met"


def test_a_scale_in_recovers_as_it_was_measured(extracts: Validation) -> None:
    """Demeter, ADS: twelve seconds, whatever was replayed."""
    group = next(one for one in extracts.groups if one.calibrated and one.cause == "scale in")
    measured, simulated = group.spreads("recovery_s")
    assert measured.n > 10
    assert simulated.median == pytest.approx(measured.median, rel=0.2)


def test_the_page_and_the_summary_tell_the_same_runs(extracts: Validation) -> None:
    told = json.loads(json.dumps(plain(extracts), allow_nan=False))
    page = render(extracts, "extracts")
    assert [run["run"] for run in told["runs"]] == [one.run.name for one in extracts.runs]
    assert all(run["run"] in page for run in told["runs"])
    assert all(aim.title in page for aim in extracts.aims)


def test_all_of_the_data(full_data: Path) -> None:
    """What came out when the constants were set, with room for a change of seeds; a plant that gets worse fails."""
    found = validate(sources.read(full_data))
    aims = by_title(found)
    assert len(found.runs) >= 30
    assert aims["throughput of"].median < 0.03
    assert aims["CPU of"].median < 0.05
    assert aims["latency of"].median < 0.10
    assert aims["recovery time"].median < 0.35
