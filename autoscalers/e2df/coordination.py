"""Global policies: which of the local managers' requests are granted.

The Application Manager has three (section 7.3, and the token bucket of the authors' earlier work that section 2.2
describes), the Infrastructure Manager two of them (section 6.3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Request(NamedTuple):
    """A local manager asks to add or to remove."""

    target: str
    change: int
    region: str | None = None
    """Where a slot is needed for what is added."""
    urgency: float = 0.0
    """Of several, who comes first: what adds by its load, what removes last."""


class Verdict(NamedTuple):
    """What became of the requests."""

    granted: tuple[Request, ...]
    short: tuple[Request, ...] = ()
    """Accepted, but there is no slot for them."""


class GlobalPolicy(ABC):
    """Sees all requests of a period at once."""

    @abstractmethod
    def decide(self, requests: Sequence[Request], slots: Mapping[str, int]) -> Verdict:
        """Grant or refuse; `slots` are free ones by region."""


class GrantAll(GlobalPolicy):
    """Every request goes through; who finds no slot waits for one.

    >>> both = [Request("filter", 1, "dc1"), Request("counter", 1, "dc1")]
    >>> verdict = GrantAll().decide(both, {"dc1": 1})
    >>> len(verdict.granted), [request.target for request in verdict.short]
    (2, ['counter'])
    """

    def decide(self, requests: Sequence[Request], slots: Mapping[str, int]) -> Verdict:
        return Verdict(tuple(requests), _without_slot(requests, slots))


class ConflictPrevention(GlobalPolicy):
    """No slot is given twice: of those that ask for the same, the most urgent gets it, and the others ask again.

    >>> both = [Request("filter", 1, "dc1", urgency=0.8), Request("counter", 1, "dc1", urgency=0.9)]
    >>> verdict = ConflictPrevention().decide(both, {"dc1": 1})
    >>> [request.target for request in verdict.granted], [request.target for request in verdict.short]
    (['counter'], ['filter'])
    """

    def decide(self, requests: Sequence[Request], slots: Mapping[str, int]) -> Verdict:
        short = _without_slot(requests, slots)
        return Verdict(
            tuple(request for request in requests if request not in short) if short else tuple(requests), short
        )


class TokenBucket(GlobalPolicy):
    """Each reconfiguration takes a token; so many come a period, and the bucket holds so many. No slot is given twice.

    >>> bucket = TokenBucket(rate=0.5, size=1)
    >>> asked = [Request("filter", 1, urgency=0.9), Request("counter", -1, urgency=0.2)]
    >>> [[request.target for request in bucket.decide(asked, {}).granted] for _ in range(3)]
    [['filter'], [], ['filter']]
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._tokens = size - rate

    def decide(self, requests: Sequence[Request], slots: Mapping[str, int]) -> Verdict:
        self._tokens = min(self._size, self._tokens + self._rate)
        first = sorted(requests, key=lambda request: -request.urgency)[: int(self._tokens + 1e-9)]
        verdict = ConflictPrevention().decide(first, slots)
        self._tokens -= len(verdict.granted)
        return verdict


def _without_slot(requests: Sequence[Request], slots: Mapping[str, int]) -> tuple[Request, ...]:
    """Those that add where, after the more urgent ones, no slot is left."""
    adding = [request for request in requests if request.change > 0 and request.region in slots]
    if not adding:
        return ()
    left = dict(slots)
    short = []
    for request in sorted(adding, key=lambda request: -request.urgency):
        region = str(request.region)
        left[region] -= request.change
        if left[region] < 0:
            left[region] += request.change
            short.append(request)
    return tuple(short)


GLOBAL_POLICIES = ("grant-all", "conflict-prevention", "token-bucket")


def create(name: str, *, tokens: float) -> GlobalPolicy:
    """`tokens` come a period; a bucket holds as many, and never less than one, or nothing would ever be granted."""
    if name == "token-bucket":
        return TokenBucket(tokens, max(1.0, tokens))
    return GrantAll() if name == "grant-all" else ConflictPrevention()
