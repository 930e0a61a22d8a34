//! Workloads: trace readers, generators, statistics.
