"""A real Airflow, supervised: its processes and its REST interface. Nothing here imports airflow."""

from infra.airflow.client import Client, TaskInstance
from infra.airflow.contract import MACHINE_POOL, REASON
from infra.airflow.errors import AirflowError
from infra.airflow.follow import Ended, Failure, Progress, TaskProgress, follow
from infra.airflow.stack import Endpoint, Stack

__all__ = [
    "MACHINE_POOL",
    "REASON",
    "AirflowError",
    "Client",
    "Ended",
    "Endpoint",
    "Failure",
    "Progress",
    "Stack",
    "TaskInstance",
    "TaskProgress",
    "follow",
]
