"""Does the simulated plant behave like the clusters it stands for? Measured runs, replayed and compared."""
