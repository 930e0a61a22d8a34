"""Files, processes, signals and checks of arguments, which everything else uses."""
