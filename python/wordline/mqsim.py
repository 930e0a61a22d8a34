"""Import of MQSim devices and workloads as configurations."""

from wordline._importers.mqsim import Imported, imported

__all__ = ["Imported", "imported"]
