"""Workloads: events/s over time, from shapes, recorded traces and combinations of them.

    workload = workloads.parse({"shape": "daily", "peak": "60k", "noise": "5%"})
    workload.curve(duration_s=21_600, seed=7)      # 21,600 values in events/s

The grammar of the mapping stands in `workloads.spec`.
"""

from workloads.examples import examples
from workloads.model import Workload, WorkloadError
from workloads.shapes import describe, shape_names
from workloads.spec import LIST_KEYS, parse, spec_errors

__all__ = [
    "LIST_KEYS",
    "Workload",
    "WorkloadError",
    "describe",
    "examples",
    "parse",
    "shape_names",
    "spec_errors",
]
