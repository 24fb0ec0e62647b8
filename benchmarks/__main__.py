"""`make bench`: all benchmarks, as a table and as bench-results.json."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import aggregation, hierarchy, orchestration, simulator


def main() -> None:
    console = Console()
    results = {}
    for name, benchmark in (
        ("simulator", simulator),
        ("hierarchy", hierarchy),
        ("orchestration", orchestration),
        ("aggregation", aggregation),
    ):
        console.print(f"{name} …", style="dim")
        results[name] = benchmark.main()
        table = Table(title=name, title_justify="left", title_style="bold", show_header=False)
        table.add_column()
        table.add_column(justify="right")
        for figure, value in results[name].items():
            table.add_row(figure, f"{value:,.2f}")
        console.print(table)
    host = {"system": platform.platform(terse=True), "cores": os.cpu_count(), "python": platform.python_version()}
    Path("bench-results.json").write_text(json.dumps({"host": host, "results": results}, indent=1, default=str) + "\n")
    console.print("written to bench-results.json")


if __name__ == "__main__":
    main()
