"""Miss-ratio curves of traces: what an LRU cache of any size would miss.

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
    """A corner of a curve."""

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
    """A curve: `sizes` are those asked for, `points` its corners; between two of them it is
    straight where sizes are drawn by their logarithm, within 0.0005. `distinct_pages` is an
    estimate where pages were sampled; `sampled_pages` were looked at at the end, and take
    `sample_bytes`."""

    method: str
    distinct_pages: int
    sampled_pages: int | None
    sample_bytes: int | None
    sizes: list[MrcSize]
    points: list[MrcPoint]


class MrcAccuracy(TypedDict):
    """How far the estimates of a method are from the exact curve, over all sizes from 1 page to
    the footprint: the mean absolute difference of the miss ratios over independent hashes and half
    of its 95 % confidence interval, the mean difference, and the largest at any size. A method
    without hashes has no interval."""

    method: str
    hashes: int
    error_mean: float
    error_half_width: float | None
    bias_mean: float
    bias_half_width: float | None
    error_max: float


class MrcSummary(TypedDict):
    """The content of summary.json. `kind` is "mrc"."""

    kind: str
    version: str
    input: CacheInput
    curves: list[MrcCurve]
    accuracy: list[MrcAccuracy]


class MrcResult(OfTrace):
    """The miss-ratio curves of a trace."""

    COMMAND = "mrc"
    NAME = "curve"

    def __init__(self, summary: MrcSummary, table: _wordline.Table) -> None:
        super().__init__(table)
        self.summary = summary

    @property
    def curves(self) -> list[MrcCurve]:
        """A curve for each method."""
        return self.summary["curves"]

    @property
    def accuracy(self) -> list[MrcAccuracy]:
        """The errors of the estimates, if asked for."""
        return self.summary["accuracy"]

    @cached_property
    def table(self) -> Table:
        """The corners of all curves: method, size_pages, miss_ratio."""
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
    """Finds the miss-ratio curve of a trace: the share of its requests for pages that an LRU cache
    misses, for every size at once. Reads and writes count alike; trims are left out.

        r = wordline.mrc("disk.csv.gz", ["exact", "shards"], rate=0.001)

    trace         path, or paths played one after the other
    methods       "exact" (stack distances), "shards" (a sample of the pages), "aet" (a model of
                  the times between requests); several with commas between, or a list
    rate          SHARDS looks at this share of the pages; None for 0.01, unless `samples` is given
    samples       SHARDS looks at so many pages, by a share that it lowers as needed; with `rate`
                  both are found
    sizes         to tell the miss ratio of, as of `wordline.cache`
    accuracy      also find how far SHARDS (by rate, and with samples, 8192 if not given) and AET
                  are from the exact curve, over 20 independent hashes
    seed          chooses the sampled pages, 0 to 2**64 - 1
    page_bytes, max_requests, format, columns, on_bad_line, time_order, align, volumes, progress,
    out
                  as of `wordline.cache`

    SHARDS alone never holds more than its sample in memory. The GIL is released meanwhile; Ctrl-C
    ends it.

    Raises WordlineError, or KeyboardInterrupt, and leaves nothing then.
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
        raise WordlineError(f"no method is named; name one of {', '.join(METHODS)}")
    sampled = "shards" in names or accuracy
    for option, value in (("rate", rate), ("samples", samples)):
        if value is not None and not sampled:
            raise WordlineError(
                f"{option} is for the method shards, which is not asked for; add it to the methods"
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
