"""`wordline cache`, `wordline mrc` and `wordline plan-cache`."""

import json
from pathlib import Path
from typing import Any

import click

import wordline
from wordline._api.options import PAGES, SET, Options, flag, value
from wordline._caching.cache import SIZES
from wordline._caching.cache_on_flash import DISK
from wordline._caching.plan_cache import DISK as PLAN_DISK
from wordline._caching.plan_cache import FLASH as PLAN_FLASH
from wordline._caching.plan_cache import LEADING, STEPS
from wordline._caching.plan_cache import SIZES as PLAN_SIZES
from wordline._internal import output_folder
from wordline._internal.arguments import toml_value
from wordline.cli.analyses import CACHE_PAGES, MRC, run_cache, run_mrc
from wordline.cli.command import command
from wordline.cli.streams import shows_progress

FLASH: Options = {
    "--flash": value(
        "PRESET|FILE",
        "Also run each policy and size as a read cache on this flash device, in front of a "
        "disk, to measure erases, lifetime and latency.",
        of="path",
    ),
    "--disk": value("PRESET", f"Disk behind the flash. [default: {DISK}]"),
    "--set": {
        **SET["--set"],
        "help": "Override a configuration key of the device of --flash, such as "
        "cache.suspected_queue=true; repeatable.",
    },
    "--jobs": value("N", "Number of processes on this machine. [default: one per core]", of=int),
}
PLAN_PAGES: Options = {key: option for key, option in PAGES.items() if key != "--page-bytes"}
PLAN: Options = {
    "--flash": value(
        "PRESET|FILE",
        "Flash device that gives the times, page size, endurance and over-provisioning; its size "
        "is not used.",
        PLAN_FLASH,
    ),
    "--disk": value("PRESET|FILE", "Disk behind the flash.", PLAN_DISK),
    "--sizes": value(
        "SIZE[,SIZE]...",
        "Sizes of the flash, including over-provisioning, as in `wordline cache`. "
        "[default: 5% to 100% of the distinct pages]",
        ",".join(PLAN_SIZES),
        show_default=False,
    ),
    "--rate": value("R", "Share of the trace's pages to sample.", 1.0),
    "--steps": value("N", "Number of steps into which the flash is divided.", STEPS),
    "--leading": value(
        "N",
        "Replay the first N reads and writes on the disk model, and simulate them as a check.",
        LEADING,
    ),
    "--no-check": flag("Do not check the advice by simulation."),
    "--seed": value("N", "Seed of the page sample.", 1),
    "--set": {
        **SET["--set"],
        "help": "Override a configuration key of the flash, or of the disk (disk.…); repeatable.",
    },
}


@command(FLASH, CACHE_PAGES, writes="cache")
@click.argument("trace")
@click.argument("policy", default="lru", metavar="[POLICY[,POLICY]...]")
@click.argument("size", default=",".join(SIZES), metavar="[SIZE[,SIZE]...]")
def cache(
    trace: str,
    policy: str,
    size: str,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Simulate replacement policies over a trace.

    POLICY is a name from `wordline policies buffer.replacement`, with any parameters after colons,
    or `all`. SIZE is in pages (4096p), in bytes (64MiB, 1GB), or a share of the distinct pages of
    the trace (0.01, 1%). The default is lru at 0.1%, 1% and 10%.

    No device and no time is simulated: requests are split into pages, and each policy starts with
    an empty cache. Trims remove pages; flushes are ignored and counted. Traces of keys (keys32le,
    keys64le, oracle-general) are read fastest; each key is a page.

    \b
    Examples:
      wordline cache disk.csv.gz
      wordline cache disk.csv.gz lru,arc,s3-fifo,belady 1%,10%
      wordline cache disk.csv.gz all 64MiB,1GiB --out out/policies
      wordline cache disk.csv.gz lru,arc 10%,50% --flash d4 --disk nearline-7200
      wordline cache keys.bin arc:p=real,arc:p=integer 76327p --format keys64le

    With --flash, each policy and size also runs as a read cache that shares the translation layer
    of that device, in front of a disk, with the trace replayed at its time stamps. This measures
    the read hit ratio, blocks erased, mean latency and lifetime.

    With --out, the folder contains {files}. Exit code: 0 done, 2 invalid command or input, 130
    Ctrl-C, 143 SIGTERM.
    """
    overrides = {key: toml_value(text) for key, text in options.pop("overrides", ())}
    run_cache(trace, policy, size, out, as_json, progress, overrides=overrides, **options)


@command(MRC, PAGES, writes="mrc")
@click.argument("trace")
def mrc(
    trace: str,
    methods: str,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Compute the miss-ratio curve of a trace.

    The curve is the miss ratio of an LRU cache at every size.

    Reads and writes count alike; trims are left out. SHARDS keeps only its sample in memory, unless
    it runs together with other methods.

    \b
    Examples:
      wordline mrc disk.csv.gz
      wordline mrc disk.csv.gz --method exact,shards,aet --out out/curve
      wordline mrc huge.csv.zst --method shards --rate 0.001
      wordline mrc disk.csv.gz --accuracy --sizes 64MiB,1GiB

    With --out, the folder contains {files}. Exit code: 0 done, 2 invalid command or input, 130
    Ctrl-C, 143 SIGTERM.
    """
    run_mrc(trace, methods, out, as_json, progress, **options)


@command(PLAN, PLAN_PAGES, name="plan-cache", writes="plan-cache")
@click.argument("trace")
def plan_cache(
    trace: str,
    flash: str,
    disk: str,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    no_check: bool,
    **options: Any,
) -> None:
    """Size a flash cache for a disk and a trace.

    For each flash size, the command prints how to divide the flash between reads, writes and
    over-provisioning, with the mean latency of a request and the lifetime of the flash.
    Over-provisioning is as configured (unified, rw-fcl) or chosen by cost (unified-best, op-fcl,
    locality-driven). Cost models compute these values from the hit curves of the trace and from the
    disk times of its first requests. Then these requests are simulated on the recommended cache and
    on the disk alone. A sentence above the tables recommends a cache, or the disk alone.

    \b
    Examples:
      wordline plan-cache disk.csv.gz
      wordline plan-cache disk.csv.gz --flash d4 --disk nearline-7200
          --sizes 1GiB,4GiB
      wordline plan-cache disk.csv.gz
          --set disk.model.average.read_positioning_ms=7.7
      wordline plan-cache huge.csv.zst --rate 0.01 --out out/plan
      wordline plan-cache disk.csv.gz --sizes 1GiB --no-check

    With --out, the folder contains {files}. Exit code: 0 done, 2 invalid command or input, 130
    Ctrl-C, 143 SIGTERM.
    """
    if out:
        output_folder.check(out, "plan-cache")
    overrides = {key: toml_value(text) for key, text in options.pop("overrides", ())}
    options |= {"check": not no_check, "overrides": overrides}
    result = wordline.plan_cache(trace, flash, disk, progress=shows_progress(progress), **options)
    files = result.write(out) if out else []
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
        return
    from wordline._render.terminal.caches import print_plan

    print_plan(result.summary, files)
