"""The recorded steps that nobody has fetched yet."""

from __future__ import annotations

import numpy as np

from autoscalers.model import Floats
from infra.simulated.operators import record

#: Steps that a record has room for at first.
_STEPS = 512


class Records:
    """Rows of operators and job, and samples of instances, growing with time and with the largest operator.

    What was handed out stays as it was: forgetting takes new arrays instead of writing over the old ones.
    """

    def __init__(self, operators: int, width: int, steps: int) -> None:
        self.filled = 0
        self._steps = min(steps, _STEPS)
        self.rows: Floats = np.empty((self._steps, operators + 1, record.ROW_COLUMNS))
        self.samples: Floats = np.empty((self._steps, operators, width, record.INSTANCE_PLANES))
        self._show()

    @property
    def width(self) -> int:
        return int(self.samples.shape[2])

    def reserve(self, steps: int) -> None:
        """Make room for more steps."""
        if self.filled + steps > self.rows.shape[0]:
            self._renew(max(self.filled + steps, 2 * self.rows.shape[0]), self.width, first=0)

    def widen(self, width: int) -> None:
        """Make room for more instances an operator."""
        self._renew(self.rows.shape[0], width, first=0)

    def forget(self, keep: int) -> None:
        """Drop all steps but the last `keep`."""
        self._renew(max(keep, self._steps), self.width, first=self.filled - keep)

    def last(self, steps: int) -> tuple[Floats, Floats]:
        """Rows and samples of the last steps, to be read only."""
        first = self.filled - steps
        return self._shown_rows[first : self.filled], self._shown_samples[first : self.filled]

    def _renew(self, steps: int, width: int, first: int) -> None:
        rows, samples, kept = self.rows, self.samples, self.filled - first
        self.rows = np.empty((steps, *rows.shape[1:]))
        self.samples = np.full((steps, samples.shape[1], width, samples.shape[3]), np.nan)
        self.rows[:kept] = rows[first : self.filled]
        self.samples[:kept, :, : samples.shape[2]] = samples[first : self.filled]
        self.filled = kept
        self._show()

    def _show(self) -> None:
        self._shown_rows, self._shown_samples = self.rows.view(), self.samples.view()
        self._shown_rows.flags.writeable = self._shown_samples.flags.writeable = False
