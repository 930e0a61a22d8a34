"""Sizing of a flash cache for a disk and a trace. Cost models compare the divisions of the flash; a
short simulation checks them.

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
    """The flash, except its size. Times are those of an idle device including the bus, averaged
    over the pages of a block. `free_ratio` is the share of the pages that garbage collection keeps
    free or that hold block summaries. `group_pages` pages are destaged together; `durable_destages`
    is whether they must be on the platters rather than in the disk's write cache."""

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
    """Time per page at a random position of the idle disk. `found_by` is "keys" for a disk model
    without positions, and "random-accesses" for one with an arm: the mean of 4,096 accesses over
    the whole disk."""

    name: str
    read_us: float
    write_us: float
    found_by: str


class PlanAnswer(TypedDict):
    """Division of the flash by a policy of `cache.partition`, and its expected cost. "unified-best"
    is a single list of the cheapest size.

    `read_pages` is None if reads and writes share a list. `page_us` is the mean cost of a page in
    the formula that divides the flash. `request_us` is the expected mean latency of a request, and
    `read_request_us` and `write_request_us` those of reads and of writes, from a replay of the
    leading requests. `erases` covers the duration of the trace. `lifetime_years` and
    `written_bytes_per_day` are None for a trace without time stamps.
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
    """Mean cost of a page access by the cached share of the flash (`utilisations`). Microseconds.
    `page_us` is the cost with two lists in the OP-FCL model: one row per entry of `read_ratios`
    (the read list's share of the cached pages), one column per entry of `utilisations`.
    `unified_us` is the cost with a single list, `locality_us` with a write cache."""

    utilisations: list[float]
    read_ratios: list[float]
    page_us: list[list[float]]
    unified_us: list[float]
    locality_us: list[float]


class PlanSize(TypedDict):
    """Results for a flash size, including over-provisioning. `asked` lists the requested sizes; in
    whole blocks the size can be larger. `disk_read_us` and `disk_write_us` are the mean times on
    the disk of a page that missed and of a destaged page, from a replay with a single list."""

    flash_pages: int
    flash_bytes: int
    footprint_ratio: float
    asked: list[str]
    disk_read_us: float
    disk_write_us: float
    answers: list[PlanAnswer]
    map: PlanMap


class PlanReplay(TypedDict):
    """The leading requests of the trace, which were replayed on the disk model."""

    requests: int
    pages: int
    timed: bool
    volumes: int


class PlanDiskOnly(TypedDict):
    """Mean latency of the leading requests on the disk without flash: of all requests, reads and
    writes; None without such requests."""

    request_us: float | None
    read_us: float | None
    write_us: float | None


class PlanSummary(TypedDict):
    """Content of summary.json. `kind` is "plan-cache". `disk_only_us` is the cost of a page without
    flash. `replay` is None for a trace of keys, `check` if no simulation was requested."""

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
    """Plan of a flash cache for a disk."""

    COMMAND = "plan-cache"
    NAME = "plan"

    def __init__(self, summary: PlanSummary, table: _wordline.Table) -> None:
        super().__init__(table)
        self.summary = summary

    @property
    def sizes(self) -> list[PlanSize]:
        """Results by flash size, ascending."""
        return self.summary["sizes"]

    @property
    def best(self) -> PlanAnswer:
        """Recommendation of the models: the smallest flash among the divisions whose expected
        latency is within 5 % of the minimum."""
        return recommended(self.summary)[1]

    @property
    def advice(self) -> PlanAdvice:
        """Recommendation in a sentence, based on the simulations if there are any."""
        return self.summary["advice"]

    @property
    def check(self) -> PlanCheck | None:
        """Simulations that checked the plan; None if no check was requested."""
        return self.summary["check"]

    @cached_property
    def table(self) -> Table:
        """The divisions as a table, one row each."""
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
    """Sizes a flash cache for a disk and a trace. For each flash size and each policy of
    `cache.partition`, it computes the division of the flash between reads, writes and
    over-provisioning, the latency of a request, and the lifetime of the flash. Cost models use the
    hit curves of the trace and the disk times of its leading requests; a short simulation checks
    them.

        r = wordline.plan_cache("disk.csv.gz", "d4", "nearline-7200", sizes=["1GiB", "10%"])

    trace         path, or paths to replay one after the other
    flash         TOML file or preset of a flash device: times, pages, endurance and
                  over-provisioning; its size is not used
    disk          TOML file or preset of a disk
    sizes         flash sizes including over-provisioning, as in `wordline.cache`, in whole blocks.
                  A share of the distinct pages is at least 64 blocks; smaller sizes in pages or
                  bytes are rejected
    rate          share of the trace's pages to use, chosen by hash
    seed          seed of that choice, 0 to 2**64 - 1
    steps         number of steps into which the flash is divided to compare divisions, 4 to 400
    check         also simulate the leading requests on the recommended cache and on the disk
                  alone, and base the recommendation on the simulations
    leading       number of reads and writes at the start of the trace that are replayed on the
                  disk model and simulated; fewer if they access more than 1,048,576 pages
    overrides     values of configuration keys; keys that begin with `disk.` apply to the disk
    max_requests, format, columns, on_bad_line, time_order, time_gaps, align, volumes, progress,
    out
                  as in `wordline.cache`

    Requests are split into flash pages. Trims remove pages; flushes are ignored. The GIL is
    released during the computation. Ctrl-C ends the call.

    Raises WordlineError or KeyboardInterrupt, without results.
    """
    wanted = size_texts(sizes)
    if not wanted:
        raise WordlineError("no size is given; give a size, such as 64MiB, 4096p or 10%")
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
    """Returns the options of `wordline.run` for a trace read with these options. An open loop needs
    ordered time stamps and whole sectors."""
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
    """Returns name, text and overrides of the flash, and the same of the disk."""
    settings = config.settings(overrides)
    of_disk = [(key, text) for key, text in settings if key.split(".")[0] == "disk"]
    of_flash = [(key, text) for key, text in settings if key.split(".")[0] != "disk"]
    flash_text, flash_name = config.read(flash)
    disk_text, disk_name = config.read(disk)
    return (flash_name, flash_text, of_flash), (disk_name, disk_text, of_disk)


def _summary(told: dict[str, object]) -> PlanSummary:
    own = {"kind": "plan-cache", "version": own_version.installed(), "check": None}
    return cast("PlanSummary", own | told)
