"""The options of `wordline.cache`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict

from wordline._api.trace_input import Align, OnBadLine, TimeOrder, Volumes
from wordline._internal.keywords import Options
from wordline.config import Value


class CacheOptions(Options):
    """Options of runs of caches:

    page_bytes    requests are split into pages of this size, 4096 bytes or those of `flash` if not
                  given; a part of a page counts as the page
    max_requests  take so many requests of the trace and no more
    format, columns, on_bad_line, time_order, time_gaps, align, volumes
                  as of `wordline.run`; pages of different volumes are different pages. By default
                  requests keep the order of the file: caches know no time
    flash         a TOML file or a preset of a flash device: each policy of each size also runs as
                  a read cache on such a device, in as many blocks as the size takes, in front of
                  a disk
    disk          the preset of the disk behind `flash`, disk-5ms if not given
    overrides     values of configuration keys of the device, such as cache.suspected_queue
    jobs          processes of this machine that simulate; None for one a core
    """

    page_bytes: int | None = None
    max_requests: int | None = None
    format: str | None = None
    columns: str | None = None
    on_bad_line: OnBadLine = "error"
    time_order: TimeOrder = "file"
    time_gaps: str = "keep"
    align: Align = "keep"
    volumes: Volumes = "shared"
    flash: str | os.PathLike[str] | None = None
    disk: str | None = None
    overrides: Mapping[str, Value] | None = None
    jobs: int | None = None


class CacheKeywords(TypedDict, total=False):
    """The same as keywords, which type checkers cannot derive."""

    page_bytes: int | None
    max_requests: int | None
    format: str | None
    columns: str | None
    on_bad_line: OnBadLine
    time_order: TimeOrder
    time_gaps: str
    align: Align
    volumes: Volumes
    flash: str | os.PathLike[str] | None
    disk: str | None
    overrides: Mapping[str, Value] | None
    jobs: int | None
