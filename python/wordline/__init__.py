"""Wordline simulates solid-state disks: NAND flash, the flash translation layer and the host link.

    r = wordline.run("d4", trace="disk.csv.gz", overrides={"ftl.gc.victim": "fifo"})
    r.summary["latency"]["read"]["p99_us"]      # every number of summary.json
    r.requests.polars()                         # one row per request, times in picoseconds
    r.report("out.html")                        # the report, one self-contained file

Latencies in the summary are in microseconds. Column names of the tables carry the unit of their
times. The same device, trace, seed and version give the same digest on any machine.
"""

# `typing.TYPE_CHECKING` is not imported: importing `typing` adds 10 ms to the 38 ms of CPU time
# that `wordline run` takes to start (CPython 3.11, minimum of 25 processes). Each module that a
# run loads defines its own constant; other modules import it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from wordline import config
    from wordline._api.catalogue import (
        Metric,
        Policy,
        Preset,
        TraceFormat,
        metrics,
        policies,
        presets,
        trace_formats,
    )
    from wordline._api.comparison import Comparison
    from wordline._api.control import control
    from wordline._api.live import LiveDevice, serve
    from wordline._api.package import Package, package
    from wordline._api.policy import PolicyClass, PolicyError, Replacement, View
    from wordline._api.progress import Progress
    from wordline._api.result import Result, Table
    from wordline._api.run_options import RunOptions
    from wordline._api.simulation import Interrupted, RunError, resume, run
    from wordline._api.state import preparation, prepare
    from wordline._api.trace_stat import TraceStat
    from wordline._api.traces import trace_convert, trace_stat
    from wordline._caching.cache import CacheProgress, CacheResult, CacheSummary, cache
    from wordline._caching.cache_options import CacheOptions
    from wordline._caching.mrc import MrcResult, MrcSummary, mrc
    from wordline._caching.plan_cache import PlanResult, PlanSummary, plan_cache
    from wordline._calibration.calibrate import Calibration, CalibrationSummary, calibrate
    from wordline._lab import LabInterrupted, lab
    from wordline._lab.results import Lab
    from wordline._search import Search, SearchInterrupted, search
    from wordline._sweep import SweepInterrupted, sweep, sweep_plan
    from wordline._sweep.compared import compare
    from wordline._sweep.results import Sweep
    from wordline._wordline import WordlineError
    from wordline.summary import Summary

    __version__: str

# Names that are imported on first use, by module.
_NAMES = {
    "_wordline": ("WordlineError",),
    "_api.catalogue": (
        "Metric",
        "Policy",
        "Preset",
        "TraceFormat",
        "metrics",
        "policies",
        "presets",
        "trace_formats",
    ),
    "_api.comparison": ("Comparison",),
    "_api.control": ("control",),
    "_api.live": ("LiveDevice", "serve"),
    "_api.package": ("Package", "package"),
    "_api.policy": ("PolicyClass", "PolicyError", "Replacement", "View"),
    "_api.progress": ("Progress",),
    "_api.result": ("Result", "Table"),
    "_api.run_options": ("RunOptions",),
    "_api.simulation": ("Interrupted", "RunError", "resume", "run"),
    "_api.state": ("preparation", "prepare"),
    "_api.trace_stat": ("TraceStat",),
    "_api.traces": ("trace_convert", "trace_stat"),
    "_caching.cache": ("CacheProgress", "CacheResult", "CacheSummary", "cache"),
    "_caching.cache_options": ("CacheOptions",),
    "_caching.mrc": ("MrcResult", "MrcSummary", "mrc"),
    "_caching.plan_cache": ("PlanResult", "PlanSummary", "plan_cache"),
    "_calibration.calibrate": ("Calibration", "CalibrationSummary", "calibrate"),
    "_lab": ("LabInterrupted", "lab"),
    "_lab.results": ("Lab",),
    "_search": ("Search", "SearchInterrupted", "search"),
    "_sweep": ("SweepInterrupted", "sweep", "sweep_plan"),
    "_sweep.compared": ("compare",),
    "_sweep.results": ("Sweep",),
    "summary": ("Summary",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
# Modules that are imported on first use.
_PUBLIC_MODULES = ("config", "summary")


if not TYPE_CHECKING:  # Type checkers must report unknown names.

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "__version__":
            return import_module("wordline._internal.own_version").installed()
        if name not in _PUBLIC_MODULES and name not in _MODULES:
            raise AttributeError(f"module 'wordline' has no attribute {name!r}")
        module = import_module(f"wordline.{_MODULES.get(name, name)}")
        found = module if name in _PUBLIC_MODULES else getattr(module, name)
        import_module("wordline._internal.keywords").sign(found)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__")), "__version__"])


__all__ = [
    "CacheOptions",
    "CacheProgress",
    "CacheResult",
    "CacheSummary",
    "Calibration",
    "CalibrationSummary",
    "Comparison",
    "Interrupted",
    "Lab",
    "LabInterrupted",
    "LiveDevice",
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
    "RunOptions",
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
    "control",
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
    "serve",
    "sweep",
    "sweep_plan",
    "trace_convert",
    "trace_formats",
    "trace_stat",
]
