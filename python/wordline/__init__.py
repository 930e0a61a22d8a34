"""Wordline simulates solid-state disks: NAND flash, the FTL above it and the queue in front.

    import wordline

    r = wordline.run("d4", trace="disk.csv.gz", overrides={"ftl.gc.victim": "fifo"})
    r.summary["latency"]["read"]["p99_us"]      # every number of summary.json
    r.requests.polars()                         # a row per request, times in picoseconds
    r.report("out.html")                        # the report, one self-contained file

Latencies in the summary are in microseconds, times in the tables carry their unit in the
column's name. The same device, trace, seed and version give the same digest on any machine.
"""

from wordline import config
from wordline._wordline import WordlineError
from wordline.cache import CacheProgress, CacheResult, CacheSummary, cache
from wordline.catalogue import Metric, Policy, Preset, metrics, policies, presets
from wordline.mrc import MrcResult, MrcSummary, mrc
from wordline.package import Package, package
from wordline.policy import PolicyClass, PolicyError, Replacement, View
from wordline.result import Result, Table
from wordline.simulation import Interrupted, Progress, RunError, run
from wordline.stat import TraceStat
from wordline.summary import Summary
from wordline.traces import TraceFormat, trace_convert, trace_formats, trace_stat


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("wordline")
    raise AttributeError(f"module 'wordline' has no attribute {name!r}")


__all__ = [
    "CacheProgress",
    "CacheResult",
    "CacheSummary",
    "Interrupted",
    "Metric",
    "MrcResult",
    "MrcSummary",
    "Package",
    "Policy",
    "PolicyClass",
    "PolicyError",
    "Preset",
    "Progress",
    "Replacement",
    "Result",
    "RunError",
    "Summary",
    "Table",
    "TraceFormat",
    "TraceStat",
    "View",
    "WordlineError",
    "cache",
    "config",
    "metrics",
    "mrc",
    "package",
    "policies",
    "presets",
    "run",
    "trace_convert",
    "trace_formats",
    "trace_stat",
]
