"""The command line. It reads and shows; what is done, the campaign does, here as in the DAGs."""

from experiments.cli.app import main

__all__ = ["main"]
