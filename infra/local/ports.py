"""Ports on loopback that nobody uses."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress

LOOPBACK = "127.0.0.1"
#: Below the range from which systems draw the near end of outgoing connections.
_RANGE = (20_000, 32_000)


def free(count: int) -> list[int]:
    """So many ports that are free now, found in random order, so that two runs hardly ever ask for the same."""
    found: list[int] = []
    with ExitStack() as held:
        for port in random.sample(range(*_RANGE), _RANGE[1] - _RANGE[0]):
            if len(found) == count:
                break
            candidate = held.enter_context(socket.socket())
            with suppress(OSError):
                candidate.bind((LOOPBACK, port))
                found.append(port)
    return found


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=0.5):
        return True
    return False
