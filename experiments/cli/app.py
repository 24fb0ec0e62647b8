"""`tidebed`: the commands, and how faults reach the user."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from experiments.cli import airflow, compare, doctor, listing, run, sweep, validate
from experiments.cli.console import errors
from experiments.errors import UserError

INTERRUPTED = 130

app = typer.Typer(
    name="tidebed",
    help="Which autoscaler should run my streaming job, and what will it cost me?\n\n"
    "Start with [bold]tidebed run quickstart[/], then [bold]tidebed list suites[/]. "
    "A suite is a YAML file that names experiments; write your own beside the shipped ones and give its path.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.add_typer(listing.app, name="list")
app.add_typer(airflow.app, name="airflow")
app.command("validate")(validate.validate)
app.command("doctor")(doctor.doctor)
app.command("sweep")(sweep.sweep)


def main() -> NoReturn:
    """Run a command. Faults of the input are told in lines and exit with 2; Ctrl-C exits with 130."""
    try:
        code = app(standalone_mode=False) or 0  # a command that raises Exit has its code returned here
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except UserError as fault:
        for line in fault.lines:
            errors.print(line, markup=False, highlight=False, soft_wrap=True)
        code = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except typer.TyperException as fault:
        if fault.format_message():  # it is empty where the help was shown instead
            errors.print(f"tidebed: {fault.format_message()}", markup=False, highlight=False, soft_wrap=True)
        code = 2
    if code == INTERRUPTED:  # Typer turns Ctrl-C into this code by itself
        errors.print("stopped; what finished is kept, and the same command does the rest")
        sys.stdout.flush()
        os._exit(code)  # the interpreter would wait for the pool's threads, and they for workers that may be gone
    sys.exit(code)
