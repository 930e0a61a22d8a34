"""Devices and loads of MQSim as configurations."""

from wordline._importers.mqsim import Imported, imported

__all__ = ["Imported", "imported"]
