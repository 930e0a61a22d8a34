"""Shared parts of the studies of read and write costs: recordings replayed twice, and their
metrics."""
