"""What went wrong, in one line that a person can act on."""

from __future__ import annotations


class AnalysisError(Exception):
    """The archive cannot be analysed as asked; the message says why."""
