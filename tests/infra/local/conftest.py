"""Tests of the local place: those with the marker `local` need its jars and start real processes."""

from collections.abc import Iterator

import pytest

from infra.local import jars, leftovers
from infra.local.household import Household


@pytest.fixture
def household(request: pytest.FixtureRequest) -> Iterator[Household]:
    """A run's household; nothing of it may be left afterwards."""
    jars.require()
    with Household(f"test-{request.node.name[:30]}") as made:
        yield made
    assert made.label.processes() == []
    assert not made.folder.exists()
    assert [line for line in leftovers.sweep() if made.label.run in line] == []
