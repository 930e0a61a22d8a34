"""Types of a summary, generated from its JSON schema. `wordline.metrics()`
describes each metric; the names contain the units."""

from typing import Literal, TypedDict


class Device(TypedDict):
    """Simulated device. For an array, sums over its members; a value that cannot be added is null
    unless all members share it. For hard disks, the metrics of flash are 0 or null."""

    name: str
    capacity_bytes: int
    user_bytes: int
    over_provisioning_ratio: float
    channels: int
    ways: int | None
    dies: int
    planes: int
    blocks: int
    pages_per_block: int | None
    page_bytes: int | None


class InputFile(TypedDict):
    """File of a trace, as listed in results."""

    path: str
    format: str
    time_unit: str | None
    recognised_by: str | None


class Input(TypedDict):
    """Requests of all streams together."""

    kind: Literal["trace", "generated", "live", "mixed"]
    files: list[InputFile]
    digest: str | None
    replay: Literal["open-loop", "closed-loop", "think-time", "mixed"]
    time_scale: float | None
    recorded_s: float | None
    queue_depth: int | None
    requests: int
    reads: int
    writes: int
    durable_writes: int
    trims: int
    flushes: int
    warm_up_requests: int
    flushes_ignored: int
    lines_skipped: int
    requests_adjusted: int
    read_bytes: int
    written_bytes: int
    unwritten_pages_read: int


class Time(TypedDict):
    """Times of the run on the simulated clock."""

    simulated_s: float
    first_arrival_s: float
    measured_from_s: float
    last_completion_s: float
    busy_s: float


class Latency(TypedDict):
    """Response times, from arrival to completion. Null without a request."""

    count: int
    mean_us: float | None
    std_us: float | None
    min_us: float | None
    p50_us: float | None
    p90_us: float | None
    p95_us: float | None
    p99_us: float | None
    p99_9_us: float | None
    p99_99_us: float | None
    max_us: float | None


class LatencyByOp(TypedDict):
    """Response times of each operation, from arrival to completion."""

    all: Latency
    read: Latency
    write: Latency
    trim: Latency
    flush: Latency


class Breakdown(TypedDict):
    """Components of the mean response time. They add up to it."""

    host_queue_us: float
    host_side_wait_us: float
    host_side_us: float
    link_wait_us: float
    link_us: float
    buffer_wait_us: float
    buffer_us: float
    queue_us: float
    die_wait_us: float
    bus_wait_us: float
    bus_us: float
    cell_us: float
    decode_us: float
    gc_us: float
    disk_queue_us: float
    disk_overhead_us: float
    seek_us: float
    rotation_us: float
    transfer_us: float


class BreakdownByOp(TypedDict):
    """A value for all requests, for reads and for writes."""

    all: Breakdown
    read: Breakdown
    write: Breakdown


class WorstCaseOf(TypedDict):
    """Longest response time of each interval."""

    mean_us: float | None
    max_us: float | None
    intervals_us: list[float | None]


class WorstCase(TypedDict):
    """Longest response time of each interval."""

    interval_s: float
    all: WorstCaseOf
    read: WorstCaseOf
    write: WorstCaseOf


class Above(TypedDict):
    """Number of requests with an excess above a limit."""

    excess_us: float
    requests: int


class ExcessOf(TypedDict):
    """Time that requests took beyond the marginal response time."""

    requests: int
    share: float | None
    sum_s: float
    mean_us: float | None
    max_us: float | None
    above: list[Above]


class Excess(TypedDict):
    """Time that requests took beyond the marginal response time."""

    marginal_response_us: float
    all: ExcessOf
    read: ExcessOf
    write: ExcessOf


class Throughput(TypedDict):
    """Rates of reads, writes and their bytes, from the first arrival to the last completion."""

    iops: float
    read_iops: float
    write_iops: float
    read_mb_per_s: float
    write_mb_per_s: float


class StreamInput(TypedDict):
    """Requests of a stream."""

    kind: Literal["trace", "generated", "live", "mixed"]
    files: list[InputFile]
    digest: str | None
    replay: Literal["open-loop", "closed-loop", "think-time", "mixed"]
    time_scale: float | None
    recorded_s: float | None
    queue_depth: int | None
    requests: int
    reads: int
    writes: int
    durable_writes: int
    trims: int
    flushes: int
    warm_up_requests: int
    flushes_ignored: int
    lines_skipped: int
    requests_adjusted: int
    read_bytes: int
    written_bytes: int


class ExcessOfByOp(TypedDict):
    """A value for all requests, for reads and for writes."""

    all: ExcessOf
    read: ExcessOf
    write: ExcessOf


class NullableDoubleByOp(TypedDict):
    """A value for all requests, for reads and for writes."""

    all: float | None
    read: float | None
    write: float | None


# Stream of a run.
Stream = TypedDict(
    "Stream",
    {
        "name": str,
        "class": Literal["urgent", "high", "medium", "low"],
        "input": StreamInput,
        "latency": LatencyByOp,
        "breakdown": BreakdownByOp,
        "excess": ExcessOfByOp,
        "throughput": Throughput,
        "bytes_share": float | None,
        "contest_share": float | None,
        "alone": LatencyByOp | None,
        "slowdown": NullableDoubleByOp | None,
    },
)


class Fairness(TypedDict):
    """Fairness among several streams: shares while all of them issued requests, and slowdowns."""

    contest_from_s: float | None
    contest_until_s: float | None
    jain_index: float | None
    slowdown_ratio: float | None
    weighted_speedup: float | None
    harmonic_speedup: float | None


class MemberInput(TypedDict):
    """Parts of requests that a member received."""

    requests: int
    reads: int
    writes: int
    trims: int
    read_bytes: int
    written_bytes: int
    unwritten_pages_read: int


class ProgrammedBytes(TypedDict):
    """Bytes programmed in flash, by purpose. Each byte counts once. Their sum is
    `flash.programmed_bytes`; divided by `flash.host_written_bytes` they are the components of
    `flash.write_amplification`."""

    host_bytes: int
    fill_bytes: int
    gc_bytes: int
    merge_bytes: int
    wear_bytes: int
    fold_bytes: int
    refresh_bytes: int
    rewrite_bytes: int
    map_bytes: int
    summary_bytes: int
    spare_bytes: int


class Flash(TypedDict):
    """Operations of the flash, and its state at the end of the run."""

    host_page_writes: int
    page_programs: int
    page_reads: int
    erases: int
    host_written_bytes: int
    programmed_bytes: int
    programmed: ProgrammedBytes
    write_amplification: float | None
    page_write_amplification: float | None
    pages_read_ahead: int
    pages_read_ahead_used: int
    read_modify_writes: int
    pages_trim_asked: int
    pages_trimmed: int
    own_page_reads: int
    own_page_programs: int
    blocks_replaced: int
    gc_runs: int
    gc_pages_moved: int
    gc_time_s: float
    gc_die_time_s: float
    erases_per_block_min: int
    erases_per_block_mean: float
    erases_per_block_max: int
    erases_per_block_std: float
    erases_per_block_spread: int
    valid_pages: int
    free_blocks: int


class Tiers(TypedDict):
    """Response times of requests by the tier that served them."""

    read_flash: Latency
    read_disk: Latency
    write_flash: Latency
    write_disk: Latency


class CurvePoint(TypedDict):
    """Point of a miss-ratio curve."""

    size_pages: float
    miss_ratio: float


class Cache(TypedDict):
    """Flash in front of a disk. All page counts are in pages of the flash."""

    capacity_pages: int
    flash_pages: int
    divisions: int
    trainings: int
    victim_utilisations: list[float]
    read_list_pages: int
    write_list_pages: int
    read_size_pages: int
    write_size_pages: int
    over_provisioning_pages: int
    resident_pages: int
    suspected_pages: int
    suspected_pages_most: int
    pages_read: int
    resident_hits: int
    suspected_hits: int
    joined: int
    misses: int
    bypassed: int
    hits_uncorrectable: int
    pages_lost: int
    host_failures: int
    hit_ratio: float | None
    request_hit_ratio: float | None
    hit_mean_us: float | None
    miss_mean_us: float | None
    read_deviation_us: float | None
    by_tier: Tiers
    fills: int
    updates: int
    records: int
    record_ratio: float | None
    summaries: int
    summary_ratio: float | None
    invalidated: int
    written_hits: int
    write_hits: int
    write_hits_in_write_list: int
    write_hits_in_read_list: int
    write_misses: int
    writes_bypassed: int
    write_hit_ratio: float | None
    rests: int
    dirty_pages: int
    destaged_on_demand: int
    destaged_to_clean: int
    destaged_to_resize: int
    destaged_per_write: float | None
    destage_mean_us: float | None
    resize_destage_s: float
    evicted: int
    dropped: int
    suspected_lost: int
    bytes_programmed_per_byte_hit: float | None
    lifetime_years: float | None
    disk_requests: int
    disk_utilisation: float | None
    disk_utilisation_without: float | None
    disk_read_savings: float | None
    pages_checked: int | None
    lru_miss_ratio: float | None
    miss_ratio_curve: list[CurvePoint]


class Collections(TypedDict):
    """GC runs of one kind with the same trigger."""

    kind: str
    trigger: str
    runs: int
    pages_moved: int
    blocks_erased: int
    time_s: float
    longest_ms: float
    energy_mj: float


class Commands(TypedDict):
    """Flash commands, by the parallelism that they use within a package."""

    total: int
    plain: int
    planes_shared: int
    dies_interleaved: int
    dies_interleaved_planes_shared: int
    pages_per_command: float | None


class Utilisation(TypedDict):
    """Share of the simulated time in which the hardware was busy, 0 to 1."""

    channel_mean: float
    channel_max: float
    die_mean: float
    die_max: float


class Execution(TypedDict):
    """Breakdown of the dies' time, as shares that add up to 1."""

    bus_active: float
    bus_contention: float
    cell_active: float
    idle: float


class Energy(TypedDict):
    """Energy of the flash, from the first arrival to the last event."""

    read_mj: float
    program_mj: float
    erase_mj: float
    bus_mj: float
    standby_mj: float
    total_mj: float


class Precondition(TypedDict):
    """Operations before the measurement. Other metrics exclude them unless described otherwise."""

    pages_filled: int
    pages_overwritten: int
    pages_moved: int
    write_amplification: float | None
    erases: int


class Member(TypedDict):
    """Device of a multi-device store. Its requests are the parts of host requests that it received.
    For a device behind a cache, they are the requests of the cache."""

    name: str
    disks: list[int]
    device: Device
    input: MemberInput
    busy_s: float
    latency: LatencyByOp
    breakdown: BreakdownByOp
    worst_case: WorstCase
    excess: ExcessOfByOp
    throughput: Throughput
    bytes_share: float | None
    flash: Flash
    cache: Cache | None
    collections: list[Collections]
    commands: Commands
    utilisation: Utilisation
    execution: Execution
    energy: Energy
    precondition: Precondition


class MapCache(TypedDict):
    """Look-ups in cached maps."""

    hits: int
    misses: int
    hit_ratio: float | None
    evictions: int
    dirty_evictions: int


class ReadsMet(TypedDict):
    """Response times of SSD reads by the flash events that delayed them. The reads are those of the
    host, of each member of an array, or of the cache from its flash. A read that several events
    delayed is counted for each of them."""

    nothing: Latency
    retry: Latency
    reclaim: Latency
    bad_block: Latency


class ReadErrors(TypedDict):
    """Outcomes of page reads, for the host and for the device itself, if reads can fail
    (`nand.reliability`)."""

    page_reads: int
    page_reads_retried: int
    retries: int
    worst_codeword_mean: float | None
    uncorrectable: int
    uncorrectable_bit_error_rate: float | None
    pages_lost: int
    reads_beyond_model: int
    reads_met: ReadsMet


class BadBlocks(TypedDict):
    """Bad and spare blocks, as in SMART attributes. Factory, grown, spare and in-use blocks add up
    to all blocks."""

    factory: int
    grown: int
    grown_by_erase: int
    grown_by_program: int
    spare: int
    spare_fewest: int
    spare_ratio: float | None
    in_use: int
    erase_failures: int
    program_failures: int
    pages_copied: int
    host_failures: int
    lost_reads: int
    read_only_s: float | None


class Smart(TypedDict):
    """The SMART / Health Information log page (02h) of an SSD, as NVMe defines it. Counts cover the
    run only."""

    name: str
    critical_warning: int
    available_spare: int | None
    available_spare_threshold: int
    percentage_used: int
    data_units_read: int
    data_units_written: int
    physical_media_written_bytes: int
    host_read_commands: int
    host_write_commands: int
    controller_busy_time_min: int
    unsafe_shutdowns: int
    media_errors: int


class ByMode(TypedDict):
    """Pages by program mode (`nand.programming`)."""

    medium: int
    low: int
    high: int
    reduced: int


class Regulation(TypedDict):
    """Operations by program mode, if pages are programmed in several modes (`nand.programming`,
    `ftl.regulation`)."""

    host_reads: ByMode
    host_writes: ByMode
    moves: ByMode
    rewrites: int
    rewrites_skipped: int
    rewrite_ratio: float | None
    wear: float
    wear_per_program: float | None
    wear_per_block_max: float
    storage_bits: int


class SlcCache(TypedDict):
    """Pages that went through the SLC cache (`ftl.slc_cache`). Pages moved by folding count in
    `flash.gc_pages_moved`, and therefore in `flash.write_amplification`
    (`flash.programmed.fold_bytes`)."""

    pages_written: int
    pages_direct: int
    written_ratio: float | None
    pages_folded: int
    pages_read: int
    erases: int


class Buffer(TypedDict):
    """DRAM buffer. Hits and misses are counted per page."""

    read_hits: int
    read_misses: int
    write_hits: int
    write_misses: int
    hit_ratio: float | None
    read_hit_ratio: float | None
    write_hit_ratio: float | None
    clean_evictions: int
    dirty_evictions: int
    clean_eviction_ratio: float | None
    balance_above_10_ratio: float | None
    pages_destaged: int
    pages_destaged_partial: int
    pages_read_ahead: int
    pages_read_ahead_used: int
    pages_destaged_idle: int
    idle_energy_mj: float
    batches: int
    write_amplification: float | None
    page_write_amplification: float | None
    dirty_pages_left: int


class HostSide(TypedDict):
    """CPU time, lock time and memory that requests and flash software took on the host
    (`[host_side]`). Null without a host CPU model."""

    cores: int
    cpu_worker_s: float
    cpu_lookup_s: float
    cpu_update_s: float
    cpu_collection_s: float
    cpu_utilisation: float | None
    lock_utilisation: float | None
    bridge_utilisation: float | None
    held_mean: float | None
    held_most: int
    lookup_steps: int
    update_steps: int
    collection_steps: int
    map_units: int
    map_entries: int
    map_bytes: int
    map_most_bytes: int
    map_hits: int
    map_misses: int
    map_hit_ratio: float | None
    map_write_backs: int


class SeekDistance(TypedDict):
    """Accesses whose seek distance is in a range."""

    from_cylinders: int
    to_cylinders: int
    accesses: int


class Disk(TypedDict):
    """Hard disk, at any level of the store."""

    name: str
    disks: list[int]
    capacity_bytes: int
    reads: int
    writes: int
    read_bytes: int
    written_bytes: int
    reads_buffered: int
    writes_buffered: int
    sectors_read_ahead: int
    destages: int
    utilisation: float | None
    overhead_s: float
    seek_s: float
    rotation_s: float
    transfer_s: float
    accesses: int
    seek_distance_mean: float | None
    seek_distances: list[SeekDistance]
    held_most: int
    held_mean: float | None


class RamDiskResponse(TypedDict):
    """Response times in the RAM disk, from submission to completion, of reads and writes
    together."""

    count: int
    mean_ns: float | None
    p50_ns: float | None
    p99_ns: float | None
    max_ns: float | None


class RamDisk(TypedDict):
    """Statistics of a RAM disk, wherever it is in the store."""

    name: str
    disks: list[int]
    capacity_bytes: int
    channels: int
    reads: int
    writes: int
    read_bytes: int
    written_bytes: int
    utilisation: float | None
    held_most: int
    held_mean: float | None
    response: RamDiskResponse


class ChipLoad(TypedDict):
    """Load of the dies, sampled at equal intervals."""

    interval_ms: float
    samples: int
    idle_samples: int
    mean_us: float | None
    balance_p50: float | None
    balance_p90: float | None
    balance_max: float | None
    balance_above_10_ratio: float | None


class IdlePeriods(TypedDict):
    """Idle periods of the SSDs, in which an SSD held no request, by the GC that used them."""

    periods: int
    with_gc: int
    with_agc: int
    with_dgc: int
    with_agc_and_dgc: int
    gc_runs_handed_over: int


class Power(TypedDict):
    """Power cuts and the recoveries from them."""

    cuts: int
    requests_lost: int
    pages_lost: int
    pages_saved: int
    pages_torn: int
    erases_torn: int
    recovery_pages_read: int
    recovery_blocks_erased: int
    cache_pages_restored: int
    cache_pages_dropped: int
    recovery_mean_ms: float
    recovery_longest_ms: float


class Verification(TypedDict):
    """Pages that `--verify` checked."""

    reads_checked: int
    writes_followed: int


class Reference(TypedDict):
    """Policy that was used, and its paper."""

    family: str
    policy: str
    paper: str


class Speed(TypedDict):
    """Cost of the simulation."""

    wall_s: float
    cpu_s: float
    precondition_cpu_s: float
    events: int
    requests_per_cpu_s: float
    resident_bytes: int
    pages_touched: int
    resident_bytes_per_touched_page: float


class Summary(TypedDict):
    """Content of `summary.json`."""

    schema: int
    version: str
    partial: bool
    error: str | None
    seed: int
    digest: str
    device: Device
    input: Input
    time: Time
    latency: LatencyByOp
    breakdown: BreakdownByOp
    worst_case: WorstCase
    excess: Excess
    throughput: Throughput
    streams: list[Stream]
    fairness: Fairness | None
    members: list[Member]
    flash: Flash
    map_cache: MapCache | None
    read_errors: ReadErrors | None
    bad_blocks: BadBlocks | None
    smart: list[Smart]
    regulation: Regulation | None
    slc_cache: SlcCache | None
    buffer: Buffer | None
    cache: Cache | None
    host_side: HostSide | None
    disks: list[Disk]
    ram_disks: list[RamDisk]
    chip_load: ChipLoad | None
    collections: list[Collections]
    idle_periods: IdlePeriods | None
    power: Power | None
    commands: Commands
    utilisation: Utilisation
    execution: Execution
    energy: Energy
    precondition: Precondition
    verification: Verification | None
    notes: list[str]
    references: list[Reference]
    speed: Speed
