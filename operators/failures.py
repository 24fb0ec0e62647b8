"""How tasks fail: with a reason that a person reads, also outside Airflow's log."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import NoReturn, ParamSpec, TypeVar

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from experiments.errors import UserError
from infra.airflow.contract import REASON

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger(__name__)


def fail(*lines: str) -> NoReturn:
    """Fail this task for good: nothing of this kind gets better by trying again."""
    raise AirflowFailException("\n".join(lines))


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Leave the reason of a failure where the command line finds it. Faults of the input are told without a trace."""

    @functools.wraps(function)
    def guarded(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except (UserError, AirflowFailException) as fault:
            _leave(str(fault))
            raise AirflowFailException(str(fault)) from None
        except AirflowSkipException:
            raise
        except Exception as fault:
            _leave(f"{type(fault).__name__}: {fault}")
            raise

    return guarded


def _leave(reason: str) -> None:
    log.error("%s", reason)
    get_current_context()["ti"].xcom_push(REASON, reason)
