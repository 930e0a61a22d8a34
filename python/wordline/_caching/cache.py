"""Simulation of replacement policies over a trace, without devices or time.

Annotations name the types of a summary by their module, so that `typing.get_type_hints` can load
it; the analysis does not import it.

r = wordline.cache("disk.csv.gz", "lru,arc", ["1%", "64MiB"])
r.runs[0]["miss_ratio"]
r.table.polars()
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NotRequired, TypeAlias, TypedDict, Unpack, cast

import wordline
from wordline import _wordline
from wordline._api import spelling
from wordline._api.policy import PolicyClass, PolicyError, name_of
from wordline._api.result import Table
from wordline._api.trace_input import Traces, paths, trace_options
from wordline._caching.cache_on_flash import DISK, FlashSide, OnFlash, is_replacement, play
from wordline._caching.cache_options import CacheKeywords, CacheOptions
from wordline._internal import output_folder, own_version
from wordline._internal.arguments import shown, whole
from wordline._internal.keywords import chosen, takes
from wordline._internal.pickling import OneTable
from wordline._render.units import many
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import wordline.summary

Size: TypeAlias = str | int | float
Policy: TypeAlias = str | PolicyClass

SIZES = ("0.1%", "1%", "10%")
LEAST_PAGE, MOST_PAGE = 512, 1 << 30


class CacheProgress(TypedDict):
    """Progress, reported about ten times per second.

    `phase` is "read" while the trace is read, then a policy with its size, "on flash", "exact",
    "aet", "accuracy", "plan" or "check". `fraction` is the completed share of the phase, or of all
    runs, or None if it is unknown.
    """

    phase: str
    requests: int
    fraction: float | None


class CacheInput(TypedDict):
    """Statistics of a trace.

    `requests` counts the reads, writes and trims of the trace. `page_requests` counts the reads and
    writes of single pages, as policies see them. `pages_trimmed` counts pages that had been
    accessed before their trim.
    """

    files: list[wordline.summary.InputFile]
    page_bytes: int
    requests: int
    reads: int
    writes: int
    trims: int
    flushes_ignored: int
    lines_skipped: int
    page_requests: int
    page_reads: int
    page_writes: int
    pages_trimmed: int
    distinct_pages: int
    footprint_bytes: int
    notes: list[str]


class CacheRun(TypedDict):
    """Result of a policy at a size. Counts are requests for pages; a ratio is None without
    requests. `write_backs` counts evictions of pages that were written while cached. `flash` is the
    result of the same cache on flash in front of a disk, if it was run there."""

    policy: str
    size_pages: int
    size_bytes: int
    footprint_ratio: float
    requests: int
    hits: int
    misses: int
    miss_ratio: float
    reads: int
    read_hits: int
    read_miss_ratio: float | None
    writes: int
    write_hits: int
    write_miss_ratio: float | None
    evictions: int
    write_backs: int
    flash: NotRequired[FlashSide]


class OnFlashInput(TypedDict):
    """Flash and disk of the runs on flash, and notes about them."""

    flash: str
    disk: str
    overrides: dict[str, object]
    notes: list[str]


class CacheSummary(TypedDict):
    """Content of summary.json. `kind` is "cache"."""

    kind: str
    version: str
    input: CacheInput
    runs: list[CacheRun]
    on_flash: OnFlashInput | None
    """Devices of the runs on flash; None without such runs."""


class OfTrace(ABC):
    """Result of the analysis of a trace: a summary, a table and an HTML page."""

    # Name of the command, and name of the table.
    COMMAND: ClassVar[str]
    NAME: ClassVar[str]

    def __init__(self, table: _wordline.Table) -> None:
        self._table = OneTable(table)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes an HTML page with a chart, one self-contained file, and returns its path.

        Raises WordlineError if the file cannot be written.
        """
        page = self._page()
        return Path(
            output_folder.write_file(path, lambda part: output_folder.write_text(part, page))
        )

    def write(self, path: str | os.PathLike[str]) -> list[Path]:
        """Writes summary.json, the table as Parquet and report.html into a folder, and returns
        their paths. The folder appears complete or not at all. An earlier result of the same
        command is replaced; a folder with any other content is rejected. Raises WordlineError."""
        writers: dict[str, output_folder.Writer] = {
            "summary.json": lambda part: output_folder.write_text(
                part, json.dumps(self._content(), indent=2) + "\n"
            ),
            f"{self.NAME}.parquet": lambda part: self._table.write_table(self.NAME, part),
            "report.html": lambda part: output_folder.write_text(part, self._page()),
        }
        return [Path(file) for file in output_folder.write(path, writers, self.COMMAND)]

    def _rows(self) -> Table:
        return Table(self._table, self.NAME)

    @abstractmethod
    def _content(self) -> object:
        """Returns the content of summary.json."""

    @abstractmethod
    def _page(self) -> str:
        """Returns the HTML page."""


class CacheResult(OfTrace):
    """Results of policies over a trace."""

    COMMAND = "cache"
    NAME = "cache"

    def __init__(self, summary: CacheSummary, table: _wordline.Table) -> None:
        super().__init__(table)
        self.summary = summary

    @property
    def runs(self) -> list[CacheRun]:
        """One run per policy and size: sizes ascending, policies as they were named."""
        return self.summary["runs"]

    @cached_property
    def table(self) -> Table:
        """The runs as a table. The columns are the keys of a run."""
        return self._rows()

    def _content(self) -> CacheSummary:
        return self.summary

    def _page(self) -> str:
        from wordline._render.miss_ratio_page import cache_page

        return cache_page(self.summary)

    def __repr__(self) -> str:
        told = self.summary["input"]
        return (
            f"<wordline.CacheResult {many(len(self.runs), 'run')} over "
            f"{many(told['page_requests'], 'request')}, "
            f"{many(told['distinct_pages'], 'distinct page')}>"
        )

    def _repr_html_(self) -> str:
        from wordline._render.notebook import cache_html

        return cache_html(self.summary)


@takes(CacheOptions)
def cache(
    trace: Traces,
    policies: Policy | Sequence[Policy] = "lru",
    sizes: Size | Sequence[Size] = SIZES,
    *,
    options: CacheOptions | None = None,
    progress: bool | Callable[[CacheProgress], None] = False,
    out: str | os.PathLike[str] | None = None,
    **keywords: Unpack[CacheKeywords],
) -> CacheResult:
    """Runs replacement policies at several sizes over a trace. Each run starts with an empty cache.

        r = wordline.cache("disk.csv.gz", ["lru", "arc:p=integer"], ["1%", "64MiB"])

    trace         path, or paths to replay one after the other
    policies      a name, several names separated by commas, or a list of names; `wordline policies
                  buffer.replacement` lists them, "all" stands for all. Parameters follow after
                  colons. A list may contain policies written in Python (`wordline.policy`)
    sizes         pages (4096, "4096p"), bytes ("64MiB", "1GB"), or a share of the distinct pages
                  (0.01, "1%"); or a list of them
    options       a `CacheOptions`. Each option is also a keyword, which overrides the object
    progress      True for a bar on standard error, or a function that is called with a
                  CacheProgress
    out           folder for the output files; None to write none (see `CacheResult.write`)

    A trim removes the pages that it covers completely; flushes are counted and ignored. The GIL is
    released while the trace is read and a policy runs. Ctrl-C ends the call.

    Raises WordlineError or KeyboardInterrupt, without results. Raises PolicyError (a WordlineError)
    with the results so far if a policy written in Python fails.
    """
    asked = chosen("cache", CacheOptions, options, keywords)
    listed, wanted = _split(policies), _sizes(sizes)
    device = _device(asked, listed)
    reading = reading_options(_page_bytes(asked, device), asked.max_requests) | _reading(asked)
    reading["keys"] = any(not isinstance(one, str) for one in listed)
    checked = _checked(listed, wanted)
    if out is not None:
        output_folder.check(out, "cache")
    with heard(progress) as tell:
        taken = _wordline.cache_open(paths(trace), reading, tell)
        pages = sorted({taken.size(text) for text in wanted})
        plan = [(policy, size) for size in pages for policy in checked]
        texts, fault = _played(taken, plan, tell)
        runs = [cast("CacheRun", json.loads(run)) for run in texts]
        notes: list[str] = []
        if device and fault is None:
            sides, notes = play(device, trace, cast("Any", runs), _playing(asked), tell)
            for run, side in zip(runs, sides, strict=True):
                if side:
                    run["flash"] = side
    summary: CacheSummary = {
        "kind": "cache",
        "version": own_version.installed(),
        "input": cast("CacheInput", json.loads(taken.input_json())),
        "runs": runs,
        "on_flash": None if device is None else _told(device, asked, notes),
    }
    result = CacheResult(summary, _wordline.cache_table([json.dumps(run) for run in runs]))
    if fault is not None:
        raise PolicyError(fault, result)
    if out is not None:
        result.write(out)
    return result


def _device(asked: CacheOptions, policies: Sequence[Policy]) -> OnFlash | None:
    """Returns the flash device of the runs on flash; None without one. Raises WordlineError."""
    overrides, disk = asked.overrides or {}, asked.disk
    if asked.flash is None:
        if overrides:
            raise WordlineError(
                "overrides: apply to a flash device, and none is given; name one with "
                f"`{spelling.name('flash')}`"
            )
        if disk is not None:
            raise WordlineError(
                f"disk = {disk}: a disk needs a flash device in front; name one with "
                f"`{spelling.name('flash')}`, or leave out `{spelling.name('disk')}`"
            )
        return None
    if said := [key for key in overrides if is_replacement(key)]:
        raise WordlineError(
            f"{said[0]}: set by each compared policy; leave it out, and name the policy to compare"
        )
    if not all(isinstance(one, str) for one in policies):
        raise WordlineError("a policy written in Python cannot run on flash; leave out `flash`")
    return OnFlash(asked.flash, disk or DISK, overrides)


def _page_bytes(asked: CacheOptions, device: OnFlash | None) -> int:
    """Returns the page size in bytes, which is that of the flash. Raises WordlineError."""
    if device and asked.page_bytes not in (None, device.page_bytes):
        raise WordlineError(
            f"page_bytes: {asked.page_bytes} is not the page size of {device.device} ("
            f"{device.page_bytes} bytes); leave {spelling.name('page_bytes')} out"
        )
    if asked.page_bytes is None:
        return device.page_bytes if device else 4096
    return asked.page_bytes


def _reading(asked: CacheOptions) -> dict[str, object]:
    """Checks and returns the options of the trace reader. Raises TypeError or WordlineError."""
    return trace_options(
        asked.format,
        asked.on_bad_line,
        asked.time_order,
        asked.align,
        asked.volumes,
        columns=asked.columns,
        time_gaps=asked.time_gaps,
    )


def _playing(asked: CacheOptions) -> dict[str, Any]:
    """Returns the options of `wordline.run` for the same trace. An open loop replays by time stamp,
    so file order and unaligned requests are not kept."""
    options: dict[str, Any] = {
        "format": asked.format,
        "columns": asked.columns,
        "max_requests": asked.max_requests,
        "jobs": asked.jobs,
        "on_bad_line": asked.on_bad_line,
        "time_order": None if asked.time_order == "file" else asked.time_order,
        "time_gaps": asked.time_gaps,
        "align": "expand" if asked.align == "keep" else asked.align,
        "volumes": asked.volumes,
    }
    return {name: value for name, value in options.items() if value is not None}


def _told(device: OnFlash, asked: CacheOptions, notes: list[str]) -> OnFlashInput:
    return {
        "flash": device.device,
        "disk": device.disk,
        "overrides": dict(asked.overrides or {}),
        "notes": notes,
    }


def _played(
    taken: _wordline.CacheTrace,
    plan: list[tuple[Policy, int]],
    tell: Callable[[dict[str, object]], None] | None,
) -> tuple[list[str], str | None]:
    """Runs the plan up to the first error of a policy. Returns the runs as JSON, and the error if
    there is one."""
    runs: list[str] = []
    for done, (policy, pages) in enumerate(plan):
        if tell:
            name = policy if isinstance(policy, str) else name_of(policy)
            phase = f"{name}, {many(pages, 'page')}"
            tell({"phase": phase, "requests": 0, "fraction": done / len(plan)})
        if isinstance(policy, str):
            runs.append(taken.run(policy, pages))
            continue
        run, fault = _wordline.policy_run(taken, name_of(policy), policy, pages)
        runs.append(run)
        if fault is not None:
            return runs, fault
    return runs, None


def _split(policies: Policy | Sequence[Policy]) -> list[Policy]:
    listed = [policies] if isinstance(policies, str) or callable(policies) else list(policies)
    split: list[Policy] = []
    for one in listed:
        if isinstance(one, str):
            split += [name.strip() for name in one.split(",") if name.strip()]
        elif callable(one):  # pyright: ignore[reportUnnecessaryComparison]
            split.append(one)
        else:
            raise TypeError(f"a policy must be a name or a class, not {shown(one)}")
    if not split:
        raise WordlineError("no policy is named; name a policy, such as lru, or all")
    return split


def _checked(policies: list[Policy], sizes: list[str]) -> list[Policy]:
    """Checks the policies and returns them without duplicates, with `all` expanded."""
    _wordline.cache_check([], sizes)
    checked: list[Policy] = []
    for one in policies:
        named: list[Policy] = (
            list(_wordline.cache_check([one], [])) if isinstance(one, str) else [one]
        )
        checked += [policy for policy in named if policy not in checked]
    return checked


def _sizes(sizes: Size | Sequence[Size]) -> list[str]:
    texts = size_texts(sizes)
    if not texts:
        raise WordlineError("no size is given; give a size, such as 64MiB, 4096p or 1%")
    return texts


def size_texts(sizes: Size | Sequence[Size]) -> list[str]:
    """Converts sizes to strings: integers are pages, other numbers shares of the distinct pages."""
    listed = [sizes] if isinstance(sizes, str | int | float) else list(sizes)
    texts: list[str] = []
    for one in listed:
        if isinstance(one, str):
            texts += [text.strip() for text in one.split(",") if text.strip()]
        elif isinstance(one, bool) or not isinstance(one, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a size must be a string or a number, not {shown(one)}")
        else:
            texts.append(f"{one}p" if isinstance(one, int) else f"{one:.17f}")
    return texts


def reading_options(page_bytes: int, max_requests: int | None) -> dict[str, object]:
    """Checks and returns the options for splitting requests into pages. Raises TypeError or
    WordlineError."""
    most = None if max_requests is None else whole("max_requests", max_requests, 1)
    return {
        "page_bytes": whole("page_bytes", page_bytes, LEAST_PAGE, MOST_PAGE),
        "max_requests": most,
    }


class heard:  # noqa: N801
    """Context with the progress callback: None, a bar on standard error, or a function."""

    def __init__(self, progress: bool | Callable[[CacheProgress], None]) -> None:
        if not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress must be True, False or a function, not {shown(progress)}")
        self._bar = None
        self._tell = None if isinstance(progress, bool) else progress
        if progress is True:
            from wordline._render.terminal.progress import TraceBar

            self._bar = TraceBar()
            self._tell = self._bar.show

    def __enter__(self) -> Callable[[dict[str, object]], None] | None:
        tell = self._tell
        if self._bar:
            self._bar.__enter__()
        return tell and (lambda state: tell(cast("CacheProgress", state)))

    def __exit__(self, *fault: object) -> None:
        if self._bar:
            self._bar.__exit__(None, None, None)
