"""Where things are kept: what can be fetched again in the user's cache, what a run needs in the user's state."""

from __future__ import annotations

import os
from pathlib import Path


def cache() -> Path:
    """Jars and compiled classes."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "tidebed" / "local"


def state() -> Path:
    """A folder a run, gone when the run ends."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "tidebed" / "local"
