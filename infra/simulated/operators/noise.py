"""Random numbers for the kernel, drawn many steps at once."""

from __future__ import annotations

import numpy as np

from infra.simulated.operators.record import INSTANCES

#: Steps whose numbers are drawn at once.
_BLOCK = 256
#: Tells this stream of random numbers from others of the same seed.
_STREAM = 0x6E6F


class Noise:
    """Normal numbers a step and operator, from a stream an operator.

    They stand in a place of their own for each instance that there may be: how many there are, and how a run is cut
    into pieces, changes nobody's numbers.
    """

    def __init__(self, operators: int, limit: int, seed: int, *, silent: bool) -> None:
        self._block = np.zeros((_BLOCK, operators, INSTANCES + 2 * limit))
        self._drawn = 0
        self._streams = [np.random.default_rng([seed, _STREAM, index]) for index in range(operators)]
        self._silent = silent
        """Whether nothing is noisy, so that drawing would be idle."""

    def left(self, step: int) -> int:
        """Steps from this one on that are drawn."""
        if step >= self._drawn:
            self._drawn += _BLOCK
            if not self._silent:
                for index, stream in enumerate(self._streams):
                    self._block[:, index] = stream.standard_normal(self._block[:, index].shape)
        return self._drawn - step

    def since(self, step: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """The numbers of this step and those after it that are drawn."""
        return self._block[step % _BLOCK :]
