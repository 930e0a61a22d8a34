"""Miss-ratio curves of traces: the miss ratio of an LRU cache at every size.

r = wordline.mrc("disk.csv.gz", methods=["exact", "shards"])
r.curves[0]["sizes"]
r.table.polars()
"""

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypedDict, cast

from wordline import _wordline
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
from wordline._internal import output_folder, own_version
from wordline._internal.arguments import flag, share, shown, whole
from wordline._render.units import many
from wordline._wordline import WordlineError

METHODS = ("exact", "shards", "aet")
SIZES = ("0.1%", "0.3%", "1%", "3%", "10%", "30%", "100%")
RATE, SAMPLES, HASHES = 0.01, 8192, 20


class MrcPoint(TypedDict):
    """A vertex of a curve."""

    size_pages: float
    miss_ratio: float


class MrcSize(TypedDict):
    """The miss ratio at a size."""

    size_pages: int
    size_bytes: int
    footprint_ratio: float
    hits: int
    miss_ratio: float


class MrcCurve(TypedDict):
    """A curve. `sizes` has the requested sizes, `points` the vertices: between two vertices the
    curve is straight over the logarithm of the size, within 0.0005. `distinct_pages` is an estimate
    if pages were sampled. `sampled_pages` is the number of sampled pages at the end, and
    `sample_bytes` the memory that they take."""

    method: str
    distinct_pages: int
    sampled_pages: int | None
    sample_bytes: int | None
    sizes: list[MrcSize]
    points: list[MrcPoint]


class MrcAccuracy(TypedDict):
    """Error of a method against the exact curve, over all sizes from 1 page to the footprint:
    `error_mean` is the mean absolute difference of the miss ratios over independent hashes,
    `bias_mean` the mean difference, each with half of its 95 % confidence interval; `error_max` is
    the largest difference at any size. A method without hashes has no interval."""

    method: str
    hashes: int
    error_mean: float
    error_half_width: float | None
    bias_mean: float
    bias_half_width: float | None
    error_max: float


class MrcSummary(TypedDict):
    """Content of summary.json. `kind` is "mrc"."""

    kind: str
    version: str
    input: CacheInput
    curves: list[MrcCurve]
    accuracy: list[MrcAccuracy]


class MrcResult(OfTrace):
    """Miss-ratio curves of a trace."""

    COMMAND = "mrc"
    NAME = "curve"

    def __init__(self, summary: MrcSummary, table: _wordline.Table) -> None:
        super().__init__(table)
        self.summary = summary

    @property
    def curves(self) -> list[MrcCurve]:
        """One curve per method."""
        return self.summary["curves"]

    @property
    def accuracy(self) -> list[MrcAccuracy]:
        """Errors of the estimates, if they were requested."""
        return self.summary["accuracy"]

    @cached_property
    def table(self) -> Table:
        """Vertices of all curves: method, size_pages, miss_ratio."""
        return self._rows()

    def _content(self) -> MrcSummary:
        return self.summary

    def _page(self) -> str:
        from wordline._render.miss_ratio_page import mrc_page

        return mrc_page(self.summary)

    def __repr__(self) -> str:
        told = self.summary["input"]
        methods = ", ".join(curve["method"] for curve in self.curves)
        return f"<wordline.MrcResult {methods}: {many(told['page_requests'], 'request')}>"

    def _repr_html_(self) -> str:
        from wordline._render.notebook import mrc_html

        return mrc_html(self.summary)


def mrc(
    trace: Traces,
    methods: str | Sequence[str] = "exact",
    *,
    rate: float | None = None,
    samples: int | None = None,
    sizes: Size | Sequence[Size] = SIZES,
    accuracy: bool = False,
    seed: int = 1,
    page_bytes: int = 4096,
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
) -> MrcResult:
    """Computes the miss-ratio curve of a trace: the share of page requests that an LRU cache
    misses, for every size. Reads and writes count alike; trims are left out.

        r = wordline.mrc("disk.csv.gz", ["exact", "shards"], rate=0.001)

    trace         path, or paths to replay one after the other
    methods       "exact" (stack distances), "shards" (a sample of the pages), "aet" (a model of
                  reuse times); several names separated by commas, or a list
    rate          share of the pages that SHARDS samples; None for 0.01, unless `samples` is given
    samples       number of pages that SHARDS samples; it lowers its rate as needed. With `rate`,
                  both variants run
    sizes         sizes at which to report the miss ratio, as in `wordline.cache`
    accuracy      also measure the errors of SHARDS (by rate, and by samples, 8192 if not given)
                  and AET against the exact curve, over 20 independent hashes
    seed          seed of the page sample, 0 to 2**64 - 1
    page_bytes, max_requests, format, columns, on_bad_line, time_order, time_gaps, align, volumes,
    progress, out
                  as in `wordline.cache`

    SHARDS alone never holds more than its sample in memory. The GIL is released during the
    computation. Ctrl-C ends the call.

    Raises WordlineError or KeyboardInterrupt, without results.
    """
    options = _methods(methods, rate, samples, accuracy=flag("accuracy", accuracy))
    options |= reading_options(page_bytes, max_requests)
    options |= trace_options(
        format, on_bad_line, time_order, align, volumes, columns=columns, time_gaps=time_gaps
    )
    options["seed"] = whole("seed", seed, 0)
    options["sizes"] = size_texts(sizes)
    if out is not None:
        output_folder.check(out, "mrc")
    with heard(progress) as tell:
        curves = _wordline.curves_open(paths(trace), options, tell)
    told = json.loads(curves.summary_json())
    result = MrcResult(_summary(told), curves.table())
    if out is not None:
        result.write(out)
    return result


def _summary(told: dict[str, object]) -> MrcSummary:
    return cast("MrcSummary", {"kind": "mrc", "version": own_version.installed(), **told})


def _methods(
    methods: str | Sequence[str], rate: float | None, samples: int | None, *, accuracy: bool
) -> dict[str, object]:
    listed = [methods] if isinstance(methods, str) else list(methods)
    names: list[str] = []
    for one in listed:
        if not isinstance(one, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a method must be a name, not {shown(one)}")
        names += [name.strip() for name in one.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise WordlineError(f"methods: '{name}' is not one of {', '.join(METHODS)}")
    if not names:
        raise WordlineError(f"no method is named; choose from {', '.join(METHODS)}")
    sampled = "shards" in names or accuracy
    for option, value in (("rate", rate), ("samples", samples)):
        if value is not None and not sampled:
            raise WordlineError(
                f"{option}: applies only to the method `shards`; add it to the methods"
            )
    by_rate = rate if rate is not None or (samples is not None and not accuracy) else RATE
    by_count = SAMPLES if samples is None and accuracy else samples
    return {
        "exact": "exact" in names,
        "aet": "aet" in names or accuracy,
        "shards_rate": share("rate", by_rate) if sampled and by_rate is not None else None,
        "shards_pages": (
            whole("samples", by_count, 1, 2**31) if sampled and by_count is not None else None
        ),
        "hashes": HASHES if accuracy else 0,
    }
