"""`tidebed doctor`: what this machine can run, and what is missing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer
from rich.table import Table

from experiments.cli.console import Json, output, print_json
from experiments.stack import stack
from infra.model import Check

JAVA_NEEDED = 17
_SIGNS = {
    (True, True): "[green]✓[/]",
    (True, False): "[green]✓[/]",
    (False, True): "[red]✗[/]",
    (False, False): "[yellow]–[/]",
}


def doctor(json: Json = False) -> None:
    """Say what this machine can run. Exits with 1 if something needed is missing."""
    import infra

    checks = [_python(), _java(), _package("pyspark"), _package("apache-airflow"), _memory(), _airflow()]
    for name in infra.names():
        checks += infra.get(name).doctor()
    if json:
        print_json([asdict(check) for check in checks])
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in checks:
            table.add_row(_SIGNS[check.ok, check.needed], check.what, check.detail)
        output.print(table)
    if not all(check.ok for check in checks if check.needed):
        raise typer.Exit(1)


def _python() -> Check:
    return Check("Python", ok=True, detail=f"{platform.python_version()}, {os.cpu_count()} cores")


def java_version(text: str) -> int | None:
    """The feature release in what `java -version` prints.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_392"')
    (17, 8)
    """
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _java() -> Check:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = "install openjdk-17-jre-headless, or set JAVA_HOME"
    if java is None or not Path(java).exists():
        return Check("Java", ok=False, detail=f"not found, and Spark needs {JAVA_NEEDED} or newer: {hint}")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=30)
    found = java_version(answer.stderr)
    if found is None or found < JAVA_NEEDED:
        return Check("Java", ok=False, detail=f"{found or 'unknown'} is too old, Spark needs {JAVA_NEEDED}: {hint}")
    return Check("Java", ok=True, detail=f"{found} at {java}")


def _package(name: str) -> Check:
    try:
        return Check(name, ok=True, detail=version(name))
    except PackageNotFoundError:
        return Check(name, ok=False, detail="not installed: make install")


def _memory() -> Check:
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Check("Memory", ok=gib >= 3, detail=f"{gib:.0f} GiB (Airflow and Spark together need about 3)")


def _airflow() -> Check:
    endpoint = stack().running()
    return Check(
        "Airflow", ok=True, detail=f"runs at {endpoint.url}" if endpoint else "does not run (make up starts it)"
    )
