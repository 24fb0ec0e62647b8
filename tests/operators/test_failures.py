import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from experiments.errors import UserError
from operators import failures


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a task would leave for others."""
    kept: dict[str, str] = {}

    class Instance:
        def xcom_push(self, key: str, value: str) -> None:
            kept[key] = value

    monkeypatch.setattr(failures, "get_current_context", lambda: {"ti": Instance()})
    return kept


def failing(fault: Exception) -> None:
    @failures.explained
    def task() -> None:
        raise fault

    task()


def test_a_fault_of_the_input_fails_for_good_with_its_lines_alone(left: dict[str, str]) -> None:
    with pytest.raises(AirflowFailException) as fault:
        failing(UserError("suite.yaml:3: unknown key", "suite.yaml:5: unknown job"))
    assert str(fault.value) == "suite.yaml:3: unknown key\nsuite.yaml:5: unknown job"
    assert fault.value.__suppress_context__
    assert left["reason"] == str(fault.value)


def test_any_other_fault_stays_what_it_is_and_leaves_its_reason(left: dict[str, str]) -> None:
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError("no"))
    assert left["reason"] == "ZeroDivisionError: no"


def test_skipping_is_no_failure(left: dict[str, str]) -> None:
    with pytest.raises(AirflowSkipException):
        failing(AirflowSkipException("nothing to do"))
    assert left == {}


def test_a_task_can_fail_with_several_lines(left: dict[str, str]) -> None:
    with pytest.raises(AirflowFailException):
        failures.explained(lambda: failures.fail("one", "two"))()
    assert left["reason"] == "one\ntwo"
