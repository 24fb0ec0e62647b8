"""What CONTRIBUTING teaches works as it stands there."""

import re
import sys
import types
from pathlib import Path

import pytest

from autoscalers import registry
from autoscalers.testing import observation
from experiments.campaign import Campaign

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return re.sub(r"^ {3}", "", found[1], flags=re.MULTILINE)


@pytest.fixture
def target_tracking(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.names()
    module = types.ModuleType("target_tracking")
    monkeypatch.setitem(sys.modules, "target_tracking", module)
    monkeypatch.setattr(registry, "_policies", dict(registry._policies))
    exec(compile(block("python"), "CONTRIBUTING.md", "exec"), vars(module))


@pytest.mark.usefixtures("target_tracking")
def test_the_autoscaler_of_the_five_minutes_runs_in_its_suite(tmp_path: Path) -> None:
    assert registry.create("target-tracking").decide(observation(parallelism=4, cpu=0.9)).parallelism == {"job": 6}
    suite = tmp_path / "mine.yaml"
    suite.write_text(block("yaml"), encoding="utf-8")
    campaign = Campaign.open(str(suite), archive=tmp_path / "archive", repetitions=1)
    outcome = campaign.run_all(workers=1)
    assert outcome.failed == []
    assert outcome.done == 4
