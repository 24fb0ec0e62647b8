"""What Airflow adds to each run of `quickstart`, against the same campaign from the command line."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from experiments.campaign import Campaign
from experiments.stack import stack
from infra.airflow.client import Client
from infra.airflow.follow import follow

SUITE = "quickstart"


def direct(archive: Path) -> float:
    """Wall seconds of `tidebed run quickstart`."""
    started = time.perf_counter()
    command = [
        sys.executable,
        "-c",
        "from experiments.cli import main; main()",
        "run",
        SUITE,
        "--archive",
        str(archive),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def orchestrated(archive: Path) -> float:
    """Wall seconds of a DAG run of `benchmark`, from the trigger to its end, in an Airflow that is up."""
    with stack().at_hand(lambda line: print(line, file=sys.stderr)) as endpoint, Client(endpoint.url) as client:
        client.wait_for_dag("benchmark")
        started = time.perf_counter()
        run_id = client.trigger("benchmark", {"suite": SUITE, "archive": str(archive)})
        ended = follow(client, "benchmark", run_id, lambda _progress: None)
        if not ended.succeeded:
            raise RuntimeError(f"the DAG run ended as {ended.state}: {ended.failures}")
        return time.perf_counter() - started


def main() -> dict[str, float]:
    """Both ways, and the difference spread over the runs."""
    with tempfile.TemporaryDirectory() as folder:
        alone = direct(Path(folder) / "direct")
        under_airflow = orchestrated(Path(folder) / "airflow")
        runs = len(Campaign.open(SUITE, archive=Path(folder)).runs)
    return {
        "tidebed run quickstart, s": alone,
        "the same as a DAG run, s": under_airflow,
        "runs": runs,
        "Airflow's overhead per run, s": (under_airflow - alone) / runs,
        "DAG run over command line": under_airflow / alone,
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:60} {value:12,.2f}")
