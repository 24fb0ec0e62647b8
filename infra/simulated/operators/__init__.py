"""Jobs whose operators scale each on their own, on the nodes of one or several regions."""
