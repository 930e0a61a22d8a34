"""Frames of the studies of read and write costs: recordings played twice, and what they take."""
