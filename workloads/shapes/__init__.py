"""The load shapes. A module that uses `@shape` and is imported here is known by name everywhere."""

from workloads.shapes.base import Shape, describe, shape, shape_names, shape_type
from workloads.shapes.daily import Daily
from workloads.shapes.periodic import Pyramid, Sine, Square
from workloads.shapes.spikes import Spikes
from workloads.shapes.steady import Constant, Ramp, Step
from workloads.shapes.walk import RandomWalk

__all__ = [
    "Constant",
    "Daily",
    "Pyramid",
    "Ramp",
    "RandomWalk",
    "Shape",
    "Sine",
    "Spikes",
    "Square",
    "Step",
    "describe",
    "shape",
    "shape_names",
    "shape_type",
]
