"""Compilation of the kernels, kept on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function at its first call, and keep the result for later processes.

    numba forgets what it kept when the function's own file changes, but not when the file of a function that it calls
    or of a constant that it uses does. So the place where it is kept is named after all sources there are.
    """
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(_folder())
    try:
        return cast("F", numba.njit(cache=True)(function))
    finally:
        settings.CACHE_DIR = before


@cache
def _folder() -> Path:
    sources = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        sources.update(path.read_bytes())
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "tidebed" / "kernels" / sources.hexdigest()[:16]
