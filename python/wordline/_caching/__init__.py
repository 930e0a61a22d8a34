"""Caches over traces without a device, and plans of flash in front of disks."""
