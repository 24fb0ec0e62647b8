"""What goes wrong during a run, as data: the same incidents at the same moments in every place.

A suite lists faults; `problems` checks the list, `parse` reads it, and `schedule` turns it into the incidents of
one run. A place says which kinds it can cause (`Place.supported_faults`) and carries the incidents out.
"""

from infra.faults.incidents import Incident, schedule
from infra.faults.kinds import CHOICES, KINDS, Kind
from infra.faults.reading import Fault, kind_of, parse, problems

__all__ = ["CHOICES", "KINDS", "Fault", "Incident", "Kind", "kind_of", "parse", "problems", "schedule"]
