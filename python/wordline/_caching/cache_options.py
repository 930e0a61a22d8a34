"""Options of `wordline.cache`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict

from wordline._api.trace_input import Align, OnBadLine, TimeOrder, Volumes
from wordline._internal.keywords import Options
from wordline.config import Value


class CacheOptions(Options):
    """Options of cache simulations:

    page_bytes    page size in bytes; requests are split into pages, and part of a page counts as
                  the page. None for the page size of `flash`, or 4096
    max_requests  use only this many requests of the trace; None for all
    format, columns, on_bad_line, time_order, time_gaps, align, volumes
                  as in `wordline.run`, but each volume has its own pages. By default requests keep
                  the order of the file, because the simulation ignores time
    flash         TOML file or preset of a flash device. Each policy and size also runs as a read
                  cache on this device, with the number of blocks that the size needs, in front of
                  a disk
    disk          preset of the disk behind `flash`; None for disk-5ms
    overrides     values of configuration keys of the device, such as cache.suspected_queue
    jobs          processes on this machine; None for one per core
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
    """The options as keywords, which type checkers cannot derive from the class."""

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
