"""Fits of devices to measurements."""
