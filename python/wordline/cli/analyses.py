"""`wordline cache` and `wordline mrc`, and their options that need no click."""

from __future__ import annotations

import sys

from wordline._api.options import PAGES, Options, flag, flags, value
from wordline._caching.cache import SIZES
from wordline._caching.mrc import SIZES as CURVE_SIZES
from wordline._internal import output_folder
from wordline.cli import argv, streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

CACHE_PAGES: Options = {
    **PAGES,
    "--page-bytes": value(
        "N",
        "Page size in bytes. Requests are split into pages; part of a page counts as the page. "
        "[default: 4096, or the page size of --flash]",
        of=int,
    ),
}
MRC: Options = {
    "--method": value(
        "NAME[,NAME]...",
        "exact (stack distances), shards (a sample of the pages), aet (a model of reuse times).",
        "exact",
        name="methods",
    ),
    "--rate": value("R", "Share of the pages that SHARDS samples. [default: 0.01]", of=float),
    "--samples": value(
        "N", "Number of pages that SHARDS samples, which lowers its rate as needed.", of=int
    ),
    "--sizes": value(
        "SIZE[,SIZE]...",
        "Cache sizes to print, as in `wordline cache`. [default: 0.1% to 100% of the pages]",
        ",".join(CURVE_SIZES),
        show_default=False,
    ),
    "--accuracy": flag(
        "Also measure the errors of SHARDS (by rate, and by samples, 8192 if not given) and AET "
        "against the exact curve, over 20 independent hashes."
    ),
    "--seed": value("N", "Seed of the page sample.", 1),
}


def command(args: Sequence[str]) -> Callable[[], object] | None:
    """Returns the work of a command line; None if it is another command or needs click."""
    name, *rest = args
    table = {"cache": CACHE_PAGES, "mrc": {**MRC, **PAGES}}[name]
    read = argv.arguments(rest, table)
    if read is None:
        return None
    words, given = read
    if not 1 <= len(words) <= (3 if name == "cache" else 1):
        return None
    quiet, as_json = given.pop("quiet", False), given.pop("as_json", False)
    work = run_cache if name == "cache" else run_mrc

    def run() -> None:
        from wordline._api import spelling

        with spelling.of_command(flags(table)), streams.hushed(quiet, keep=as_json):
            work(*words, as_json=as_json, **given)

    return run


def run_cache(
    trace: str,
    policies: str = "lru",
    sizes: str = ",".join(SIZES),
    out: str | os.PathLike[str] | None = None,
    as_json: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> None:
    """Simulates policies over a trace and prints the results."""
    from wordline._caching.cache import cache

    if out:
        output_folder.check(out, "cache")
    shown = streams.shows_progress(progress)
    result = cache(trace, policies, sizes, progress=shown, **options)
    files = result.write(out) if out else []
    if as_json:
        _print_json(result.summary)
        return
    from wordline._render.terminal.caches import print_cache

    print_cache(result.summary, files)


def run_mrc(
    trace: str,
    methods: str = "exact",
    out: str | os.PathLike[str] | None = None,
    as_json: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> None:
    """Computes the miss-ratio curve of a trace and prints it."""
    from wordline._caching.mrc import mrc

    if out:
        output_folder.check(out, "mrc")
    result = mrc(trace, methods, progress=streams.shows_progress(progress), **options)
    files = result.write(out) if out else []
    if as_json:
        _print_json(result.summary)
        return
    from wordline._render.terminal.caches import print_mrc

    print_mrc(result.summary, files)


def _print_json(summary: Mapping[str, Any]) -> None:
    import json

    sys.stdout.write(json.dumps(summary, indent=2) + "\n")
