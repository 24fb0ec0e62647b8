from airflow.sdk.definitions.param import ParamsDict

import infra
from experiments.suite import suite_names
from operators.request import campaign_form, from_params, suite_form


def filled(**values: object) -> dict[str, object]:
    form = ParamsDict({**suite_form(), **campaign_form()})
    form.update(values)
    return dict(form.validate())


def test_an_empty_form_is_a_request_for_the_quickstart_as_it_is() -> None:
    request = from_params(filled())
    assert request["suite"] == "quickstart"
    assert (request["place"], request["repetitions"], request["seed"], request["only"]) == (None, None, None, [])
    assert not request["fresh"]


def test_the_form_offers_every_suite_and_place() -> None:
    assert suite_form()["suite"].schema["enum"] == suite_names()
    assert campaign_form()["place"].schema["enum"] == [None, *infra.names()]


def test_every_field_explains_itself() -> None:
    for name, field in {**suite_form(), **campaign_form()}.items():
        assert field.schema["title"], name
        assert field.description, name


def test_a_suite_of_ones_own_comes_first() -> None:
    assert from_params(filled(suite_file="mine.yaml"))["suite"] == "mine.yaml"


def test_what_is_filled_in_is_asked_for() -> None:
    request = from_params(
        filled(place="simulated", repetitions=2, only=["job=yahoo"], fresh=True, archive="a", spark_master="local[1]")
    )
    assert request == {
        "suite": "quickstart",
        "archive": "a",
        "place": "simulated",
        "repetitions": 2,
        "only": ["job=yahoo"],
        "seed": None,
        "fresh": True,
        "spark_master": "local[1]",
    }
