from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

import autoscalers
from autoscalers import registry
from autoscalers.model import Autoscaler, Decision, Observation
from autoscalers.testing import observation


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A registry that may be changed; discovery is done anew in it, and anew after it."""
    autoscalers.names()
    monkeypatch.setattr(registry, "_policies", dict(registry._policies))
    registry._discover.cache_clear()
    yield monkeypatch
    registry._discover.cache_clear()


@dataclass(frozen=True)
class LazyParams:
    workers: int = 1


class Lazy(Autoscaler[LazyParams]):
    def decide(self, observation: Observation) -> Decision:
        return Decision.keep("never")


def test_names_are_sorted_and_hold_the_common_ones() -> None:
    names = autoscalers.names()
    assert names == sorted(names)
    assert {"static", "hpa", "cpu-threshold"} <= set(names)


def test_every_module_but_the_helpers_is_a_policy() -> None:
    modules = {module.name for module in pkgutil.iter_modules(autoscalers.__path__)}
    policies = {registry.policy_type(name).__module__.split(".")[1] for name in autoscalers.names()}
    helpers = registry.NOT_POLICIES | {module for module in modules if module.startswith("_")}
    assert modules - helpers <= policies


def test_create_passes_parameters_and_seed() -> None:
    policy = autoscalers.create("static", seed=7, workers=3)
    assert policy.params == autoscalers.params_type("static")(workers=3)
    assert policy.rng.integers(1 << 30) == autoscalers.create("static", seed=7).rng.integers(1 << 30)
    assert policy.name == "static"


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r'unknown autoscaler "hpaa"; there are: .*hpa, .*static'):
        autoscalers.create("hpaa")


def test_register(apart: pytest.MonkeyPatch) -> None:
    assert autoscalers.register("lazy", LazyParams)(Lazy) is Lazy
    assert autoscalers.create("lazy", workers=2).decide(observation()).reason == "never"
    assert autoscalers.params_type("lazy") is LazyParams


def test_registering_again_is_no_clash_but_another_class_is(apart: pytest.MonkeyPatch) -> None:
    class Other(Lazy):
        pass

    autoscalers.register("lazy", LazyParams)(Lazy)
    autoscalers.register("lazy", LazyParams)(Lazy)
    with pytest.raises(ValueError, match='two autoscalers are called "lazy"'):
        autoscalers.register("lazy", LazyParams)(Other)


def test_a_package_outside_registers_through_its_entry_point(apart: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "outside_policy.py").write_text(
        dedent(
            """
            from dataclasses import dataclass
            from autoscalers.model import Autoscaler, Decision
            from autoscalers.registry import register

            @dataclass(frozen=True)
            class Params:
                workers: int = 2

            @register("outside", Params)
            class Outside(Autoscaler[Params]):
                def decide(self, observation):
                    return Decision.scale("job", self.params.workers, "from outside")
            """
        )
    )
    metadata = tmp_path / "outside-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[tidebed.autoscalers]\noutside = outside_policy\n")
    apart.syspath_prepend(str(tmp_path))
    try:
        assert "outside" in autoscalers.names()
        assert autoscalers.create("outside", workers=5).decide(observation()).parallelism == {"job": 5}
    finally:
        sys.modules.pop("outside_policy", None)
