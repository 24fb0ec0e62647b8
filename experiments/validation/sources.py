"""What a folder of measured data holds. Every source is optional; what is missing is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.errors import UserError
from experiments.validation import daedalus, demeter, phoebe
from experiments.validation.daedalus import Daedalus
from experiments.validation.demeter import Interruption, Minutes
from experiments.validation.measured import Measured

#: Small parts of the measured runs, for machines without them.
EXTRACTS = Path(__file__).parent / "extracts"

#: The job that nothing is fitted on.
TESTED_ON = "cars"


@dataclass(frozen=True, slots=True)
class Data:
    """All measurements of a folder."""

    runs: tuple[Measured, ...]
    interruptions: tuple[Interruption, ...] = ()
    """Of runs without series, of the job that nothing is fitted on."""
    minutes: tuple[Minutes, ...] = ()
    daedalus: Daedalus | None = None
    remarks: tuple[str, ...] = ()
    """What is missing or left out, a line each."""


def read(folder: Path) -> Data:
    """Read what is there; complain only where nothing is."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; it must hold {_listed()}")
    if not any((folder / name).is_dir() for name in _FOLDERS):
        raise UserError(f"{folder}: holds no measured runs; expected {_listed()}")
    runs: list[Measured] = []
    remarks = [f"{name} is missing: not compared" for name in _FOLDERS if not (folder / name).is_dir()]
    interruptions: list[Interruption] = []
    minutes: list[Minutes] = []
    found: Daedalus | None = None
    if (folder / phoebe.FOLDER).is_dir():
        measured, unknown = phoebe.read(folder / phoebe.FOLDER)
        runs += measured
        if unknown:
            remarks.append(f"left out, because nobody wrote down the number of workers: {', '.join(unknown)}")
    if (folder / demeter.FOLDER).is_dir():
        measured, resized = demeter.read(folder / demeter.FOLDER)
        runs += measured
        if resized:
            remarks.append(f"left out, because workers changed in size as well: {', '.join(resized)}")
        interruptions = demeter.interruptions(folder / demeter.FOLDER, TESTED_ON)
        minutes = demeter.minutes(folder / demeter.FOLDER)
    if (folder / daedalus.FOLDER).is_dir():
        found = daedalus.read(folder / daedalus.FOLDER)
    return Data(tuple(runs), tuple(interruptions), tuple(minutes), found, tuple(remarks))


_FOLDERS = (phoebe.FOLDER, demeter.FOLDER, daedalus.FOLDER)


def _listed() -> str:
    return f"{', '.join(_FOLDERS[:-1])} or {_FOLDERS[-1]}"
