"""How near the workload of the suites paper-e2df is to the load that its authors publish.

    python -m experiments.validation.city PROFILE.csv[.gz]

The profile has the columns t_seconds,rate, a row a minute. It is not part of Tidebed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import workloads
from autoscalers.model import Floats
from experiments.errors import UserError
from experiments.suite import load
from workloads.trace import load_trace

SUITE = "paper-e2df"
PERCENTILES = (1, 5, 25, 50, 75, 95, 99, 100)
#: The authors' load begins on a Tuesday, the shape on a Monday.
_DAY = 1440


def statistics(rates: Floats) -> dict[str, float]:
    """What matters to a policy that decides each minute: level, spread, and how much a minute differs from the next."""
    found = {"mean": float(rates.mean())}
    found |= {f"percentile {percent}": float(np.percentile(rates, percent)) for percent in PERCENTILES}
    found["variance between minutes, over the mean"] = float((np.diff(rates) ** 2).mean() / 2 / rates.mean())
    hourly = rates[: rates.size // 60 * 60].reshape(-1, 60).mean(axis=1)
    found["change from hour to hour, standard deviation"] = float(np.diff(hourly).std())
    return found


def by_the_minute(rates: Floats) -> Floats:
    return np.asarray(rates[: rates.size // 60 * 60].reshape(-1, 60).mean(axis=1))


def compare(profile: Path, seed: int = 1) -> tuple[dict[str, float], dict[str, float], float]:
    """Statistics of the profile and of the suite's workload, and how well their hours correlate."""
    suite = load(SUITE).suite
    seconds = int(suite.duration)
    ours = by_the_minute(workloads.parse(suite.workloads[0]).curve(seconds, seed))
    theirs = load_trace(profile).curve(seconds)[::60]  # between its rows a trace is interpolated
    hours = [rates[: rates.size // 60 * 60].reshape(-1, 60).mean(axis=1) for rates in (ours[_DAY:], theirs[:-_DAY])]
    return statistics(theirs), statistics(ours), float(np.corrcoef(*hours)[0, 1])


def main(arguments: list[str]) -> int:
    console = Console()
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        Console(stderr=True).print("write: python -m experiments.validation.city PROFILE.csv (t_seconds,rate)")
        return 2
    try:
        theirs, ours, correlation = compare(Path(arguments[0]))
    except (UserError, workloads.WorkloadError) as fault:
        Console(stderr=True).print(str(fault))
        return 2
    table = Table(title=f"The load of {SUITE} against the authors' profile", title_justify="left", title_style="bold")
    for heading in ("tuples/s", "profile", "ours", "off by"):
        table.add_column(heading, justify="left" if heading == "tuples/s" else "right")
    for name, value in theirs.items():
        table.add_row(name, f"{value:.4g}", f"{ours[name]:.4g}", f"{ours[name] / value - 1:+.0%}")
    console.print(table)
    console.print(f"correlation of the hours: {correlation:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
