"""Suites, planning, the control loop, the archive and the command line."""
