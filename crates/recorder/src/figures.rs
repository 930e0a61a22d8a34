//! The figures of the flash and of the DRAM buffer: the one declaration of each.
//!
//! A table is a list of lines, handed as they are to a macro: `counts!` makes of it the counters, their sums and what an
//! observation adds to them, `figures!` of the results the section of the summary, and with it the metrics, the reference
//! page and the Python types, and the columns of the series. The summary and the series each have their figures in the
//! order of the lines.
//!
//! | line | what it declares |
//! |---|---|
//! | `figure NAME on EVENT { .. } => AMOUNT, summary ".." series "..";` | a counter (`u64`) that the summary, the series or both show under its name |
//! | `count NAME: TYPE, on EVENT { .. } => AMOUNT, "..";` | a counter that is shown otherwise, or not at all |
//! | `summary NAME: TYPE = VALUE, "..";` | a figure of the summary |
//! | `series NAME = VALUE, "..";` | a column of the series |
//!
//! What is counted without `on` the recorder adds itself. A value is made of `$counts`, the counters, and in the summary
//! of `$end` too, what the devices are like at the end; an amount of `$now`, the time of the observation. Units are in
//! the names.

/// The figures of the flash. `$make` takes `$head` and the lines.
#[macro_export]
macro_rules! flash_figures {
    ($make:ident $head:tt $counts:ident $now:ident $end:ident) => {
        $make! { $head $counts $now $end;
            figure host_page_writes on PagesWritten { pages } => u64::from(pages),
                summary "Pages that the host wrote, whole or in part; behind a DRAM buffer, pages that came from it (destaged)."
                series "Pages that the host wrote, whole or in part";
            count done: [u64; 4], "Pages, or blocks erased, of what dies have done, in the order of `Operation`.";
            summary page_programs: u64 = $counts.page_programs(),
                "Pages programmed, for the host, for garbage collection and for the mapping itself.";
            series page_programs = $counts.page_programs(), "Pages programmed";
            summary page_reads: u64 = $counts.page_reads(),
                "Pages read from flash, for the host, for partial writes and for garbage collection.";
            summary erases: u64 = $counts.erases(), "Blocks erased during the run.";
            figure host_written_bytes
                summary "Bytes of the writes that the SSDs completed without an error, each at its interface: writes of the host, or of the array or the cache in front of it. With a DRAM buffer, writes that went to the buffer."
                series "Bytes of the writes that the SSDs completed without an error";
            summary programmed_bytes: u64 = $counts.programmed_bytes(),
                "Bytes that the flash programmed: the sum of `flash.programmed`.";
            series programmed_bytes = $counts.programmed_bytes(), "Bytes programmed";
            count programmed: [u64; Programmed::ALL.len()], "Bytes programmed, in the order of `Programmed`.";
            summary programmed: ProgrammedSummary = ProgrammedSummary::new($counts),
                "Bytes that the flash programmed, by purpose.";
            series page_reads = $counts.page_reads(), "Pages read from flash";
            summary write_amplification: Option<f64> = write_amplification($counts),
                "Bytes programmed per byte written: `flash.programmed_bytes` of `flash.host_written_bytes`, as the counters of drives have it. Below 1 where a DRAM buffer absorbs writes. Null if nothing was written.";
            series write_amplification = write_amplification($counts),
                "Bytes programmed per byte of the writes that the SSDs completed";
            summary page_write_amplification: Option<f64> = ratio($counts.page_programs(), $counts.host_page_writes),
                "Pages programmed per page written: `flash.page_programs` of `flash.host_page_writes`, where a page of which a part was written counts as one. With power cuts, pages that were placed and never programmed are among those written.";
            series page_write_amplification = ratio($counts.page_programs(), $counts.host_page_writes),
                "Pages programmed per page that the host wrote, whole or in part";
            figure pages_read_ahead on ReadAhead { used: false } => 1,
                summary "Pages that dies began to read before the host asked for them (`buffer.read_ahead.physical`); those that were not aborted are among `flash.page_reads`.";
            figure pages_read_ahead_used on ReadAhead { used: true } => 1,
                summary "Of these, pages that a read took from the data register of their die.";
            figure read_modify_writes on PageMerged {} => 1,
                summary "Partial writes that had to read the rest of their page.";
            count unwritten_pages_read: u64, on UnwrittenRead {} => 1, "Reads of pages that were never written.";
            figure pages_trim_asked on TrimBegun { pages } => pages,
                summary "Pages that TRIMs covered as a whole.";
            figure pages_trimmed on PageTrimmed {} => 1,
                summary "Pages that TRIMs freed: fewer than they covered where firmware frees whole mapping units only (`ftl.trim.frees`).";
            figure own_page_reads on MetadataPage { program: false } => 1,
                summary "Pages that the mapping read for itself: parts of the map, for requests and for collections.";
            figure own_page_programs on MetadataPage { program: true } => 1,
                summary "Pages that the mapping programmed for itself: parts of the map, records of erases, and pages that only fill a block.";
            figure blocks_replaced on Replaced {} => 1,
                summary "Free blocks that took the place of full update blocks, so that a collection could wait.";
            figure gc_runs on Collected { .. } => 1,
                summary "Collections: blocks moved, logical blocks merged."
                series "Collections finished";
            figure gc_pages_moved on Collected { moved, .. } => u64::from(moved),
                summary "Valid pages that garbage collection moved."
                series "Pages moved by collections finished";
            count gc_time: Time, on Collected { from, .. } => $now - from,
                "Time from start to end of collections, summed over planes.";
            summary gc_time_s: f64 = $counts.gc_time.as_secs(),
                "Durations of all collections, from the choice of the victim to its erase, summed over planes.";
            series gc_time_ms = $counts.gc_time.as_secs() * 1e3, "Duration of collections finished, summed over planes";
            count gc_die_time: Time, "Time that dies were occupied for collections, summed over dies.";
            summary gc_die_time_s: f64 = $counts.gc_die_time.as_secs(),
                "Time that dies were occupied for garbage collection, from first command cycles to last bus cycles, summed over dies.";
            series gc_die_ms = $counts.gc_die_time.as_secs() * 1e3,
                "Time of the interval that dies were occupied for collections, summed over dies";
            series erases = $counts.erases(), "Blocks erased";
            figure blocks_retired on BlockRetired { .. } => 1, series "Blocks that went bad";
            figure spares_taken on BlockRetired { replaced } => u64::from(replaced),
                series "Spare blocks that took the place of others";
            figure read_retries on Retried { retries } => u64::from(retries),
                series "Further reads of pages that could not be corrected at once";
            figure refreshes on Collected { kind, .. } => u64::from(kind == GcKind::Refresh),
                series "Blocks that were moved for the sake of their data (read reclaim, refresh)";
            summary erases_per_block_min: u32 = $end.least_erases, "Fewest erases of a block, preconditioning included.";
            summary erases_per_block_mean: f64 = $end.mean_erases, "Mean erases of a block, preconditioning included.";
            summary erases_per_block_max: u32 = $end.most_erases, "Most erases of a block, preconditioning included.";
            summary erases_per_block_std: f64 = $end.erase_deviation,
                "Standard deviation of the erases of the blocks, preconditioning included.";
            summary erases_per_block_spread: u32 = $end.most_erases - $end.least_erases,
                "Most erases of a block less fewest.";
            summary valid_pages: u64 = $end.valid_pages, "Pages that hold current data at the end.";
            summary free_blocks: u64 = $end.free_blocks, "Erased blocks at the end.";
        }
    };
}

/// The figures of the DRAM buffer. `$make` takes `$head` and the lines.
#[macro_export]
macro_rules! buffer_figures {
    ($make:ident $head:tt $counts:ident $now:ident $end:ident) => {
        $make! { $head $counts $now $end;
            figure read_hits on Accessed { op: Op::Read, hit: true } => 1,
                summary "Pages of reads of which all bytes asked for were in the DRAM buffer. Null, as all of these, without one."
                series "Pages of reads that were in the DRAM buffer";
            figure read_misses on Accessed { op: Op::Read, hit: false } => 1,
                summary "Pages of reads that had to be read from the flash."
                series "Pages of reads that were not";
            figure write_hits on Accessed { op: Op::Write, hit: true } => 1,
                summary "Pages of writes that were in the buffer."
                series "Pages of writes that were in the DRAM buffer";
            figure write_misses on Accessed { op: Op::Write, hit: false } => 1,
                summary "Pages of writes that were not."
                series "Pages of writes that were not";
            summary hit_ratio: Option<f64> = ratio($counts.hits(), $counts.reads() + $counts.writes()),
                "Hits, of hits and misses.";
            summary read_hit_ratio: Option<f64> = ratio($counts.read_hits, $counts.reads()), "The same of reads.";
            summary write_hit_ratio: Option<f64> = ratio($counts.write_hits, $counts.writes()), "The same of writes.";
            figure clean_evictions on Evicted { dirty: false, .. } => 1,
                summary "Pages that left the buffer as the flash held them."
                series "Pages that left the DRAM buffer as the flash held them";
            figure dirty_evictions on Evicted { dirty: true, .. } => 1,
                summary "Pages that left it and had to be written to the flash first."
                series "Pages that left it and were newer";
            summary clean_eviction_ratio: Option<f64> = ratio($counts.clean_evictions, $counts.evictions()),
                "Clean evictions, of all.";
            count unbalanced: u64, on Evicted { unbalanced, .. } => u64::from(unbalanced),
                "Evictions at which the dies were unbalanced, where somebody watches.";
            summary balance_above_10_ratio: Option<f64> = $end.unbalanced_ratio($counts),
                "Evictions at which the die with most to do had more than ten times the mean of all (LCR, section II-A), of all evictions; if no die had anything to do, it had not. Null unless `observe.balance_at_evictions`.";
            figure pages_destaged on Destaged { .. } => 1,
                summary "Pages written from the buffer to the flash: evicted, flushed, written through."
                series "Pages that went from the DRAM buffer to the flash";
            figure pages_destaged_partial on Destaged { partial } => u64::from(partial),
                summary "Of these, pages of which a part was written only, so that the flash was read to complete them, if it held the page.";
            figure pages_read_ahead on ReadAhead {} => 1,
                summary "Pages read into the buffer before the host asked for them (`buffer.read_ahead`).";
            figure pages_read_ahead_used on ReadAheadUsed {} => 1,
                summary "Of these, pages that a read asked for then.";
            figure pages_destaged_idle on FlushedIdly {} => 1,
                summary "Pages written to the flash because no request was under way (`buffer.idle_flush_ms`).";
            summary idle_energy_mj: f64 = $end.energy.of_programs($counts.pages_destaged_idle),
                "Energy of the arrays for programming these, each at the mean of a program over the run.";
            figure batches on BatchSent { .. } => 1,
                summary "Batches of pages written to the flash together (`buffer.flush`).";
            summary write_amplification: Option<f64> = write_amplification(&$end.flash),
                "Bytes programmed in the flash per byte written, as `flash.write_amplification`: below 1 where the buffer saves more writes than collections add.";
            summary page_write_amplification: Option<f64> = ratio($end.flash.page_programs(), $counts.writes()),
                "Pages programmed in the flash per page that the host wrote to the buffer.";
            summary dirty_pages_left: u64 = $end.dirty_pages,
                "Pages newer than the flash in the buffer at the end of the run.";
        }
    };
}
