"""What can go wrong with the supervised Airflow, told in lines a person can act on."""

from __future__ import annotations


class AirflowError(Exception):
    """Airflow could not be started, reached or asked. The message stands on its own."""
