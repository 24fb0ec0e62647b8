from pathlib import Path

import pytest

from experiments import suite
from operators.papers import paper_dags

SUITE = """\
name: {name}
description: What the paper says about {name}.
duration: 10m
jobs: [yahoo]
workloads: [{{name: steady, shape: constant, peak: 1k}}]
autoscalers: [static]
"""


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(suite, "SHIPPED", tmp_path)
    return tmp_path


def test_without_papers_there_are_no_dags(shipped: Path) -> None:
    (shipped / "quickstart.yaml").write_text(SUITE.format(name="quickstart"))
    assert paper_dags(suite.suite_names()) == {}


def test_each_paper_becomes_a_dag(shipped: Path) -> None:
    for name in ("paper-one", "paper-two", "quickstart"):
        (shipped / f"{name}.yaml").write_text(SUITE.format(name=name))
    dags = paper_dags(suite.suite_names())
    assert list(dags) == ["paper-one", "paper-two"]
    for name, dag in dags.items():
        assert dag.dag_id == name
        assert dag.params["suite"] == name
        assert f"What the paper says about {name}." in str(dag.doc_md)
        assert {"tidebed", "paper"} <= dag.tags
        assert dag.max_active_runs == 1
    assert set(dags["paper-one"].task_ids) == set(dags["paper-two"].task_ids) >= {"plan", "report", "verdict"}
