from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

import autoscalers
from autoscalers.hpa import HpaParams

NAN = float("nan")

MANIFEST = """
target_cpu: 0.6
maximum: 8
sync_period_s: 30
behavior:
  scaleUp:
    stabilizationWindowSeconds: 60
    selectPolicy: Min
    policies:
      - {type: Pods, value: 2, periodSeconds: 60}
      - {type: Percent, value: 50, periodSeconds: 30}
  scaleDown:
    tolerance: 0.2
"""


def test_from_yaml() -> None:
    params = TypeAdapter(HpaParams).validate_python(yaml.safe_load(MANIFEST))
    up, down = params.rules()
    assert (up.window_s, up.select, [policy.value for policy in up.policies]) == (60, "Min", [2, 50])
    assert (down.window_s, down.tolerance, up.tolerance) == (300, 0.2, 0.1)
    assert params.target_percent == 60
    assert HpaParams(**asdict(params)) == params


def test_the_sync_period_is_the_period() -> None:
    assert autoscalers.create("hpa").period_s == 15
    assert autoscalers.create("hpa", sync_period_s=30).period_s == 30


@pytest.mark.parametrize("percent", range(1, 101))
def test_every_whole_percentage_is_a_target(percent: int) -> None:
    assert HpaParams(target_cpu=percent / 100).target_percent == percent


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_cpu": 1.7}, "target_cpu: 1.7 is not a share between 0 and 1"),
        ({"target_cpu": 0}, "target_cpu: 0 is not a share between 0 and 1"),
        ({"target_cpu": "80"}, "target_cpu: '80' is not a share between 0 and 1"),
        ({"target_cpu": 0.855}, "target_cpu: 0.855 is not a whole percentage; write e.g. 0.80 for 80 %"),
        ({"target_cpu": 0.001}, "target_cpu: 0.001 is not a whole percentage; write e.g. 0.80 for 80 %"),
        ({"minimum": 0}, "minimum: 0 is not a whole number of workers, at least 1"),
        ({"minimum": 3, "maximum": 2}, "maximum: 2 is below the minimum of 3"),
        ({"tolerance": -0.1}, "tolerance: -0.1 is not a number, 0 or more"),
        ({"sync_period_s": 0}, "sync_period_s: 0 is not a number of seconds above 0"),
        ({"downscale_stabilization_s": -1}, "downscale_stabilization_s: -1 is not a number of seconds, 0 or more"),
        (
            {"cpu_initialization_period_s": NAN},
            "cpu_initialization_period_s: nan is not a number of seconds, 0 or more",
        ),
        ({"initial_readiness_delay_s": True}, "initial_readiness_delay_s: True is not a number of seconds, 0 or more"),
        ({"metrics_window_s": None}, "metrics_window_s: None is not a number of seconds, 0 or more"),
        ({"cpu_quota_m": 0}, "cpu_quota_m: 0 is not a whole number of millicores, at least 1"),
        ({"cpu_request_m": 0.5}, "cpu_request_m: 0.5 is not a whole number of millicores, at least 1"),
        ({"behavior": {"up": {}}}, "behavior: up is not known; write scaleUp or scaleDown"),
    ],
)
def test_what_is_no_parameter(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z_]+: ") as fault:
        HpaParams(**parameters)
    assert str(fault.value) == message
