//! Metrics of the flash and of the DRAM buffer, each declared once.
//!
//! A table is a list of lines that is passed to a macro. `counts!` declares the counters, their
//! sums and their updates by observations. `figures!` of the results declares the section of the
//! summary (with the metrics, the reference page and the Python types) and the columns of the
//! series. The metrics of the summary and of the series have the order of the lines.
//!
//! | line | declaration |
//! |---|---|
//! | `figure NAME on EVENT { .. } => AMOUNT, summary ".." series "..";` | a counter (`u64`) that the summary, the series or both show under its name |
//! | `count NAME: TYPE, on EVENT { .. } => AMOUNT, "..";` | a counter that is shown in another form, or not at all |
//! | `summary NAME: TYPE = VALUE, "..";` | a metric of the summary |
//! | `series NAME = VALUE, "..";` | a column of the series |
//!
//! The recorder itself updates counters without `on`. A value is computed from `$counts`, the
//! counters, and in the summary also from `$end`, the state of the devices at the end; an amount
//! from `$now`, the time of the observation. Units are part of the names.

/// Metrics of the flash. `$make` is called with `$head` and the lines.
#[macro_export]
macro_rules! flash_figures {
    ($make:ident $head:tt $counts:ident $now:ident $end:ident) => {
        $make! { $head $counts $now $end;
            figure host_page_writes on PagesWritten { pages } => u64::from(pages),
                summary "Pages that the host wrote, completely or partially; with a DRAM buffer, pages destaged from it."
                series "Pages that the host wrote, completely or partially";
            count done: [u64; 4], "Pages read, programmed and moved by dies, and blocks erased, in the order of `Operation`.";
            summary page_programs: u64 = $counts.page_programs(),
                "Pages programmed, for the host, for GC and for the mapping itself.";
            series page_programs = $counts.page_programs(), "Pages programmed";
            summary page_reads: u64 = $counts.page_reads(),
                "Pages read from flash, for the host, for partial writes, for GC and for the mapping itself.";
            summary erases: u64 = $counts.erases(), "Blocks erased during the run.";
            figure host_written_bytes
                summary "Bytes of writes that the SSDs completed without an error, counted at the interface of each: writes of the host, or of the array or cache in front of it. With a DRAM buffer, writes to the buffer."
                series "Bytes of writes that the SSDs completed without an error";
            summary programmed_bytes: u64 = $counts.programmed_bytes(),
                "Bytes that the flash programmed: the sum of `flash.programmed`.";
            series programmed_bytes = $counts.programmed_bytes(), "Bytes programmed";
            count programmed: [u64; Programmed::ALL.len()], "Bytes programmed, in the order of `Programmed`.";
            summary programmed: ProgrammedSummary = ProgrammedSummary::new($counts),
                "Bytes that the flash programmed, by purpose.";
            series page_reads = $counts.page_reads(), "Pages read from flash";
            summary write_amplification: Option<f64> = write_amplification($counts),
                "Bytes programmed per byte written: `flash.programmed_bytes` / `flash.host_written_bytes`, as in the counters of drives. Below 1 if a DRAM buffer absorbs writes. Null if nothing was written.";
            series write_amplification = write_amplification($counts),
                "Bytes programmed per byte of writes that the SSDs completed";
            summary page_write_amplification: Option<f64> = ratio($counts.page_programs(), $counts.host_page_writes),
                "Pages programmed per page written: `flash.page_programs` / `flash.host_page_writes`. A partially written page counts as one. With power cuts, the pages written include pages that were allocated and never programmed.";
            series page_write_amplification = ratio($counts.page_programs(), $counts.host_page_writes),
                "Pages programmed per page that the host wrote, completely or partially";
            figure pages_read_ahead on ReadAhead { used: false } => 1,
                summary "Pages that dies started to read before the host requested them (`buffer.read_ahead.physical`). Reads that were not aborted are included in `flash.page_reads`.";
            figure pages_read_ahead_used on ReadAhead { used: true } => 1,
                summary "Pages read ahead that a host read found in the data register of their die.";
            figure read_modify_writes on PageMerged {} => 1,
                summary "Partial writes that had to read the rest of their page.";
            count unwritten_pages_read: u64, on UnwrittenRead {} => 1, "Reads of pages that had never been written, or had been trimmed.";
            figure pages_trim_asked on TrimBegun { pages } => pages,
                summary "Pages that TRIMs covered completely.";
            figure pages_trimmed on PageTrimmed {} => 1,
                summary "Pages that TRIMs freed: fewer than they covered if the firmware frees only whole mapping units (`ftl.trim.frees`).";
            figure own_page_reads on MetadataPage { program: false } => 1,
                summary "Pages that the mapping read for itself: map pages, for requests and for GC.";
            figure own_page_programs on MetadataPage { program: true } => 1,
                summary "Pages that the mapping programmed for itself: map pages, records of erases, and pages that only fill a block.";
            figure blocks_replaced on Replaced {} => 1,
                summary "Free blocks that replaced full update blocks, so that GC could be deferred.";
            figure gc_runs on Collected { .. } => 1,
                summary "GC runs: relocations of a block and merges of a logical block."
                series "Finished GC runs";
            figure gc_pages_moved on Collected { moved, .. } => u64::from(moved),
                summary "Valid pages that GC moved."
                series "Pages moved by GC runs that finished";
            count gc_time: Time, on Collected { from, .. } => $now - from,
                "Time from start to end of GC runs, summed over planes.";
            summary gc_time_s: f64 = $counts.gc_time.as_secs(),
                "Time of all GC runs, from the choice of the victim to its erase, summed over planes.";
            series gc_time_ms = $counts.gc_time.as_secs() * 1e3, "Time of GC runs that finished, summed over planes";
            count gc_die_time: Time, "Time in which dies were occupied by GC and rewrites, summed over dies.";
            summary gc_die_time_s: f64 = $counts.gc_die_time.as_secs(),
                "Time in which dies were occupied by GC and rewrites, including waits for the bus, summed over dies.";
            series gc_die_ms = $counts.gc_die_time.as_secs() * 1e3,
                "Time in which dies were occupied by GC and rewrites, summed over dies";
            series erases = $counts.erases(), "Blocks erased";
            figure blocks_retired on BlockRetired { .. } => 1, series "Blocks that went bad";
            figure spares_taken on BlockRetired { replaced } => u64::from(replaced),
                series "Spare blocks that replaced bad blocks";
            figure read_retries on Retried { retries } => u64::from(retries),
                series "Read retries of pages that were not corrected at first";
            figure refreshes on Collected { kind, .. } => u64::from(kind == GcKind::Refresh),
                series "Blocks moved by read reclaim and refresh";
            summary erases_per_block_min: u32 = $end.least_erases, "Fewest erases of a block, including preconditioning.";
            summary erases_per_block_mean: f64 = $end.mean_erases, "Mean erases of a block, including preconditioning.";
            summary erases_per_block_max: u32 = $end.most_erases, "Most erases of a block, including preconditioning.";
            summary erases_per_block_std: f64 = $end.erase_deviation,
                "Standard deviation of the erases of the blocks, including preconditioning.";
            summary erases_per_block_spread: u32 = $end.most_erases - $end.least_erases,
                "Difference between the most and the fewest erases of a block, including preconditioning.";
            summary valid_pages: u64 = $end.valid_pages, "Pages that hold current data at the end of the run.";
            summary free_blocks: u64 = $end.free_blocks, "Erased blocks at the end of the run.";
        }
    };
}

/// Metrics of the DRAM buffer. `$make` is called with `$head` and the lines.
#[macro_export]
macro_rules! buffer_figures {
    ($make:ident $head:tt $counts:ident $now:ident $end:ident) => {
        $make! { $head $counts $now $end;
            figure read_hits on Accessed { op: Op::Read, hit: true } => 1,
                summary "Read hits in the DRAM buffer (pages): all requested bytes of the page were in the buffer. The whole table is null without a buffer."
                series "Read hits in the DRAM buffer (pages)";
            figure read_misses on Accessed { op: Op::Read, hit: false } => 1,
                summary "Read misses in the DRAM buffer (pages), which were read from flash."
                series "Read misses in the DRAM buffer (pages)";
            figure write_hits on Accessed { op: Op::Write, hit: true } => 1,
                summary "Write hits in the DRAM buffer (pages)."
                series "Write hits in the DRAM buffer (pages)";
            figure write_misses on Accessed { op: Op::Write, hit: false } => 1,
                summary "Write misses in the DRAM buffer (pages)."
                series "Write misses in the DRAM buffer (pages)";
            summary hit_ratio: Option<f64> = ratio($counts.hits(), $counts.reads() + $counts.writes()),
                "Hits / (hits + misses), of reads and writes.";
            summary read_hit_ratio: Option<f64> = ratio($counts.read_hits, $counts.reads()), "Read hits / (read hits + read misses).";
            summary write_hit_ratio: Option<f64> = ratio($counts.write_hits, $counts.writes()), "Write hits / (write hits + write misses).";
            figure clean_evictions on Evicted { dirty: false, .. } => 1,
                summary "Clean evictions from the DRAM buffer (pages)."
                series "Clean evictions from the DRAM buffer (pages)";
            figure dirty_evictions on Evicted { dirty: true, .. } => 1,
                summary "Dirty evictions from the DRAM buffer (pages), which were first written to flash."
                series "Dirty evictions from the DRAM buffer (pages)";
            summary clean_eviction_ratio: Option<f64> = ratio($counts.clean_evictions, $counts.evictions()),
                "Share of clean evictions in all evictions.";
            count unbalanced: u64, on Evicted { unbalanced, .. } => u64::from(unbalanced),
                "Evictions at which the dies were unbalanced, if the balance is watched.";
            summary balance_above_10_ratio: Option<f64> = $end.unbalanced_ratio($counts),
                "Share of evictions at which the highest load of a die exceeded ten times the mean load of the dies (LCR, section II-A). An eviction while no die has work does not count as exceeding it. Null unless `observe.balance_at_evictions` is set.";
            figure pages_destaged on Destaged { .. } => 1,
                summary "Pages destaged from the buffer to flash: evicted, flushed or written through."
                series "Pages destaged from the DRAM buffer to flash";
            figure pages_destaged_partial on Destaged { partial } => u64::from(partial),
                summary "Partially written pages destaged. The flash was read to complete them, if it held the page.";
            figure pages_read_ahead on ReadAhead {} => 1,
                summary "Pages read into the buffer before the host requested them (`buffer.read_ahead`).";
            figure pages_read_ahead_used on ReadAheadUsed {} => 1,
                summary "Pages read ahead that the host read later.";
            figure pages_destaged_idle on FlushedIdly {} => 1,
                summary "Pages destaged because no request was outstanding (`buffer.idle_flush_ms`).";
            summary idle_energy_mj: f64 = $end.energy.of_programs($counts.pages_destaged_idle),
                "Energy of programming the pages destaged in idle time, each at the mean array energy of a program in the run.";
            figure batches on BatchSent { .. } => 1,
                summary "Batches of pages destaged together (`buffer.flush`).";
            summary write_amplification: Option<f64> = write_amplification(&$end.flash),
                "Bytes programmed in flash per byte that the host wrote; equal to `flash.write_amplification`. Below 1 if the buffer absorbs more writes than GC adds.";
            summary page_write_amplification: Option<f64> = ratio($end.flash.page_programs(), $counts.writes()),
                "Pages programmed in flash per page that the host wrote to the buffer.";
            summary dirty_pages_left: u64 = $end.dirty_pages,
                "Dirty pages in the buffer at the end of the run.";
        }
    };
}
