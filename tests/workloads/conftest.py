"""Hypothesis on machines that others use too: no deadline, since wall time says nothing about the code."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
