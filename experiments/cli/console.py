"""How the command line speaks: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

output = Console(highlight=False)
if not output.is_terminal and "COLUMNS" not in os.environ:
    output.width = 120  # a file or a pipe has no width; tables need not be cut for it
errors = Console(stderr=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for other programs.")]


def print_json(content: Any) -> None:
    """JSON alone on standard output."""
    print(json.dumps(content, indent=1, default=str, ensure_ascii=False))


def progress() -> Progress:
    """A bar with counts and elapsed time, on standard error; it vanishes where that is no terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        disable=not errors.is_terminal,
    )


@contextmanager
def listening(tell: Callable[[str], None]) -> Iterator[None]:
    """Hand on what places say they do or wait for."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tell(record.getMessage())

    logger, handler = logging.getLogger("tidebed.place"), Handler()
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
