"""What the supervisor leaves for others to find it by."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from infra.airflow.errors import AirflowError
from infra.processes import Identity

#: Tells the supervisor to end with the process that started it.
ATTACHED = "--attached"


@dataclass(frozen=True, slots=True)
class Record:
    """Who supervises, and at which port."""

    leader: Identity
    port: int
    attached: bool

    def write(self, path: Path) -> None:
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self)))
        fresh.replace(path)

    @classmethod
    def read(cls, path: Path) -> Record | None:
        try:
            values = json.loads(path.read_text())
            return cls(Identity(**values["leader"]), int(values["port"]), bool(values["attached"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise AirflowError(f"{path} cannot be read; remove it if no Airflow runs") from None
