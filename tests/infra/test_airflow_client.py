"""The REST client against answers made by hand: tokens, repetition, pages, and refusals in plain words."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest

from infra.airflow import AirflowError, Client, client, follow

URL = "http://127.0.0.1:8080"
Answer = Callable[[httpx.Request], httpx.Response]


def talking_to(answer: Answer) -> Client:
    def with_token(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/auth/token":
            return httpx.Response(201, json={"access_token": "secret"})
        return answer(request)

    return Client(URL, transport=httpx.MockTransport(with_token))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_PAUSE_S", 0.0)


def test_every_request_shows_the_token() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Authorization"))
        return httpx.Response(200, json={"state": "running"})

    assert talking_to(answer).run_state("benchmark", "one") == "running"
    assert seen == ["Bearer secret"]


def test_an_expired_token_is_renewed() -> None:
    answers = iter([httpx.Response(401), httpx.Response(200, json={"state": "success"})])
    assert talking_to(lambda _: next(answers)).run_state("benchmark", "one") == "success"


def test_a_passing_fault_is_sat_out() -> None:
    answers = iter([httpx.Response(503), httpx.ConnectError("refused"), httpx.Response(200, json={"state": "queued"})])

    def answer(_: httpx.Request) -> httpx.Response:
        now = next(answers)
        if isinstance(now, Exception):
            raise now
        return now

    assert talking_to(answer).run_state("benchmark", "one") == "queued"


def test_repetition_is_bounded() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        raise httpx.ConnectError("connection refused")

    with pytest.raises(AirflowError, match=r"connection refused") as fault:
        talking_to(answer).run_state("benchmark", "one")
    assert 1 < len(asked) <= 10
    assert "\n" not in str(fault.value)


def test_a_refusal_is_told_in_airflows_words_and_not_repeated() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(400, json={"detail": "Invalid input for param suite"})

    with pytest.raises(AirflowError, match="Invalid input for param suite"):
        talking_to(answer).trigger("benchmark", {"suite": "nonsense"})
    assert len(asked) == 1


def test_triggering_twice_by_accident_starts_one_run() -> None:
    runs: set[str] = set()

    def answer(request: httpx.Request) -> httpx.Response:
        run_id = json.loads(request.content)["dag_run_id"]
        if run_id in runs:
            return httpx.Response(409, json={"detail": "DagRun already exists"})
        runs.add(run_id)
        raise httpx.ReadTimeout("the answer got lost")

    assert {talking_to(answer).trigger("benchmark", {})} == runs


def test_long_lists_come_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PAGE", 3)
    everything = [
        {"task_id": "run", "map_index": index, "rendered_map_index": None, "state": "success", "try_number": 1}
        for index in range(7)
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        offset = int(request.url.params["offset"])
        return httpx.Response(200, json={"task_instances": everything[offset : offset + 3], "total_entries": 7})

    found = talking_to(answer).task_instances("benchmark", "one")
    assert [instance.map_index for instance in found] == list(range(7))


def test_tasks_come_in_the_order_of_the_dag() -> None:
    tasks = [
        {"task_id": "verdict", "downstream_task_ids": []},
        {"task_id": "report", "downstream_task_ids": ["verdict"]},
        {"task_id": "plan", "downstream_task_ids": ["report", "verdict"]},
    ]
    assert talking_to(lambda _: httpx.Response(200, json={"tasks": tasks})).task_order("benchmark") == [
        "plan",
        "report",
        "verdict",
    ]


def test_health_counts_only_what_was_heard_since_the_start() -> None:
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    health = {
        "metadatabase": {"status": "healthy"},
        "scheduler": {"status": "healthy", "latest_scheduler_heartbeat": "2026-01-01T11:59:59+00:00"},
        "triggerer": {"status": None, "latest_triggerer_heartbeat": None},
        "dag_processor": {"status": "healthy", "latest_dag_processor_heartbeat": "2026-01-01T12:00:01+00:00"},
    }
    with talking_to(lambda _: httpx.Response(200, json=health)) as there:
        assert there.unhealthy(start) == ["scheduler"]
    with talking_to(lambda _: httpx.Response(502)) as absent:
        assert absent.unhealthy(start) == ["api-server"]


def test_a_dag_that_cannot_be_imported_is_told_by_its_last_line() -> None:
    fault = {"filename": "benchmark.py", "stack_trace": "Traceback ...\nValueError: no such suite\n"}

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path.endswith("/importErrors")
        return httpx.Response(200, json={"import_errors": [fault], "total_entries": 1})

    with pytest.raises(AirflowError, match=r"benchmark\.py cannot be imported: ValueError: no such suite"):
        talking_to(answer).wait_for_dag("benchmark")


def test_following_reports_until_the_end_and_names_what_failed() -> None:
    states = iter(["queued", "running", "failed"])

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/tasks"):
            return httpx.Response(200, json={"tasks": [{"task_id": "run", "downstream_task_ids": []}]})
        if path.endswith("/taskInstances"):
            instance = {"task_id": "run", "map_index": 0, "rendered_map_index": "hpa", "state": "failed"}
            return httpx.Response(200, json={"task_instances": [{**instance, "try_number": 1}], "total_entries": 1})
        if "/xcomEntries/" in path:
            assert request.url.params["map_index"] == "0"
            return httpx.Response(200, json={"value": "RuntimeError: no"})
        return httpx.Response(200, json={"state": next(states)})

    seen: list[str] = []
    ended = follow(talking_to(answer), "benchmark", "one", lambda now: seen.append(now.state), poll_s=0.0)
    assert seen == ["queued", "running", "failed"]
    assert not ended.succeeded
    assert [(failure.label, failure.reason) for failure in ended.failures] == [("hpa", "RuntimeError: no")]
