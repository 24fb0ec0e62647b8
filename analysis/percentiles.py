"""Percentiles inside Spark: exact as long as a group's values fit into memory with ease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, GroupedData, DataFrame
from pyspark.sql import functions as fn

#: Groups of up to this many values are sorted whole, about 20 bytes a value.
EXACT_UP_TO = 1_000_000
#: Larger ones are sketched: percentile_approx is off by at most 1/accuracy of the rank.
ACCURACY = 10_000


@dataclass(frozen=True, slots=True)
class Percentiles:
    exact: bool

    @classmethod
    def for_groups_of(cls, values: int) -> Percentiles:
        return cls(exact=values <= EXACT_UP_TO)

    @property
    def rank_error(self) -> float:
        return 0.0 if self.exact else 1 / ACCURACY

    def gather(self, column: str, shares: Sequence[float]) -> Column:
        if self.exact:
            return fn.sort_array(fn.collect_list(column))
        return fn.percentile_approx(column, fn.array(*map(fn.lit, shares)), ACCURACY)

    def pick(self, gathered: Column, shares: Sequence[float], i: int) -> Column:
        if self.exact:
            return interpolated(gathered, fn.lit(shares[i]))
        return fn.get(gathered, fn.lit(i)).cast("double")

    def pick_all(self, gathered: Column, shares) -> Column:
        if self.exact:
            return fn.when(fn.size(gathered)>0, fn.transform(fn.array(*map(fn.lit, shares)), lambda share: interpolated(gathered, share)))
        return gathered.cast("array<double>")

def interpolated(ordered: Column, share: Column) -> Column:
    position = share * (fn.size(ordered) - 1)
    below = fn.floor(position)
    low=fn.get(ordered, below.cast("int")).cast("double")
    high=fn.get(ordered, fn.ceil(position).cast("int")).cast("double")
    return low + (high-low) * (position - below)
