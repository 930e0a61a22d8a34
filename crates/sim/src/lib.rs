//! From a configuration to results: Config, Plan, Simulation, Results.
