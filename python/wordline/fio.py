"""fio job files as the load of `wordline.run`."""

from wordline._importers.fio import Load, load

__all__ = ["Load", "load"]
