"""Job files of fio as load, for `wordline.run`."""

from wordline._importers.fio import Load, load

__all__ = ["Load", "load"]
