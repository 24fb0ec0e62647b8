"""Faults of the input, told to a person in lines, never as a traceback."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


class UserError(Exception):
    """Something the user can mend. The command line prints the lines and exits with 2."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint to append: the nearest known word, or all of them.

    >>> did_you_mean("hpaa", ["hpa", "static"])
    ' — did you mean "hpa"?'
    >>> did_you_mean("zzz", ["hpa", "static"])
    '; there are: hpa, static'
    """
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f' — did you mean "{near[0]}"?' if near else f"; there are: {', '.join(known) or 'none'}"
