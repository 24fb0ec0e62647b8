"""The load shapes. A shape with a name, in a module that is imported here, is known everywhere."""

from workloads.shapes.base import Shape, defaults, describe, shape_names, shape_type
from workloads.shapes.bells import Advertising, RushHours
from workloads.shapes.city import City
from workloads.shapes.daily import Daily
from workloads.shapes.periodic import Pyramid, Sine, Square
from workloads.shapes.spikes import Spikes
from workloads.shapes.steady import Constant, Ramp, Step
from workloads.shapes.walk import RandomWalk

__all__ = [
    "Advertising",
    "City",
    "Constant",
    "Daily",
    "Pyramid",
    "Ramp",
    "RandomWalk",
    "RushHours",
    "Shape",
    "Sine",
    "Spikes",
    "Square",
    "Step",
    "defaults",
    "describe",
    "shape_names",
    "shape_type",
]
