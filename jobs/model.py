"""A benchmark job: its topology, and how fast a worker runs it (its simulator profile)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of the job."""

    name: str
    selectivity: float
    """Events out per event in."""
    keyed: bool = False
    """Whether events go to an instance by their key, so that a hot key makes a hot instance."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A figure with its unit and where it comes from."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Profile:
    """How a job behaves on an engine. The whole job scales as one: a worker holds a slice of every operator."""

    engine: str
    constants: Mapping[str, Constant]

    def __getitem__(self, name: str) -> float:
        return self.constants[name].value


@dataclass(frozen=True, slots=True)
class Job:
    """A stream-processing program that autoscalers are measured on."""

    name: str
    title: str
    about: str
    reference: str
    event: str
    """What one event is, in a few words."""
    topology: tuple[Operator, ...]
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By engine; the first is the default."""

    @property
    def default_engine(self) -> str:
        return next(iter(self.profiles))
