"""`tidebed sweep`: nothing stays behind."""

from __future__ import annotations

from experiments.cli.console import Json, output, print_json
from experiments.stack import stack


def sweep(json: Json = False) -> None:
    """Remove what a crashed campaign left behind: processes, clusters, servers, found again by label or pid file."""
    import infra

    removed = stack().sweep()
    for name in infra.names():
        removed += infra.get(name).sweep()
    if json:
        print_json({"removed": removed})
        return
    for line in removed:
        output.print(line, markup=False)
    output.print("nothing left behind" if not removed else f"{len(removed)} removed")
