"""What a change of the fleet costs in time: each engine's style of rescaling, and what a failure does to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jobs.model import Profile, Style

#: The delays that an engine's profile must have.
DELAYS: dict[Style, frozenset[str]] = {
    "restart": frozenset({"boot_s", "outage_out_s", "outage_in_s", "detection_s", "failure_outage_s"}),
    "boot": frozenset({"boot_s", "detection_s"}),
    "live": frozenset({"boot_s", "detection_s"}),
    "rebalance": frozenset({"boot_s", "rebalance_s", "leave_s"}),
    "executors": frozenset({"boot_s", "detection_s"}),
}

Draw = Callable[[str], float]
"""One delay of the profile, drawn at random."""


@dataclass(frozen=True, slots=True)
class Change:
    """The phases of one change, in seconds; what does not happen takes none."""

    boot_s: float = 0.0
    """Until new workers are there; the old ones go on."""
    outage_s: float = 0.0
    """The job stands still and starts again from its last checkpoint."""
    moving_s: float = 0.0
    """The old workers go on, slower, while state moves."""
    pause_s: float = 0.0
    """Partitions that change hands stand still."""
    saves_first: bool = False
    """Whether the job saves its state before it stops, so that nothing is processed twice."""


def rescaling(profile: Profile, *, outwards: bool, backlog_s: float, save_first: bool, draw: Draw) -> Change:
    """What scaling out or in takes; `backlog_s` is the backlog in seconds of the fleet's work."""
    boot_s = draw("boot_s") if outwards else 0.0
    saves_first = save_first or profile["checkpoint_first"] > 0
    match profile.engine.style:
        case "restart":
            outage_s = draw("outage_out_s" if outwards else "outage_in_s")
            return Change(boot_s=boot_s, outage_s=outage_s, saves_first=saves_first)
        case "live":
            return Change(boot_s, moving_s=profile["move_base_s"] + profile["move_per_backlog"] * backlog_s)
        case "rebalance":
            # an instance that leaves is missed only when its session times out
            left_s = 0.0 if outwards else draw("leave_s")
            return Change(boot_s, pause_s=left_s + draw("rebalance_s"))
        case "boot" | "executors":
            return Change(boot_s)


def failure(profile: Profile, *, survivors: bool, draw: Draw) -> Change:
    """What it takes to go on after workers died; without survivors nothing goes on before others are there."""
    match profile.engine.style:
        case "restart":
            return Change(outage_s=draw("detection_s") + draw("failure_outage_s"))
        case "rebalance":
            noticed_s = draw("leave_s")
            if survivors:
                return Change(pause_s=noticed_s + draw("rebalance_s"))
        case "boot" | "live" | "executors":
            noticed_s = draw("detection_s")
            if survivors:
                return Change(boot_s=noticed_s)
    return Change(outage_s=noticed_s + draw("boot_s"))
