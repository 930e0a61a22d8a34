"""Imports files of other programs as loads and devices."""
