"""What all tests share."""

import os

from hypothesis import settings

# Machines are noisy, so no example has a deadline. A change must not fail for examples that it has nothing to do with:
# CI draws the same ones every time, people draw new ones.
settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")
