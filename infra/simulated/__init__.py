"""The simulated place: a queueing model in virtual time."""
