//! Recorder of a run: turns the observations of devices into counters, histograms and time series.

pub mod chip_load;
mod component_sums;
mod counters;
mod delayed_reads;
mod figures;
mod hits;
mod recorder;
mod rows;
mod served;

pub use self::component_sums::ComponentSums;
pub use self::counters::{BufferCounts, Cell, Collections, FlashCounts, Longest, Power};
pub use self::delayed_reads::DelayedReads;
pub use self::hits::{ByTier, Hits};
pub use self::recorder::{Lanes, Recorder};
pub use self::served::Served;

use serde::{Deserialize, Serialize};
use wordline_block::ReadEvents;
use wordline_ftl::GcKind;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::Time;
use wordline_nand::Operation;
use wordline_observe::{Busy, Intervals, Merge};

/// Observations of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Requests served, by stream.
    pub streams: Vec<Served>,
    /// Requests served, over all streams; complete once the record is closed.
    pub total: Served,
    /// Time series.
    pub series: Intervals<Cell>,
    /// Longest response times, in intervals whose width is independent of the series.
    pub worst: Intervals<Longest>,
    /// Bus time of each channel.
    pub channels: Busy,
    /// Occupied time of each die, or of each disk.
    pub dies: Busy,
    /// Numbers of commands on one plane and on several planes while no other die of the package was
    /// occupied, then of those while another die was occupied.
    pub commands: [u64; 4],
    /// GC runs by kind and trigger, in the order of first occurrence.
    pub collections: Vec<Collections>,
    /// Power cuts and recoveries.
    pub power: Power,
    /// Response times of reads by flash events, for devices that can have such events.
    pub reads_met: Option<Box<DelayedReads>>,
}

impl Record {
    /// Returns this record, which must be empty, with its start at `start`. The earlier busy times
    /// of buses and dies are read from `lanes`.
    fn starting(&self, start: Time, lanes: Lanes<'_>) -> Self {
        Self {
            series: self.series.starting(start),
            worst: self.worst.starting(start),
            channels: self.channels.starting(start, lanes.buses),
            dies: self.dies.starting(start, lanes.dies),
            ..self.clone()
        }
    }
    /// Returns a copy whose series of counts have one interval.
    fn summed(&self) -> Self {
        Self {
            streams: self.streams.clone(),
            total: self.total.clone(),
            series: self.series.summed(),
            worst: self.worst.clone(),
            channels: self.channels.summed(),
            dies: self.dies.summed(),
            commands: self.commands,
            collections: self.collections.clone(),
            power: self.power,
            reads_met: self.reads_met.clone(),
        }
    }
    /// Sums the streams and ends all series at `end`. All series but the longest response times get
    /// intervals of the same width.
    fn close(&mut self, end: Time) {
        let Self { streams, total, .. } = self;
        for served in streams {
            total.merge(served);
        }
        let grids = [self.series.grid(), self.channels.grid(), self.dies.grid()];
        let width = grids
            .map(|grid| grid.width())
            .into_iter()
            .max()
            .unwrap_or_default();
        self.series.widen(width);
        self.channels.widen(width);
        self.dies.widen(width);
        self.series.close(end);
        self.worst.close(end);
        self.channels.close(end);
        self.dies.close(end);
    }
    /// Records a command of a die that was occupied from `from` until now.
    #[inline]
    fn worked(
        &mut self,
        now: Time,
        from: Time,
        operation: Operation,
        pages: u32,
        interleaved: bool,
        gc: bool,
    ) {
        if gc {
            let from = from.max(self.series.grid().start());
            let add = |cell: &mut Cell, part| cell.flash.gc_die_time += part;
            self.series.span(from, now, add);
        }
        if pages > 0 {
            self.commands[usize::from(pages > 1) + 2 * usize::from(interleaved)] += 1;
        }
        self.series.at(now).flash.done[operation as usize] += u64::from(pages);
    }
    /// Returns the time in which the device held requests.
    pub fn busy(&self) -> Time {
        self.series.iter().map(|interval| interval.value.busy).sum()
    }
    #[cold]
    fn collected(&mut self, kind: GcKind, trigger: Trigger, moved: u32, erased: u32, time: Time) {
        let collections = &mut self.collections;
        let known = collections
            .iter()
            .position(|known| (known.kind, known.trigger) == (kind, trigger));
        let place = known.unwrap_or_else(|| {
            collections.push(Collections {
                kind,
                trigger,
                runs: 0,
                moved: 0,
                erased: 0,
                time: Time::ZERO,
                longest: Time::ZERO,
            });
            collections.len() - 1
        });
        let sum = &mut collections[place];
        sum.runs += 1;
        sum.moved += u64::from(moved);
        sum.erased += u64::from(erased);
        sum.time += time;
        sum.longest = sum.longest.max(time);
    }
    #[cold]
    fn met(&mut self, met: ReadEvents, response: Time) {
        self.reads_met.get_or_insert_default().add(met, response);
    }
    /// Returns the counters of the DRAM buffer over all intervals.
    pub fn buffer(&self) -> BufferCounts {
        let mut total = BufferCounts::default();
        self.series
            .iter()
            .for_each(|interval| total.merge(&interval.value.buffer));
        total
    }
    /// Returns the counters of the flash over all intervals.
    pub fn flash(&self) -> FlashCounts {
        let mut total = FlashCounts::default();
        self.series
            .iter()
            .for_each(|interval| total.merge(&interval.value.flash));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_block::{LatencyComponent, LatencyComponents};

    /// Returns the index of a latency component.
    fn place(key: &str) -> usize {
        let mut all = LatencyComponent::ALL.iter();
        all.position(|part| part.key == key)
            .expect("a latency component")
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        let long = Time::from_ps(u64::MAX / 2);
        let parts = LatencyComponents {
            host_queue: Time::from_ps(1),
            link: long,
            ..LatencyComponents::default()
        };
        let mut sums = ComponentSums::default();
        for _ in 0..5 {
            sums.add(&parts, parts.total());
        }
        let expected = u128::from(long.ps()) * 5;
        let (of_queue, of_link) = (place("host_queue"), place("link"));
        let of_five = sums.sums();
        assert_eq!((of_five[of_queue], of_five[of_link]), (5, expected));
        let ten = sums.plus(&sums);
        assert_eq!(ten.count, 10);
        let of_ten = ten.sums();
        assert_eq!((of_ten[of_queue], of_ten[of_link]), (10, 2 * expected));
    }
}
