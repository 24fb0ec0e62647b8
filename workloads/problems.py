"""What is wrong with a spec: where, and what would be right. Words of people, not of libraries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from pydantic import ValidationError

from workloads.units import shown

Path = tuple[str | int, ...]
Problem = tuple[Path, str]

_EXAMPLES = {"peak": "peak: 60k"}


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant."""
    close = get_close_matches(word.lower(), list(known), n=1)
    return close[0] if close else None


def did_you_mean(what: str, word: str, known: Sequence[str]) -> str:
    """`what`, and the word that was most likely meant, else all there are.

    >>> did_you_mean("unknown key", "pek", ["peak", "low"])
    'unknown key — did you mean "peak"?'
    >>> did_you_mean("unknown key", "colour", ["peak", "low"])
    'unknown key; there are: low, peak'
    """
    meant = suggestion(word, known)
    return f'{what} — did you mean "{meant}"?' if meant else f"{what}; there are: {', '.join(sorted(known))}"


def from_validation(error: ValidationError, path: Path, known: Sequence[str]) -> list[Problem]:
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
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
    return f"{where}: {message}" if where else message
