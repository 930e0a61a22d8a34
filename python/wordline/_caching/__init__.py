"""Cache simulations without a device, and sizing of flash caches for disks."""
