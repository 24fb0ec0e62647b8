"""Becomes one of Airflow's processes: `python -m infra.airflow.child <supervisor's pid> scheduler ...`.

The kernel ends it with its supervisor, even where that one is killed. Libraries that most tasks need are
loaded before Airflow starts, because the scheduler forks for every task: loaded once, they are there at once.
Only libraries: code of this repository may be edited while Airflow runs, and every task reads it anew.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
from importlib import import_module

PR_SET_PDEATHSIG = 1
PRELOADED = {
    "scheduler": ("numba", "pandas", "pyarrow.parquet", "pydantic", "scipy.signal", "yaml"),
    "dag-processor": ("pydantic", "scipy.signal", "yaml"),
}


def main(arguments: list[str]) -> None:
    supervisor, *command = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(supervisor):  # it was gone before the kernel heard the wish
        sys.exit(f"supervisor {supervisor} is gone")
    for library in PRELOADED.get(command[0], ()):
        import_module(library)
    sys.argv = ["airflow", *command]
    runpy.run_module("airflow", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
