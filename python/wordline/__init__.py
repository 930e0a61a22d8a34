"""Wordline simulates solid-state disks: NAND flash, the FTL above it and the queue in front.

    import wordline

    r = wordline.run("d4", trace="disk.csv.gz", overrides={"ftl.gc.victim": "fifo"})
    r.summary["latency"]["read"]["p99_us"]      # every number of summary.json
    r.requests.polars()                         # a row per request, times in picoseconds
    r.report("out.html")                        # the report, one self-contained file

Latencies in the summary are in microseconds, times in the tables carry their unit in the
column's name. The same device, trace, seed and version give the same digest on any machine.
"""

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wordline import config
    from wordline._wordline import WordlineError
    from wordline.cache import CacheProgress, CacheResult, CacheSummary, cache
    from wordline.calibrate import Calibration, CalibrationSummary, calibrate
    from wordline.catalogue import Metric, Policy, Preset, metrics, policies, presets
    from wordline.comparison import Comparison, compare
    from wordline.lab import LabInterrupted, lab
    from wordline.lab.results import Lab
    from wordline.mrc import MrcResult, MrcSummary, mrc
    from wordline.package import Package, package
    from wordline.plan_cache import PlanResult, PlanSummary, plan_cache
    from wordline.policy import PolicyClass, PolicyError, Replacement, View
    from wordline.progress import Progress
    from wordline.result import Result, Table
    from wordline.search import Search, SearchInterrupted, search
    from wordline.simulation import Interrupted, RunError, run
    from wordline.stat import TraceStat
    from wordline.state import preparation, prepare, resume
    from wordline.summary import Summary
    from wordline.sweep import Sweep, SweepInterrupted, sweep, sweep_plan
    from wordline.traces import TraceFormat, trace_convert, trace_formats, trace_stat

    __version__: str

# By module, the names that are imported when they are first used.
_NAMES = {
    "_wordline": ("WordlineError",),
    "cache": ("CacheProgress", "CacheResult", "CacheSummary", "cache"),
    "calibrate": ("Calibration", "CalibrationSummary", "calibrate"),
    "catalogue": ("Metric", "Policy", "Preset", "metrics", "policies", "presets"),
    "comparison": ("Comparison", "compare"),
    "lab": ("LabInterrupted", "lab"),
    "lab.results": ("Lab",),
    "mrc": ("MrcResult", "MrcSummary", "mrc"),
    "package": ("Package", "package"),
    "plan_cache": ("PlanResult", "PlanSummary", "plan_cache"),
    "policy": ("PolicyClass", "PolicyError", "Replacement", "View"),
    "progress": ("Progress",),
    "result": ("Result", "Table"),
    "search": ("Search", "SearchInterrupted", "search"),
    "simulation": ("Interrupted", "RunError", "run"),
    "stat": ("TraceStat",),
    "state": ("preparation", "prepare", "resume"),
    "summary": ("Summary",),
    "sweep": ("Sweep", "SweepInterrupted", "sweep", "sweep_plan"),
    "traces": ("TraceFormat", "trace_convert", "trace_formats", "trace_stat"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # a name that is in no module is a fault to who checks types

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("wordline")
        if name != "config" and name not in _MODULES:
            raise AttributeError(f"module 'wordline' has no attribute {name!r}")
        from importlib import import_module

        module = import_module(f"wordline.{_MODULES.get(name, name)}")
        found = module if name == "config" else getattr(module, name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__")), "__version__"])


FUNCTIONS = ("cache", "calibrate", "lab", "mrc", "package", "plan_cache", "search", "sweep")


class _Package(ModuleType):
    """The import of a module puts it into its package under its own name. Those of `FUNCTIONS` are
    the functions of these modules."""

    def __setattr__(self, name: str, value: object) -> None:
        function = name in FUNCTIONS and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if function else value)


sys.modules[__name__].__class__ = _Package

__all__ = [
    "CacheProgress",
    "CacheResult",
    "CacheSummary",
    "Calibration",
    "CalibrationSummary",
    "Comparison",
    "Interrupted",
    "Lab",
    "LabInterrupted",
    "Metric",
    "MrcResult",
    "MrcSummary",
    "Package",
    "PlanResult",
    "PlanSummary",
    "Policy",
    "PolicyClass",
    "PolicyError",
    "Preset",
    "Progress",
    "Replacement",
    "Result",
    "RunError",
    "Search",
    "SearchInterrupted",
    "Summary",
    "Sweep",
    "SweepInterrupted",
    "Table",
    "TraceFormat",
    "TraceStat",
    "View",
    "WordlineError",
    "cache",
    "calibrate",
    "compare",
    "config",
    "lab",
    "metrics",
    "mrc",
    "package",
    "plan_cache",
    "policies",
    "preparation",
    "prepare",
    "presets",
    "resume",
    "run",
    "search",
    "sweep",
    "sweep_plan",
    "trace_convert",
    "trace_formats",
    "trace_stat",
]
