"""How much flash in front of a disk, divided how, and what it would cost: from a trace, by cost
models, which a short simulation checks.

r = wordline.plan_cache("disk.csv.gz", flash="d4", disk="disk-average")
r.advice["sentence"]
r.best["policy"], r.best["request_us"]
r.table.polars()
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypedDict, cast

from wordline import _wordline, config
from wordline._api.result import Table
from wordline._api.trace_input import (
    Align,
    OnBadLine,
    TimeOrder,
    Traces,
    Volumes,
    paths,
    trace_options,
)
from wordline._caching.cache import (
    CacheInput,
    CacheProgress,
    OfTrace,
    Size,
    heard,
    reading_options,
    size_texts,
)
from wordline._caching.plan_check import PlanAdvice, PlanCheck, Tiers, advice, recommended
from wordline._caching.plan_check import check as simulated
from wordline._internal import output_folder, own_version
from wordline._internal.arguments import flag, share, whole
from wordline._render.units import many
from wordline._wordline import WordlineError
from wordline.config import Value

FLASH, DISK = "opfcl-small", "disk-average"
SIZES = ("5%", "10%", "20%", "50%", "100%")
STEPS, FEWEST_STEPS, MOST_STEPS = 100, 4, 400
LEADING, MOST_LEADING = 100_000, 10_000_000


class PlanFlash(TypedDict):
    """The flash, but for its size. Times are those of an idle device, with the bus, in the mean of
    a block's pages; `free_ratio` is the share of the pages that collections keep free or that are
    block summaries. `group_pages` are destaged together; `durable_destages` says whether they have
    to be on the platters, not in the disk's write cache."""

    name: str
    page_bytes: int
    pages_per_block: int
    over_provisioning_ratio: float
    free_ratio: float
    read_us: float
    program_us: float
    copy_us: float
    erase_us: float
    endurance_cycles: int
    dies: int
    group_pages: int
    durable_destages: bool


class PlanDisk(TypedDict):
    """What a page takes on the idle disk at a random place. `found_by` is "keys" where the model
    has no positions, and "random-accesses", the mean of 4,096 all over the disk, where it has an
    arm."""

    name: str
    read_us: float
    write_us: float
    found_by: str


class PlanAnswer(TypedDict):
    """How a policy of `cache.partition` would divide the flash, and what that would cost;
    "unified-best" is one list of the size that costs least.

    `read_pages` is None where reads and writes share a list. `page_us` is the mean cost of a page
    in the formula by which the flash is divided; `request_us` is the expected mean latency of a
    request, `read_request_us` and `write_request_us` that of reads and of writes, from a replay of
    the leading requests. `erases` are those of the trace's time, `lifetime_years` and
    `written_bytes_per_day` None where it has no times.
    """

    policy: str
    flash_pages: int
    read_pages: int | None
    write_pages: int
    over_provisioning_ratio: float
    page_us: float
    request_us: float
    read_request_us: float | None
    write_request_us: float | None
    read_hit_ratio: float | None
    write_hit_ratio: float | None
    programs_per_page: float
    victim_utilisation: float
    write_amplification: float
    written_bytes_per_day: float | None
    erases: float
    lifetime_years: float | None


class PlanMap(TypedDict):
    """The cost of a page of op-fcl, a row for each share of reads in the cache and a column for
    each cached share of the flash; and that of one list, and of a write cache, by the cached
    share."""

    utilisations: list[float]
    read_ratios: list[float]
    page_us: list[list[float]]
    unified_us: list[float]
    locality_us: list[float]


class PlanSize(TypedDict):
    """The answers at a size of the flash, over-provisioning included. `asked` says how the size was
    asked for; in whole blocks it may be more. `disk_read_us` and `disk_write_us` are what a page
    that is missed, and one that is destaged, takes on the disk, in the mean of a replay with one
    list."""

    flash_pages: int
    flash_bytes: int
    footprint_ratio: float
    asked: list[str]
    disk_read_us: float
    disk_write_us: float
    answers: list[PlanAnswer]
    map: PlanMap


class PlanReplay(TypedDict):
    """The leading requests of the trace, which were played on the model of the disk."""

    requests: int
    pages: int
    timed: bool
    volumes: int


class PlanDiskOnly(TypedDict):
    """The mean latency of the leading requests on the disk without flash: of all, of reads, of
    writes; None of what there were none of."""

    request_us: float | None
    read_us: float | None
    write_us: float | None


class PlanSummary(TypedDict):
    """The content of summary.json. `kind` is "plan-cache"; `disk_only_us` is the cost of a page
    without flash. `replay` is None of a trace of keys; `check` if no simulation was asked for."""

    kind: str
    version: str
    input: CacheInput
    flash: PlanFlash
    disk: PlanDisk
    seconds: float | None
    rate: float
    steps: int
    replay: PlanReplay | None
    disk_only_us: float
    disk_only: PlanDiskOnly
    sizes: list[PlanSize]
    notes: list[str]
    check: PlanCheck | None
    advice: PlanAdvice


class PlanResult(OfTrace):
    """A plan of flash in front of a disk."""

    COMMAND = "plan-cache"
    NAME = "plan"

    def __init__(self, summary: PlanSummary, table: _wordline.Table) -> None:
        super().__init__(table)
        self.summary = summary

    @property
    def sizes(self) -> list[PlanSize]:
        """The answers by size of the flash, ascending."""
        return self.summary["sizes"]

    @property
    def best(self) -> PlanAnswer:
        """The answer that the models recommend: of those whose expected latency is within 5 % of
        the least, that of the smallest flash."""
        return recommended(self.summary)[1]

    @property
    def advice(self) -> PlanAdvice:
        """What to do, in a sentence, by the simulations if there were any."""
        return self.summary["advice"]

    @property
    def check(self) -> PlanCheck | None:
        """The simulations that the plan was held against."""
        return self.summary["check"]

    @cached_property
    def table(self) -> Table:
        """The answers as a table: a row each."""
        return self._rows()

    def _content(self) -> PlanSummary:
        return self.summary

    def _page(self) -> str:
        from wordline._render.plan_page import plan_page

        return plan_page(self.summary)

    def __repr__(self) -> str:
        return f"<wordline.PlanResult {many(len(self.sizes), 'size')}: {self.advice['sentence']}>"

    def _repr_html_(self) -> str:
        from wordline._render.notebook import plan_html

        return plan_html(self.summary)


def plan_cache(
    trace: Traces,
    flash: str | os.PathLike[str] = FLASH,
    disk: str | os.PathLike[str] = DISK,
    *,
    sizes: Size | Sequence[Size] = SIZES,
    rate: float = 1.0,
    seed: int = 1,
    steps: int = STEPS,
    check: bool = True,
    leading: int = LEADING,
    overrides: Mapping[str, Value] | None = None,
    max_requests: int | None = None,
    format: str | None = None,
    columns: str | None = None,
    on_bad_line: OnBadLine = "error",
    time_order: TimeOrder = "file",
    time_gaps: str = "keep",
    align: Align = "keep",
    volumes: Volumes = "shared",
    progress: bool | Callable[[CacheProgress], None] = False,
    out: str | os.PathLike[str] | None = None,
) -> PlanResult:
    """Plans flash in front of a disk for a trace: for each size, how each policy of
    `cache.partition` would divide it between reads, writes and over-provisioning, how long a
    request would take, and how long the flash would last. Cost models say so of hit curves of the
    trace and of what its leading requests cost the disk; a short simulation checks them.

        r = wordline.plan_cache("disk.csv.gz", "d4", "nearline-7200", sizes=["1GiB", "10%"])

    trace         path, or paths played one after the other
    flash         a TOML file or a preset of a flash device: times, pages, endurance, the share of
                  over-provisioning; its size is not used
    disk          a TOML file or a preset of a disk
    sizes         of the flash, all its pages, over-provisioning included, as of `wordline.cache`;
                  in whole blocks. A share of the distinct pages is 64 blocks at least; pages or
                  bytes that are fewer are refused
    rate          look at this share of the pages of the trace, chosen by hash
    seed          chooses them, 0 to 2**64 - 1
    steps         number of steps in which the whole flash is divided to compare divisions, 4 to 400
    check         also simulate the leading requests on what the models recommend and on the disk
                  alone, and recommend by that
    leading       number of reads and writes at the beginning of the trace that are replayed on the
                  model of the disk and simulated; fewer, if they ask for more than 1,048,576 pages
    overrides     values of configuration keys; those that begin with `disk.` are of the disk
    max_requests, format, columns, on_bad_line, time_order, align, volumes, progress, out
                  as of `wordline.cache`

    Requests are split into pages of the flash. Trims remove pages; flushes are ignored. The GIL is
    released meanwhile; Ctrl-C ends it.

    Raises WordlineError, or KeyboardInterrupt, and leaves nothing then.
    """
    wanted = size_texts(sizes)
    if not wanted:
        raise WordlineError("no size is given; give one, such as 64MiB, 4096p or 10%")
    options: dict[str, object] = {
        "sizes": wanted,
        "rate": share("rate", rate),
        "seed": whole("seed", seed, 0),
        "steps": whole("steps", steps, FEWEST_STEPS, MOST_STEPS),
    }
    is_checked = flag("check", check)
    devices = _named(flash, disk, overrides or {})
    page_bytes = _wordline.plan_check(*devices, wanted)
    reading = reading_options(page_bytes, max_requests)
    reading["leading"] = whole("leading", leading, 1, MOST_LEADING)
    reading |= trace_options(
        format, on_bad_line, time_order, align, volumes, columns=columns, time_gaps=time_gaps
    )
    if out is not None:
        output_folder.check(out, "plan-cache")
    with heard(progress) as tell:
        taken = _wordline.cache_open(paths(trace), reading, tell)
        plan = _wordline.plan_open(taken, *devices, options, tell)
        summary = _summary(json.loads(plan.summary_json()))
        if is_checked:
            tiers = partial(Tiers, *devices)
            summary["check"] = simulated(summary, tiers, paths(trace), _playing(reading), tell)
    summary["advice"] = advice(summary, summary["check"])
    result = PlanResult(summary, plan.table())
    if out is not None:
        result.write(out)
    return result


def _playing(reading: Mapping[str, object]) -> dict[str, Any]:
    """The options of `wordline.run` for a trace that is read so. An open loop needs times in order,
    and whole sectors."""
    names = ("format", "columns", "on_bad_line", "time_order", "time_gaps", "align", "volumes")
    playing = {name: reading[name] for name in names}
    if playing["time_order"] == "file":
        playing["time_order"] = "clamp"
    if playing["align"] == "keep":
        playing["align"] = "expand"
    return playing


Named = tuple[str, str, list[tuple[str, str]]]


def _named(
    flash: str | os.PathLike[str], disk: str | os.PathLike[str], overrides: Mapping[str, Value]
) -> tuple[Named, Named]:
    """The flash and the disk: name, text and overrides of each."""
    settings = config.settings(overrides)
    of_disk = [(key, text) for key, text in settings if key.split(".")[0] == "disk"]
    of_flash = [(key, text) for key, text in settings if key.split(".")[0] != "disk"]
    flash_text, flash_name = config.read(flash)
    disk_text, disk_name = config.read(disk)
    return (flash_name, flash_text, of_flash), (disk_name, disk_text, of_disk)


def _summary(told: dict[str, object]) -> PlanSummary:
    own = {"kind": "plan-cache", "version": own_version.installed(), "check": None}
    return cast("PlanSummary", own | told)
