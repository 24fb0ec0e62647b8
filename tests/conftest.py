"""What all tests share."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from infra.local import lock

# Machines are noisy, so no example has a deadline. A change must not fail for examples that it has nothing to do with:
# CI draws the same ones every time, people draw new ones.
settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")


@pytest.fixture(autouse=True)
def machine_given_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """A process keeps the machine until it ends; the next test may do its campaign in another one."""
    yield
    if request.node.get_closest_marker("local") is not None:
        lock.release()
