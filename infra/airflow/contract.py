"""What the DAGs and this package agree on."""

from __future__ import annotations

#: A pool with one slot: what needs the machine to itself waits here for its turn.
MACHINE_POOL = "machine"

#: Under this key a task that fails leaves the reason, in a line or a few.
REASON = "reason"
