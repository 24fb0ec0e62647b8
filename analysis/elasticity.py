"""How well supply follows demand: the elasticity metrics of the SPEC Research Group.

Reference: N. Herbst et al., "Ready for Rain? A View from SPEC Research on the Future of Cloud
Metrics", technical report SPEC-RG-2016-01, 2016, elasticity metrics, in the form that is relative
to demand.

With demand d and supply s over a run of length T, both steps of one row's length:

    accuracy_under  = 1/T · ∫ max(d − s, 0) / d dt       accuracy_over  = 1/T · ∫ max(s − d, 0) / d dt
    timeshare_under = 1/T · ∫ max(sgn(d − s), 0) dt      timeshare_over = 1/T · ∫ max(sgn(s − d), 0) dt
    jitter          = (changes of s − changes of d) / T

Demand is the fewest workers whose true capacity covers the workload, supply the workers that serve.
Seconds whose demand is unknown do not count, neither above nor in T; if all are, the metrics are
absent. Where no worker is needed (d = 0), the surplus is relative to one worker, since relative to
none it has no value.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

#: The columns of metrics.parquet this needs beside run_id and time_s.
COLUMNS = ("demand_workers", "workers_ready")

NAMES = ("accuracy_over", "accuracy_under", "timeshare_over", "timeshare_under", "jitter")


def with_changes(seconds: DataFrame) -> DataFrame:
    """Mark the seconds in which supply or demand differs from the second before, as `supply_changed`, `demand_changed`.

    Both are null where demand is unknown in either second.
    """
    in_order = Window.partitionBy("run_id").orderBy("time_s")
    demand, supply = fn.col("demand_workers"), fn.col("workers_ready")
    demand_before, supply_before = fn.lag(demand).over(in_order), fn.lag(supply).over(in_order)
    known = demand.isNotNull() & demand_before.isNotNull()
    return seconds.withColumns(
        {
            "supply_changed": fn.when(known, supply != supply_before),
            "demand_changed": fn.when(known, demand != demand_before),
        }
    )


def metrics() -> list[Column]:
    """One aggregate a metric, over the rows of a run as `with_changes` returns them; for jitter a row is a second."""
    demand, supply = fn.col("demand_workers"), fn.col("workers_ready")
    known = demand.isNotNull() & supply.isNotNull()
    surplus = (supply - demand) / fn.greatest(demand, fn.lit(1))
    changes = fn.sum(fn.col("supply_changed").cast("int")) - fn.sum(fn.col("demand_changed").cast("int"))
    known_s = fn.count_if(known)
    values = {
        # Without `known`, greatest() would take an unknown second for one that fits.
        "accuracy_over": fn.avg(fn.when(known, fn.greatest(surplus, fn.lit(0)))),
        "accuracy_under": fn.avg(fn.when(known, fn.greatest(-surplus, fn.lit(0)))),
        "timeshare_over": fn.avg((supply > demand).cast("int")),
        "timeshare_under": fn.avg((supply < demand).cast("int")),
        "jitter": fn.try_divide(fn.coalesce(changes, fn.lit(0)) * 3600, known_s),
    }
    return [values[name].alias(name) for name in NAMES]
