"""A YAML file that remembers on which line each of its values stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from experiments.errors import UserError

Location = tuple[str | int, ...]
"""The way to a value: ("autoscalers", 1, "hpa", "target_cpu")."""


def spell(location: Location) -> str:
    """Write a location the way a person would.

    >>> spell(("autoscalers", 1, "hpa", "target_cpu"))
    'autoscalers[1].hpa.target_cpu'
    """
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document."""

    location: Location
    message: str


@dataclass(slots=True)
class Document:
    """Data and line numbers of one file."""

    path: Path
    data: Any = None
    lines: dict[Location, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, location: Location) -> int:
        """The line of a value, or of the nearest one around it."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)

    def describe(self, problem: Problem) -> str:
        where = spell(problem.location)
        return f"{self.path.name}:{self.line(problem.location)}: {where + ': ' if where else ''}{problem.message}"

    def error(self, problems: list[Problem]) -> UserError:
        """All problems in the order of their lines, each said once."""
        ordered = sorted(dict.fromkeys(problems), key=lambda problem: self.line(problem.location))
        return UserError(*(self.describe(problem) for problem in ordered))


def read(path: Path) -> Document:
    """Read a YAML file; what YAML itself finds wrong is a UserError with its line."""
    document = Document(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "not UTF-8 text"
        raise UserError(f"{path}: cannot be read: {reason}") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            document.data = _value(node, (), document)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line = mark.line + 1 if mark else 1
        raise UserError(f"{path.name}:{line}: not valid YAML: {fault.problem}") from None
    except yaml.YAMLError as fault:
        raise UserError(f"{path.name}:1: not valid YAML: {str(fault).splitlines()[0]}") from None
    return document


def _value(node: yaml.Node, location: Location, document: Document) -> Any:
    document.lines.setdefault(location, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*location, index), document) for index, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            here = (*location, key)
            if key in mapping:
                document.problems.append(Problem(here, "this key stands here twice"))
            document.lines[here] = key_node.start_mark.line + 1
            mapping[key] = _value(value_node, here, document)
        return mapping
    return yaml.SafeLoader("").construct_object(node)
