"""Who reads from whom, and how many events reach each operator per event that is offered to the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autoscalers.model import JOB, Floats
from jobs.model import Operator
from jobs.operators import OUTSIDE


@dataclass(frozen=True)
class Topology:
    """A directed graph without cycles: every operator comes after those that it reads from.

    An operator sends all of its output to each operator that reads from it.

    >>> split, count = Operator("split", 5.0), Operator("count", 0.0)
    >>> topology = Topology.read((split, count))
    >>> topology.edges, topology.sources.tolist(), topology.factors.tolist()
    (((0, 1),), [1.0, 0.0], [1.0, 5.0])
    """

    operators: tuple[Operator, ...]
    edges: tuple[tuple[int, int], ...]
    """(from, to), in the order of `to`."""
    sources: Floats
    """The share of the offered events that each operator reads from outside."""
    factors: Floats
    """Events that reach each operator per event offered."""

    @classmethod
    def read(cls, operators: Sequence[Operator], weights: Mapping[str, float] | None = None) -> Topology:
        """The first operator reads from outside; so does every other one that names it among its inputs.

        `weights` says in which proportion several of them share the load; evenly if nothing is said.
        """
        place = {operator.name: index for index, operator in enumerate(operators)}
        if len(place) < len(operators) or place.keys() & {OUTSIDE, JOB}:
            taken = ", ".join(operator.name for operator in operators)
            raise ValueError(f'operators must have names of their own, not "{OUTSIDE}" or "{JOB}": {taken}')
        edges: list[tuple[int, int]] = []
        shares = np.zeros(len(operators))
        for index, operator in enumerate(operators):
            before = operators[index - 1].name if index else OUTSIDE
            for name in operator.inputs or (before,):
                if name == OUTSIDE:
                    shares[index] = (weights or {}).get(operator.name, 1.0)
                elif place.get(name, index) < index:
                    edges.append((place[name], index))
                else:
                    known = ", ".join([OUTSIDE, *(it.name for it in operators[:index])])
                    raise ValueError(f'operator "{operator.name}" reads from "{name}"; before it there are: {known}')
        if not shares.sum() > 0:
            raise ValueError(f'no operator reads from "{OUTSIDE}"')
        shares /= shares.sum()
        factors = shares.copy()
        for origin, goal in edges:
            factors[goal] += factors[origin] * operators[origin].selectivity
        return cls(tuple(operators), tuple(edges), shares, factors)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(operator.name for operator in self.operators)

    def index(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f'unknown operator "{name}"; there are: {", ".join(self.names)}')
        return self.names.index(name)

    def upstream(self, operator: int) -> list[int]:
        return [origin for origin, goal in self.edges if goal == operator]

    def ends(self, operator: int) -> bool:
        """Whether nobody reads from it."""
        return all(origin != operator for origin, _ in self.edges)
