"""When things run: the DAGs, thin. What they do is in operators/."""
