"""What is wrong with a spec: where, and what would be right. Words of people, not of libraries."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from pydantic import ValidationError

from workloads.units import printable, shown

Path = tuple[str | int, ...]
Problem = tuple[Path, str]

_MOST_LISTED: Final = 20
_EXAMPLES: Final = {"peak": "peak: 60k"}


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant."""
    close = get_close_matches(word.lower(), sorted(known), n=1)
    return close[0] if close else None


def did_you_mean(what: str, word: str, known: Iterable[str]) -> str:
    """`what`, and the word that was most likely meant, else all there are.

    >>> did_you_mean("unknown key", "pek", ["peak", "low"])
    'unknown key — did you mean "peak"?'
    >>> did_you_mean("unknown key", "colour", ["peak", "low"])
    'unknown key; there are: low, peak'
    """
    known = set(known)
    meant = suggestion(word, known)
    if meant:
        return f'{what} — did you mean "{meant}"?'
    return f"{what}; there are: {', '.join(sorted(known))}" if len(known) <= _MOST_LISTED else what


def from_validation(error: ValidationError, path: Path, known: Iterable[str]) -> list[Problem]:
    """The problems that pydantic found below `path`; `known` are the keys that are valid there."""
    problems: list[Problem] = []
    for found in error.errors(include_url=False):
        where: Path = (*path, *found["loc"])
        cause = found.get("ctx", {}).get("error")
        match found["type"]:
            case "value_error" if isinstance(cause, ValueError):
                problems.append(((*where, cause.key) if hasattr(cause, "key") else where, str(cause)))
            case "missing":
                key = str(found["loc"][-1])
                example = f"; write e.g. {_EXAMPLES[key]}" if key in _EXAMPLES else ""
                problems.append((where, f"is missing{example}"))
            case "extra_forbidden" | "unexpected_keyword_argument":
                problems.append((where, did_you_mean("unknown key", str(found["loc"][-1]), known)))
            case _:
                problems.append((where, f"{shown(found['input'])} is not understood here"))
    return problems


def as_line(problem: Problem) -> str:
    """One line for a person.

    >>> as_line((("sum", 1, "peak"), "is missing"))
    'sum[1].peak: is missing'
    """
    path, message = problem
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{printable(key)}" for key in path).removeprefix(".")
    return f"{where}: {message}" if where else message
