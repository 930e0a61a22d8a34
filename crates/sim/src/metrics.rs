//! What every number of a summary means.

use std::borrow::Cow;

use wordline_block::Part;

/// A number of the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Where it stands in `summary.json`, the keys joined by dots. `{op}` stands for all, read, write.
    pub name: Cow<'static, str>,
    /// Its unit; empty for counts and ratios.
    pub unit: &'static str,
    /// What it is.
    pub description: &'static str,
}

macro_rules! metrics {
    ($($name:literal, $unit:literal, $description:literal;)+ ...breakdown; $($later:literal, $later_unit:literal, $later_description:literal;)+) => {
        /// Every number of a summary, in its order.
        pub fn all() -> Vec<Metric> {
            let mut all = vec![$(metric($name, $unit, $description)),+];
            all.extend(Part::ALL.iter().map(breakdown));
            all.extend([$(metric($later, $later_unit, $later_description)),+]);
            all
        }
    };
}

fn metric(name: &'static str, unit: &'static str, description: &'static str) -> Metric {
    Metric {
        name: name.into(),
        unit,
        description,
    }
}

fn breakdown(part: &Part) -> Metric {
    Metric {
        name: format!("breakdown.{{op}}.{}", part.figure).into(),
        unit: "us",
        description: part.meaning,
    }
}

metrics! {
    "device.capacity_bytes", "B", "All pages of the device; of all members of an array.";
    "device.user_bytes", "B", "What the host can address: the capacity less over-provisioning.";
    "device.over_provisioning_ratio", "", "(capacity - user) / capacity, as configured; of an array that of its first member, as are the ways, the pages of a block and the bytes of a page.";
    "device.channels", "", "Channels.";
    "device.ways", "", "Packages on a channel.";
    "device.dies", "", "Dies of the whole device.";
    "device.planes", "", "Planes of the whole device.";
    "device.blocks", "", "Erase blocks of the whole device.";
    "device.pages_per_block", "", "Pages in a block.";
    "device.page_bytes", "B", "User bytes in a page.";
    "input.time_scale", "", "Open loop: what recorded times were multiplied by. Null in a closed loop, and for several streams, which have their own.";
    "input.recorded_s", "s", "From the first to the last request that was issued, in the times of the recording, before they were scaled. Null for generated load, a trace without time stamps, and several streams, which have their own.";
    "input.queue_depth", "", "Open loop: slots of the device queue. Closed loop: requests kept under way.";
    "input.requests", "", "Read and write requests admitted to the device.";
    "input.reads", "", "Of these, reads.";
    "input.writes", "", "Of these, writes.";
    "input.durable_writes", "", "Of the writes, those that are durable when they are done (FUA); without a DRAM buffer all are.";
    "input.trims", "", "Trims admitted to the device; apart from this, and `flash.pages_trimmed`, they count nowhere.";
    "input.flushes", "", "Flushes admitted to the device; apart from this, and `buffer.flush_mean_us` and its like, they count nowhere.";
    "input.flushes_ignored", "", "Flushes of the input, left out because no device has a DRAM buffer.";
    "input.lines_skipped", "", "Bad lines of the trace, skipped because --on-bad-line skip was given.";
    "input.requests_adjusted", "", "Changes to requests of the trace that options asked for: clamped, sorted, stacked, expanded, wrapped or scaled.";
    "input.read_bytes", "B", "Bytes of completed reads.";
    "input.written_bytes", "B", "Bytes of completed writes.";
    "input.unwritten_pages_read", "", "Pages read that were never written: answered without flash, in no time.";
    "time.simulated_s", "s", "Simulated time from the start of the clock to the last event.";
    "time.first_arrival_s", "s", "When the first request was issued.";
    "time.last_completion_s", "s", "When the last request was completed; collections may go on after it.";
    "time.busy_s", "s", "Simulated time in which the device held a request: from the moment in which its command, and the data of a write, was there.";
    "latency.{op}.count", "", "Completed requests.";
    "latency.{op}.mean_us", "us", "Mean response time, from arrival to completion. Exact.";
    "latency.{op}.std_us", "us", "Standard deviation of response times. Exact.";
    "latency.{op}.min_us", "us", "Shortest response time. Exact.";
    "latency.{op}.p50_us", "us", "Median: half of the requests took no longer. Percentiles are at most 0.1 % high.";
    "latency.{op}.p90_us", "us", "90 % of the requests took no longer.";
    "latency.{op}.p95_us", "us", "95 % of the requests took no longer.";
    "latency.{op}.p99_us", "us", "99 % of the requests took no longer.";
    "latency.{op}.p99_9_us", "us", "99.9 % of the requests took no longer.";
    "latency.{op}.p99_99_us", "us", "99.99 % of the requests took no longer.";
    "latency.{op}.max_us", "us", "Longest response time. Exact.";
    ...breakdown;
    "worst_case.interval_s", "s", "Width of the intervals of simulated time, from the start of the clock on, whose longest response times are told: `observe.worst_case_interval_s`, doubled until no more than 1024 cover the run; or, if that is 0, the least width of 1, 2, 4, 8 and so on microseconds of which 64 cover it.";
    "worst_case.{op}.mean_us", "us", "Worst-case response time (Jung 2013, section 7.6.2): the longest response time of the requests that were completed in an interval, mean of the intervals in which there was one.";
    "worst_case.{op}.max_us", "us", "The longest of them, and of the run. Exact.";
    "worst_case.{op}.intervals_us[]", "us", "The longest response time of each interval in turn; null where no request was completed. Exact.";
    "excess.marginal_response_us", "us", "The response time that is still all right, `observe.marginal_response_ms`. Excess waiting time is what a response time has beyond it (Jung 2013, section 7.6.3, footnote 4, with 30 ms).";
    "excess.{op}.requests", "", "Requests that took longer than that. Exact.";
    "excess.{op}.share", "", "Their share of the completed requests.";
    "excess.{op}.sum_s", "s", "The sum of their excess.";
    "excess.{op}.mean_us", "us", "Their mean excess.";
    "excess.{op}.max_us", "us", "The longest excess.";
    "excess.{op}.above[].excess_us", "us", "An excess: 0, then 1, 2 and 5 in each power of ten from 1 us to 1000 s, up to the first that no request is above.";
    "excess.{op}.above[].requests", "", "Requests with a longer excess. Exact.";
    "throughput.iops", "1/s", "Requests completed a second, from the first arrival to the last completion.";
    "throughput.read_iops", "1/s", "Reads completed a second.";
    "throughput.write_iops", "1/s", "Writes completed a second.";
    "throughput.read_mb_per_s", "MB/s", "Bytes read a second, in 10^6 bytes.";
    "throughput.write_mb_per_s", "MB/s", "Bytes written a second, in 10^6 bytes.";
    "streams[].input", "", "What each stream of `[[streams]]` or --stream asked for, with the meanings of `input`. The list is empty where a run has one stream without a name.";
    "streams[].latency", "us", "Its response times, with the meanings of `latency`.";
    "streams[].breakdown", "us", "The parts of their means, with the meanings of `breakdown`.";
    "streams[].excess", "", "Its requests beyond the marginal response time, with the meanings of `excess`.";
    "streams[].throughput", "", "With the meanings of `throughput`, from its own first arrival to its own last completion.";
    "streams[].bytes_share", "", "Its share of the bytes read and written in the whole run; once all is served, this is what was asked for.";
    "streams[].contest_share", "", "Its share of the bytes read and written while all streams asked (`fairness.contest_from_s` to `contest_until_s`).";
    "streams[].alone", "us", "Response times of the same requests with no other stream on the device, with the meanings of `latency`; with --slowdown.";
    "streams[].slowdown.{op}", "", "Mean response time beside the others / alone; with --slowdown.";
    "fairness.contest_from_s", "s", "When every stream with requests had issued its first one.";
    "fairness.contest_until_s", "s", "When a stream had issued its last one.";
    "fairness.jain_index", "", "Jain's index of the bytes served to each stream in between, (sum x)^2 / (n sum x^2): 1 if all got as much, 1/n if one got everything (Jain, Chiu and Hawe 1984, A Quantitative Measure of Fairness and Discrimination).";
    "fairness.slowdown_ratio", "", "Smallest slowdown / largest slowdown: 1 if all suffer alike (Gabor, Weiss and Mendelson, MICRO 2006; of response times as in Tavakkol et al., FLIN, ISCA 2018). With --slowdown.";
    "fairness.weighted_speedup", "", "Sum over the streams of mean response time alone / beside the others: as many as there are streams if nobody is slowed down (Snavely and Tullsen, ASPLOS 2000). With --slowdown.";
    "fairness.harmonic_speedup", "", "Harmonic mean of the same ratios, streams / sum of slowdowns (Luo, Gummaraju and Franklin, ISPASS 2001). With --slowdown.";
    "members[].name", "", "Name of a member of the array; `members` is empty without one.";
    "members[].disks[]", "", "Disks of the trace that it holds, if requests go by disk.";
    "members[].device", "", "The member itself, as `device`.";
    "members[].input.requests", "", "Reads and writes completed in the member. A request that is split counts in every member that it touches, with the part there; so do all numbers of a member.";
    "members[].input.reads", "", "Of these, reads.";
    "members[].input.writes", "", "Of these, writes.";
    "members[].input.trims", "", "Trims completed in the member.";
    "members[].input.read_bytes", "B", "Bytes of these reads; all members together have those of the array.";
    "members[].input.written_bytes", "B", "Bytes of these writes.";
    "members[].input.unwritten_pages_read", "", "Pages read there that were never written.";
    "members[].busy_s", "s", "Simulated time in which the member held a part of a request.";
    "members[].latency", "us", "Response times of the parts, as `latency`: from the arrival of the request at the array.";
    "members[].breakdown", "us", "Where their time went, as `breakdown`; the wait for a slot of the member is host queue.";
    "members[].worst_case", "us", "The longest of each interval, as `worst_case`. Members can have intervals of different width.";
    "members[].excess", "us", "What they took beyond the marginal response time, as `excess`.";
    "members[].throughput", "", "Parts and their bytes a second, as `throughput`.";
    "members[].bytes_share", "", "Share of the bytes of all completed requests that went to the member.";
    "members[].flash", "", "What happened to its flash, as `flash`.";
    "members[].collections", "", "Its collections, as `collections`.";
    "members[].commands", "", "The commands of its dies, as `commands`.";
    "members[].utilisation", "", "How busy its channels and dies were, as `utilisation`.";
    "members[].execution", "", "What its dies did with their time, as `execution`.";
    "members[].energy", "mJ", "What its flash took, as `energy`.";
    "members[].precondition", "", "What happened to it before the run, as `precondition`.";
    "flash.host_page_writes", "", "Pages that the host wrote, whole or in part; behind a DRAM buffer, pages that came from it (destaged).";
    "flash.pages_trimmed", "", "Pages that the host discarded, whole ones only.";
    "flash.page_programs", "", "Pages programmed, for the host, for garbage collection and for the mapping itself.";
    "flash.page_reads", "", "Pages read from flash, for the host, for partial writes and for garbage collection.";
    "flash.erases", "", "Blocks erased during the run.";
    "flash.write_amplification", "", "Pages programmed per page of `flash.host_page_writes`. With power cuts, pages that were placed and never programmed are among those written.";
    "flash.read_modify_writes", "", "Partial writes that had to read the rest of their page.";
    "flash.own_page_reads", "", "Pages that the mapping read for itself: parts of the map, for requests and for collections.";
    "flash.own_page_programs", "", "Pages that the mapping programmed for itself: parts of the map, records of erases, and pages that only fill a block.";
    "flash.gc_runs", "", "Collections: blocks moved, logical blocks merged.";
    "flash.blocks_replaced", "", "Free blocks that took the place of full update blocks, so that a collection could wait.";
    "flash.gc_pages_moved", "", "Valid pages that garbage collection moved.";
    "flash.gc_time_s", "s", "Durations of all collections, from the choice of the victim to its erase, summed over planes.";
    "flash.gc_die_time_s", "s", "Time that dies were occupied for garbage collection, from first command cycles to last bus cycles, summed over dies.";
    "flash.erases_per_block_min", "", "Fewest erases of a block, preconditioning included.";
    "flash.erases_per_block_mean", "", "Mean erases of a block, preconditioning included.";
    "flash.erases_per_block_max", "", "Most erases of a block, preconditioning included.";
    "flash.erases_per_block_std", "", "Standard deviation of the erases of the blocks, preconditioning included.";
    "flash.erases_per_block_spread", "", "Most erases of a block less fewest.";
    "flash.valid_pages", "", "Pages that hold current data at the end.";
    "flash.free_blocks", "", "Erased blocks at the end.";
    "map_cache.hits", "", "Requests for pages whose map entries were in memory. Null, as all of these, if the whole map is.";
    "map_cache.misses", "", "Requests for pages whose map entries had to be brought into memory, which takes a read unless nothing of their translation page is in flash.";
    "map_cache.hit_ratio", "", "Hits, of hits and misses.";
    "map_cache.evictions", "", "Map entries that left memory.";
    "map_cache.dirty_evictions", "", "Those of them that had changed since their translation page was written, so that it was to be written.";
    "chip_load.interval_ms", "ms", "Distance of the instants at which the load of the dies was looked at: `observe.chip_load_interval_ms`, doubled until no more than a million lie in the run. Null, as all of these, if that is 0.";
    "chip_load.samples", "", "Instants at which a die had something to do; the numbers that follow are of these.";
    "chip_load.idle_samples", "", "Instants at which none had.";
    "chip_load.mean_us", "us", "How long what a die has to do takes without anything else (Liu et al., LCR, eq. 2): reads and programs of the host that wait for it or that it is at, and collections that have begun; mean of the dies, then of the instants.";
    "chip_load.balance_p50", "", "Load balance rate: the most of any die against the mean of the dies; the median of the instants.";
    "chip_load.balance_p90", "", "The rate that 90 % of the instants do not exceed.";
    "chip_load.balance_max", "", "The highest.";
    "chip_load.balance_above_10_ratio", "", "Share of the instants with a rate above 10.";
    "buffer.read_hits", "", "Pages of reads of which all bytes asked for were in the DRAM buffer. Null, as all of these, without one.";
    "buffer.read_misses", "", "Pages of reads that had to be read from the flash.";
    "buffer.write_hits", "", "Pages of writes that were in the buffer.";
    "buffer.write_misses", "", "Pages of writes that were not.";
    "buffer.hit_ratio", "", "Hits, of hits and misses.";
    "buffer.read_hit_ratio", "", "The same of reads.";
    "buffer.write_hit_ratio", "", "The same of writes.";
    "buffer.clean_evictions", "", "Pages that left the buffer as the flash held them.";
    "buffer.dirty_evictions", "", "Pages that left it and had to be written to the flash first.";
    "buffer.clean_eviction_ratio", "", "Clean evictions, of all.";
    "buffer.pages_destaged", "", "Pages written from the buffer to the flash: evicted, flushed, written through.";
    "buffer.pages_destaged_partial", "", "Of these, pages of which a part was written only, so that the flash was read to complete them, if it held the page.";
    "buffer.write_amplification", "", "Pages programmed in the flash per page that the host wrote to the buffer: below 1 where the buffer saves more writes than collections add.";
    "buffer.dirty_pages_left", "", "Pages newer than the flash in the buffer at the end of the run.";
    "buffer.flushes", "", "Flushes completed.";
    "buffer.flush_mean_us", "us", "Mean response time of a flush. Exact.";
    "buffer.flush_max_us", "us", "Longest response time of a flush. Exact.";
    "collections[].kind", "", "How the collections of this row gained room: move (valid pages of a block), switch, partial or full merge, wear (a block moved for even wear). One row for each kind and trigger that came up.";
    "collections[].trigger", "", "What they were started for: free-blocks or update-block (on demand, while the host is served), look-ahead, compaction, retroactive, background.";
    "collections[].runs", "", "How many.";
    "collections[].pages_moved", "", "Pages that they moved.";
    "collections[].blocks_erased", "", "Blocks that they erased. With `dftl`, blocks of translation pages that are erased beside them count in `flash.erases` only.";
    "collections[].time_s", "s", "From start to end, stops included, summed up.";
    "collections[].longest_ms", "ms", "The longest.";
    "power.cuts", "", "Power cuts; the table is there with --power-cut-every.";
    "power.requests_lost", "", "Requests that were under way then; they are in no other number.";
    "power.pages_lost", "", "Pages in the DRAM buffer that were newer than the flash then, and are lost.";
    "power.pages_saved", "", "Pages in the DRAM buffer that were newer than the flash then, and were saved by its capacitors.";
    "power.pages_torn", "", "Pages that were being programmed then and cannot be read.";
    "power.erases_torn", "", "Blocks that were being erased then.";
    "power.recovery_pages_read", "", "Pages whose spare areas the recoveries read; one of every erased block.";
    "power.recovery_blocks_erased", "", "Blocks that the recoveries erased.";
    "power.recovery_mean_ms", "ms", "Mean time of a recovery: its reads and erases, spread over the dies.";
    "power.recovery_longest_ms", "ms", "The longest recovery.";
    "commands.total", "", "Commands that dies carried out; each works on one page or block, or on several in different planes.";
    "commands.plain", "", "Of these, on one plane, with no other die of the package occupied (no flash-level parallelism; non-PAL in Jung 2013).";
    "commands.planes_shared", "", "On several planes at once (plane sharing; PAL1).";
    "commands.dies_interleaved", "", "On one plane, while another die of the package was occupied (die interleaving; PAL2).";
    "commands.dies_interleaved_planes_shared", "", "Both (PAL3).";
    "commands.pages_per_command", "", "Pages read and programmed and blocks erased per command; an internal data move counts as two.";
    "utilisation.channel_mean", "", "Share of the time from the first arrival to the last event in which a channel's bus was held, mean of the channels.";
    "utilisation.channel_max", "", "The same of the busiest channel.";
    "utilisation.die_mean", "", "Share of the time from the first arrival to the last event in which a die was occupied, from the first command cycle of an operation to its last bus cycle; mean of the dies.";
    "utilisation.die_max", "", "The same of the busiest die.";
    "execution.bus_active", "", "Share of the dies' time, from the first arrival to the last event, in which commands, addresses, data or status moved for them.";
    "execution.bus_contention", "", "Share in which they waited for the bus of their channel.";
    "execution.cell_active", "", "Share in which their arrays worked, and in which they were busy taking in planes.";
    "execution.idle", "", "The rest: no operation, or one laid aside.";
    "energy.read_mj", "mJ", "Energy of array reads, from the first arrival to the last event: supply voltage x read current x array time, for every plane that works.";
    "energy.program_mj", "mJ", "Energy of array programs.";
    "energy.erase_mj", "mJ", "Energy of erases.";
    "energy.bus_mj", "mJ", "Energy of the interface of the dies while the bus is in use for them.";
    "energy.standby_mj", "mJ", "Energy that dies take while they are not occupied.";
    "energy.total_mj", "mJ", "The sum of the five. Host link, controller and DRAM are not modelled.";
    "precondition.pages_filled", "", "Pages written in order before the run.";
    "precondition.pages_overwritten", "", "Pages written at random after that.";
    "precondition.pages_moved", "", "Pages that garbage collection moved meanwhile.";
    "precondition.write_amplification", "", "Write amplification of the last window of random writes.";
    "precondition.erases", "", "Blocks erased meanwhile.";
    "verification.reads_checked", "", "Page reads compared with the shadow store.";
    "verification.writes_followed", "", "Page writes whose versions were followed.";
    "speed.wall_s", "s", "Wall-clock time of the run, preconditioning included.";
    "speed.cpu_s", "s", "Processor time of the run, preconditioning included.";
    "speed.precondition_cpu_s", "s", "Of that, the processor time of preconditioning.";
    "speed.events", "", "Events simulated.";
    "speed.requests_per_cpu_s", "1/s", "Completed requests per second of processor time.";
    "speed.resident_bytes", "B", "Growth of the process's resident memory from the empty device to the end of the run.";
    "speed.pages_touched", "", "Logical pages written at least once, at most: pages written, bounded by the user pages.";
    "speed.resident_bytes_per_touched_page", "B", "The ratio of the two; fixed costs weigh on short runs, the shadow store on verified ones.";
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn names_are_unique_and_sentences_end() {
        let all = all();
        for (index, metric) in all.iter().enumerate() {
            assert!(
                all[..index].iter().all(|other| other.name != metric.name),
                "{}",
                metric.name
            );
            assert!(metric.description.ends_with('.'), "{}", metric.name);
        }
    }
}
