"""Devices fitted to measurements."""
