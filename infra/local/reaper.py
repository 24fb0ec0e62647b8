"""Waits for the end of the process that does a run, and removes what that one could not.

`python -m infra.local.reaper LABEL` reads its standard input, a pipe that only the run's process holds open. The pipe
closes however that process ends, also by kill -9. A run that ends in order has cleaned up and ends its reaper first.
"""

from __future__ import annotations

import sys

from infra.local.labels import Label
from infra.local.leftovers import remove


def main() -> None:
    label = Label.read(sys.argv[1])
    if label is None:
        sys.exit(f"{sys.argv[1]} is no label")
    sys.stdin.buffer.read()
    remove(label)


if __name__ == "__main__":
    main()
