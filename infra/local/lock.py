"""One campaign at a time: measurements of two on one machine would disturb each other.

The lock belongs to the process and goes with it, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import tempfile
from pathlib import Path

from infra.local.errors import LocalError

_held: dict[Path, int] = {}


def default_path() -> Path:
    """One for all users of the machine."""
    return Path(tempfile.gettempdir()) / "tidebed-local.lock"


def take(path: Path | None = None) -> None:
    """Take the machine for this process until it ends; at once, or tell who has it."""
    path = path or default_path()
    if path in _held:
        return
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = holder(path)
        os.close(handle)
        raise LocalError(
            f"the local place is taken by {owner}; two on one machine would disturb each other, so wait for it "
            "or stop it"
        ) from None
    _held[path] = handle
    note = json.dumps({"pid": os.getpid(), "command": " ".join(sys.argv)[:200]}).encode()
    if os.access(path, os.W_OK):
        os.ftruncate(handle, 0)
        os.pwrite(handle, note, 0)


def release(path: Path | None = None) -> None:
    handle = _held.pop(path or default_path(), None)
    if handle is not None:
        os.close(handle)


def taken(path: Path | None = None) -> str | None:
    """Why this process cannot have the machine; None if it can."""
    held = (path or default_path()) in _held
    try:
        take(path)
    except LocalError as refusal:
        return str(refusal)
    if not held:
        release(path)
    return None


def holder(path: Path | None = None) -> str:
    """Who has the machine, in words."""
    try:
        note = json.loads((path or default_path()).read_text())
        return f"process {note['pid']} ({note['command']})"
    except (OSError, ValueError, KeyError):
        return "another process"


def _open(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except PermissionError:  # another user's: enough to wait for it
        handle = os.open(path, os.O_RDONLY)
    return handle
