"""Type of the statistics of a trace. Units are in the keys; a page is 4 KiB."""

from typing import TypedDict

from wordline.summary import InputFile


class Sizes(TypedDict):
    """Request sizes."""

    mean_bytes: float
    min_bytes: int
    p50_bytes: int
    p90_bytes: int
    p99_bytes: int
    max_bytes: int


class Footprint(TypedDict):
    """Pages touched; a lower bound if not `complete`."""

    complete: bool
    pages_read: int
    pages_written: int
    pages_read_and_written: int
    mib: float
    rewritten_percent: float | None
    overlap_of_read_percent: float | None
    overlap_of_written_percent: float | None


class Sequence(TypedDict):
    """Position of each request relative to the previous request in the same volume."""

    sequential_read_percent: float | None
    sequential_write_percent: float | None
    random_percent: float | None
    mean_run_requests: float | None
    mean_jump_mib: float | None


class GapShare(TypedDict):
    """Share of gaps longer than a limit."""

    percent_of_gaps: float
    percent_of_time: float


class Gaps(TypedDict):
    """Time between the arrivals of reads and writes."""

    mean_ms: float
    p50_ms: float
    p99_ms: float
    max_s: float
    over_100_ms: GapShare
    over_1_s: GapShare
    over_10_s: GapShare


class BackToBack(TypedDict):
    """Pairs of requests without an idle period between them."""

    intervals: int
    percent_of_intervals: float


class Periods(TypedDict):
    """Idle periods of a class; percentiles are None if there are none."""

    intervals: int
    percent_of_intervals: float
    total_s: float
    percent_of_time: float
    p10_ms: float | None
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None


class Idle(TypedDict):
    """Idle periods between requests of any kind and volume. An idle period begins when the pages of
    a request have been executed, which takes the given time per page. A period is long if it
    exceeds the threshold."""

    threshold_s: float
    page_read_us: float
    page_program_us: float
    intervals: int
    back_to_back: BackToBack
    short: Periods
    long: Periods
    longest_s: float


class Reuse(TypedDict):
    """Distinct pages accessed between two uses of a page, in MiB."""

    first_use_percent: float | None
    p10_mib: float | None
    p50_mib: float | None
    p90_mib: float | None
    sampling_rate: float


class Counts(TypedDict):
    """Actions of the trace reader, as counts and as times in milliseconds."""

    records: int
    lines_skipped: int
    lines_ignored: int
    other_volumes: int
    stacked: int
    time_inversions: int
    times_unknown: int
    gaps_changed: int
    gaps_removed_ms: int
    gaps_added_ms: int
    times_clamped: int
    times_sorted: int
    expanded: int
    trims_shrunk: int
    wrapped: int
    split: int
    scaled: int


class TraceStat(TypedDict):
    """Statistics of a trace. `requests` counts reads and writes. A value is None if it cannot be
    measured: the trace has no time stamps, or no requests of the kind."""

    requests: int
    reads: int
    writes: int
    durable_writes: int
    trims: int
    flushes: int
    read_bytes: int
    written_bytes: int
    trimmed_bytes: int
    read_percent: float | None
    duration_s: float | None
    mean_iops: float | None
    highest_address_bytes: int
    volumes: int
    read_size: Sizes | None
    write_size: Sizes | None
    footprint: Footprint
    sequence: Sequence
    unaligned_percent: float | None
    sector_unaligned_percent: float | None
    gaps: Gaps | None
    idle: Idle | None
    reuse: Reuse
    files: list[InputFile]
    notes: list[str]
    trace: Counts
