"""`wordline cache`, `wordline mrc` and `wordline plan-cache`."""

import json
from pathlib import Path
from typing import Any

import click

import wordline
from wordline._api.options import PAGES, SET, Options, flag, value
from wordline._caching.cache import SIZES
from wordline._caching.cache_on_flash import DISK
from wordline._caching.mrc import SIZES as CURVE_SIZES
from wordline._caching.plan_cache import DISK as PLAN_DISK
from wordline._caching.plan_cache import FLASH as PLAN_FLASH
from wordline._caching.plan_cache import LEADING, STEPS
from wordline._caching.plan_cache import SIZES as PLAN_SIZES
from wordline._internal import output_folder
from wordline._internal.arguments import toml_value
from wordline.cli.command import command
from wordline.cli.streams import shows_progress

FLASH: Options = {
    "--flash": value(
        "PRESET|FILE",
        "Run each policy of each size on such a flash device too, in as many blocks as the size "
        "takes, as a read cache in front of a disk: erases, lifetime, latency.",
        of="path",
    ),
    "--disk": value("PRESET", f"The disk behind the flash. [default: {DISK}]"),
    "--set": {
        **SET["--set"],
        "help": "Override a configuration key of the device on flash, such as "
        "cache.suspected_queue=true; repeatable.",
    },
    "--jobs": value("N", "Processes that simulate. [default: one a core]", of=int),
}
CACHE_PAGES: Options = {
    **PAGES,
    "--page-bytes": value(
        "N",
        "Requests are split into pages of N bytes; a part of a page counts as the page. "
        "[default: 4096, or the page of --flash]",
        of=int,
    ),
}
MRC: Options = {
    "--method": value(
        "NAME[,NAME]...",
        "exact (stack distances), shards (a sample of the pages), aet (a model of the "
        "times between requests).",
        "exact",
        name="methods",
    ),
    "--rate": value("R", "SHARDS samples this share of the pages. [default: 0.01]", of=float),
    "--samples": value("N", "SHARDS samples N pages, at a rate that it lowers as needed.", of=int),
    "--sizes": value(
        "SIZE[,SIZE]...",
        "Sizes of the table, as of `wordline cache`. [default: 0.1% to 100% of the pages]",
        ",".join(CURVE_SIZES),
        show_default=False,
    ),
    "--accuracy": flag(
        "Also say how far SHARDS (by rate, and by samples, 8192 if not given) and AET are from "
        "the exact curve, over 20 independent hashes."
    ),
    "--seed": value("N", "Chooses the sampled pages.", 1),
}

PLAN_PAGES: Options = {key: option for key, option in PAGES.items() if key != "--page-bytes"}
PLAN: Options = {
    "--flash": value(
        "PRESET|FILE",
        "The flash: times, pages, endurance, over-provisioning; its size is not used.",
        PLAN_FLASH,
    ),
    "--disk": value("PRESET|FILE", "The disk behind it.", PLAN_DISK),
    "--sizes": value(
        "SIZE[,SIZE]...",
        "Sizes of the flash, over-provisioning included, as of `wordline cache`. "
        "[default: 5% to 100% of the distinct pages]",
        ",".join(PLAN_SIZES),
        show_default=False,
    ),
    "--rate": value("R", "Look at this share of the pages of the trace.", 1.0),
    "--steps": value("N", "Compare divisions in N steps of the flash.", STEPS),
    "--leading": value(
        "N",
        "Play the first N reads and writes on the model of the disk, and simulate them as a check.",
        LEADING,
    ),
    "--no-check": flag("Do not simulate what the models recommend and the disk alone."),
    "--seed": value("N", "Chooses the sampled pages.", 1),
    "--set": {
        **SET["--set"],
        "help": "Override a configuration key of the flash, or one of the disk (disk.…); "
        "repeatable.",
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

    POLICY is a name from `wordline policies buffer.replacement`, with parameters behind colons if
    there are any, or `all`. SIZE is in pages (4096p), in bytes (64MiB, 1GB), or a share of the
    distinct pages of the trace (0.01, 1%). By default: lru, at 0.1%, 1% and 10%.

    No device, no time: requests are split into pages, and each policy runs over them with an empty
    cache. Trims remove pages; flushes are ignored and counted. Traces of keys (keys32le, keys64le,
    oracle-general) are read fastest; a key is a page.

    \b
    Examples:
      wordline cache disk.csv.gz
      wordline cache disk.csv.gz lru,arc,s3-fifo,belady 1%,10%
      wordline cache disk.csv.gz all 64MiB,1GiB --out out/policies
      wordline cache disk.csv.gz lru,arc 10%,50% --flash d4 --disk nearline-7200
      wordline cache keys.bin arc:p=real,arc:p=integer 76327p --format keys64le

    With --flash, the policies also run as read caches merged with the translation layer of that
    device, in front of a disk, with the trace played by its times: hit ratio of reads, blocks
    erased, mean latency and lifetime, for each policy and size.

    With --out, the folder receives {files}. Exit code: 0 done, 2 bad command or input, 130 Ctrl-C,
    143 SIGTERM.
    """
    if out:
        output_folder.check(out, "cache")
    overrides = {key: toml_value(text) for key, text in options.pop("overrides", ())}
    result = wordline.cache(
        trace, policy, size, overrides=overrides, progress=shows_progress(progress), **options
    )
    files = result.write(out) if out else []
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
        return
    from wordline._render.terminal.caches import print_cache

    print_cache(result.summary, files)


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

    It is the share of misses of an LRU cache of any size.

    Reads and writes count alike; trims are left out. SHARDS holds no more than its sample in
    memory, unless other methods are asked for too.

    \b
    Examples:
      wordline mrc disk.csv.gz
      wordline mrc disk.csv.gz --method exact,shards,aet --out out/curve
      wordline mrc huge.csv.zst --method shards --rate 0.001
      wordline mrc disk.csv.gz --accuracy --sizes 64MiB,1GiB

    With --out, the folder receives {files}. Exit code: 0 done, 2 bad command or input, 130 Ctrl-C,
    143 SIGTERM.
    """
    if out:
        output_folder.check(out, "mrc")
    result = wordline.mrc(trace, methods, progress=shows_progress(progress), **options)
    files = result.write(out) if out else []
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
        return
    from wordline._render.terminal.caches import print_mrc

    print_mrc(result.summary, files)


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

    For each size of the flash: how it would be divided between reads, writes and over-provisioning
    as configured (unified, rw-fcl) and by cost (unified-best, op-fcl, locality-driven), the mean
    latency of a request, and how long the flash would last. Cost models say so of hit curves of
    the trace and of what its first requests cost the disk. Then the first requests are simulated on
    what the models recommend and on the disk alone, and a sentence says what to do.

    \b
    Examples:
      wordline plan-cache disk.csv.gz
      wordline plan-cache disk.csv.gz --flash d4 --disk nearline-7200 --sizes 1GiB,4GiB
      wordline plan-cache disk.csv.gz --set disk.model.average.read_positioning_ms=7.7
      wordline plan-cache huge.csv.zst --rate 0.01 --out out/plan
      wordline plan-cache disk.csv.gz --sizes 1GiB --no-check

    With --out, the folder receives {files}. Exit code: 0 done, 2 bad command or input, 130 Ctrl-C,
    143 SIGTERM.
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
