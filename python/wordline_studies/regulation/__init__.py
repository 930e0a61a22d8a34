"""Shared parts of the studies of read and write costs: traces replayed twice, and their metrics."""
