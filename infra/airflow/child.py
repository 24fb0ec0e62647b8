"""Becomes one of Airflow's processes: `python -m infra.airflow.child <supervisor's pid> scheduler ...`.

The kernel ends it with its supervisor, even where that one is killed. The wish survives `exec`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    supervisor, *command = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(supervisor):  # it was gone before the kernel heard the wish
        sys.exit(f"supervisor {supervisor} is gone")
    os.execv(sys.executable, [sys.executable, "-m", "airflow", *command])  # noqa: S606 - our own interpreter


if __name__ == "__main__":
    main(sys.argv[1:])
