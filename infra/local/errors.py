"""What can go wrong here, told in a line."""

from __future__ import annotations


class LocalError(Exception):
    """Something that this machine lacks, or a part that did not come up or died."""
