"""Where the operators of E2DF's simulated system live: every way there is, on the load that its authors publish.

    python -m experiments.validation.homes PROFILE.csv[.gz]

The paper does not say it. Four operators can be spread over three regions that are alike in 14 ways. Under the right
one 12 nodes a region are enough for the static baseline (section 8.2), which then comes out as published, and the row
of Table 2 that depends most on it, thresholds with w_d = 0.1, comes out best. The other rows have no say.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

import jobs
from experiments.validation.e2df import METRICS, combinations, measured, profile_rates, published
from jobs.operators import OperatorsProfile

ENOUGH, DECIDES = "static/threshold", "threshold w_d=0.1"
#: How exactly the paper gives its figures: shares to a hundredth of a percent, counts to two digits.
DIGITS = (4, 4, 2, 2)


def ways(operators: int, regions: int) -> Iterator[tuple[int, ...]]:
    """The region of each operator; ways that differ in the names of the regions alone count once.

    >>> list(ways(3, 2))
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    """
    for way in itertools.product(range(regions), repeat=operators):
        if list(dict.fromkeys(way)) == list(range(len(set(way)))):
            yield way


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        Console(stderr=True).print("write: python -m experiments.validation.homes PROFILE.csv", markup=False)
        return 2
    profile = jobs.get("wordcount").profiles["e2df"]
    assert isinstance(profile, OperatorsProfile)
    names = [operator.name for operator in profile.topology]
    rates, runs, figures = profile_rates(Path(arguments[0])), combinations(), published()
    paper = figures[DECIDES]
    shown = Table(title=f"{DECIDES}, by where operators live", title_justify="left", title_style="bold")
    for heading in (", ".join(names), "12 are enough", "violations", "reconfigured", "replicas", "nodes", "off by"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_row("published", "", *_cells(paper), "", end_section=True)
    for way in ways(len(names), len(profile.regions)):
        homes = {f"home.{name}": float(region) for name, region in zip(names, way, strict=True)}
        static, found = (measured(runs[label], rates, homes) for label in (ENOUGH, DECIDES))
        enough = all(
            round(static[metric], digits) == figures[ENOUGH][metric]
            for metric, digits in zip(METRICS, DIGITS, strict=True)
        )
        off = max(abs(found[metric] / paper[metric] - 1) for metric in METRICS)
        lives = ", ".join(profile.regions[region] for region in way)
        shown.add_row(lives, "yes" if enough else "no", *_cells(found), f"{off:.0%}")
    Console(width=120).print(shown)
    return 0


def _cells(figures: dict[str, float]) -> list[str]:
    return [*(f"{figures[name]:.2%}" for name in METRICS[:2]), *(f"{figures[name]:.2f}" for name in METRICS[2:])]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
