"""Files, processes, signals and argument checks for all other modules."""
