//! On-board buffer of a disk: segments of consecutive sectors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::extent::Extent;
use wordline_block::PlanError;

/// Extent of read-ahead after a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAhead {
    /// The disk does not read ahead.
    #[default]
    None,
    /// Reads ahead by `read_ahead_sectors`, as long as no request needs the arm.
    Segment,
    /// Like `segment`, but only after a read that starts within the sectors in the buffer, or
    /// directly after them.
    Sequential,
    /// Reads ahead to the end of the track, as long as no request needs the arm. If the content of
    /// the segment starts on an earlier track, reads ahead to the end of the next track. In a model
    /// without tracks, reads ahead like `segment`.
    Track,
}

/// Selects the buffered writes that count as hits and therefore take the overhead of a hit
/// (`write_hit_us`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteHit {
    /// Writes that join data that is not yet on the platters. This represents a write cache for
    /// sequential write streams.
    #[default]
    Joining,
    /// All buffered writes. Each completes before its data is on the platters.
    Buffered,
}

/// On-board buffer of a disk (`[disk.buffer]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // keys of a table
pub struct Buffer {
    /// Number of segments of consecutive sectors; 0 for no buffer. Count.
    #[schemars(range(min = 0, max = 4096))]
    pub segments: u32,
    /// Size of a segment. Sectors.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub segment_sectors: u32,
    /// Extent of read-ahead after a read, as long as no request needs the arm. `none`: no
    /// read-ahead. `segment`: by `read_ahead_sectors`. `sequential`: like `segment`, but only after
    /// a read that starts within the sectors in the buffer, or directly after them. `track`: to the
    /// end of the track, or of the next track if the segment starts on an earlier one.
    pub read_ahead: ReadAhead,
    /// Maximum read-ahead, at most the size of a segment; 0 selects that size. Sectors.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub read_ahead_sectors: u32,
    /// Whether the segment of a read also keeps the sectors immediately before it on the same
    /// track. They pass under the head while the read waits for its first sector.
    pub read_lead: bool,
    /// Whether reads are served from data that writes left in the buffer. Otherwise that data is
    /// dropped once it is on the platters, and reads of it wait until then.
    pub read_written: bool,
    /// Whether a write completes when its data is in the buffer.
    pub write_cache: bool,
    /// Maximum number of segments with data that is not on the platters. Count.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub write_segments: u32,
    /// Whether a write that starts at the end of another one joins its segment.
    pub combine_writes: bool,
    /// Buffered writes that count as hits. `joining`: writes that join data that is not yet on the
    /// platters. `buffered`: all buffered writes.
    pub write_hit: WriteHit,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            segments: 0,
            segment_sectors: 256,
            read_ahead: ReadAhead::default(),
            read_ahead_sectors: 0,
            read_lead: false,
            read_written: true,
            write_cache: false,
            write_segments: 1,
            combine_writes: true,
            write_hit: WriteHit::default(),
        }
    }
}

impl Buffer {
    /// Checks that the settings do not contradict each other.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let fault = |key, reason: &str, remedy: &str| {
            Err(PlanError {
                key,
                reason: reason.into(),
                remedy: remedy.into(),
            })
        };
        if self.segments > 0 && self.segment_sectors == 0 {
            return fault(
                "disk.buffer.segment_sectors",
                "a segment without sectors cannot hold data",
                "raise disk.buffer.segment_sectors, or set disk.buffer.segments to 0",
            );
        }
        if self.write_cache && (self.segments == 0 || self.write_segments == 0) {
            return fault(
                "disk.buffer.write_cache",
                "the buffer has no segment for writes",
                "raise disk.buffer.segments and disk.buffer.write_segments, or set disk.buffer.write_cache to false",
            );
        }
        Ok(())
    }
    /// Returns the maximum read-ahead after a read. Sectors.
    pub(crate) fn ahead(&self) -> u64 {
        let most = match (self.segments, self.read_ahead) {
            (0, _) | (_, ReadAhead::None) => 0,
            _ if self.read_ahead_sectors == 0 => self.segment_sectors,
            _ => self.read_ahead_sectors.min(self.segment_sectors),
        };
        most.into()
    }
}

/// Segment of the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    /// First sector of the segment's data.
    pub start: u64,
    /// End of the segment's data, exclusive.
    pub end: u64,
    /// Whether the segment has data that is not on the platters.
    pub dirty: bool,
    /// Whether a destage of the segment is queued.
    pub queued: bool,
    /// Whether the segment is being destaged.
    pub destaging: bool,
    /// Number of the segment's oldest write that is not on the platters. Writes are numbered in
    /// order of arrival in the buffer.
    pub oldest: u64,
    /// Number of the first write that may join the segment during its destage.
    pub next: u64,
    /// Time at which all data has arrived over the bus.
    pub ready: Time,
    /// Number of the last use. Uses are numbered in order.
    used: u64,
}

impl Segment {
    fn holds(&self, extent: Extent) -> bool {
        self.start <= extent.lbn && extent.end() <= self.end
    }
    fn overlaps(&self, extent: Extent) -> bool {
        self.start < extent.end() && extent.lbn < self.end
    }
    /// Returns the sectors of the segment.
    pub fn extent(&self) -> Extent {
        Extent {
            lbn: self.start,
            sectors: self.end - self.start,
        }
    }
}

/// Read-ahead in progress. Sectors pass under the head into a segment while no request needs the
/// arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ahead {
    pub segment: usize,
    /// Time at which the head reached `from`, the first sector not yet in the segment.
    pub since: Time,
    pub from: u64,
    /// End of the read-ahead, exclusive.
    pub until: u64,
}

/// Room for a write in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The write joins the data of this segment, which is not on the platters.
    Joins(usize),
    /// The write takes this clean segment.
    New(usize),
    /// The write must wait.
    None,
}

/// Result of a lookup of an extent to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// One segment has all data and can serve it.
    All,
    /// Some data is not on the platters, and the buffer cannot serve the read.
    Unwritten,
    /// The buffer has no data that the read can use or must wait for.
    Nothing,
}

/// Segments of the buffer, with their order of use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Segments {
    all: Vec<Segment>,
    uses: u64,
}

impl Segments {
    pub fn new(count: u32) -> Self {
        Self {
            all: vec![Segment::default(); count as usize],
            uses: 0,
        }
    }
    pub fn get(&self, segment: usize) -> Segment {
        self.all[segment]
    }
    pub fn get_mut(&mut self, segment: usize) -> &mut Segment {
        &mut self.all[segment]
    }
    fn touch(&mut self, segment: usize) {
        self.uses += 1;
        self.all[segment].used = self.uses;
    }
    /// Returns `true` if a segment overlaps the extent. This is rare under random requests.
    fn touches(&self, extent: Extent) -> bool {
        self.all.iter().any(|segment| segment.overlaps(extent))
    }
    /// Looks up an extent to be read in the clean segments and, if `dirty` is set, in the dirty
    /// ones.
    pub fn look_up(&mut self, extent: Extent, dirty: bool) -> Held {
        if !self.touches(extent) {
            return Held::Nothing;
        }
        let serves = |segment: &Segment| segment.holds(extent) && (dirty || !segment.dirty);
        if let Some(found) = self.all.iter().position(serves) {
            self.touch(found);
            return Held::All;
        }
        if self.has_dirty(extent) {
            Held::Unwritten
        } else {
            Held::Nothing
        }
    }
    /// Returns the end of a clean segment that contains the first sectors of an extent, but not the
    /// last; `None` if there is none.
    pub fn begins(&self, extent: Extent) -> Option<u64> {
        if !self.touches(extent) {
            return None;
        }
        let holds = |segment: &&Segment| {
            !segment.dirty && (segment.start..segment.end).contains(&extent.lbn)
        };
        let ends = self.all.iter().filter(holds).map(|segment| segment.end);
        ends.filter(|end| *end < extent.end()).max()
    }
    /// Returns `true` if sector `lbn` is in a segment or directly after one.
    pub fn goes_on(&self, lbn: u64) -> bool {
        let mut all = self.all.iter();
        all.any(|segment| {
            segment.end > segment.start && (segment.start..=segment.end).contains(&lbn)
        })
    }
    /// Returns `true` if the extent includes data that is not on the platters.
    pub fn has_dirty(&self, extent: Extent) -> bool {
        let mut all = self.all.iter();
        all.any(|segment| segment.dirty && segment.overlaps(extent))
    }
    /// Returns the number of segments with data that is not on the platters.
    pub fn dirty(&self) -> usize {
        self.all.iter().filter(|segment| segment.dirty).count()
    }
    /// Returns the number of the first write that is not on the platters; `None` if there is none.
    pub fn first_unwritten(&self) -> Option<u64> {
        let dirty = self.all.iter().filter(|segment| segment.dirty);
        dirty.map(|segment| segment.oldest).min()
    }
    /// Returns the number of sectors that are not on the platters.
    pub fn dirty_sectors(&self) -> u64 {
        let dirty = self.all.iter().filter(|segment| segment.dirty);
        dirty.map(|segment| segment.end - segment.start).sum()
    }
    /// Returns the number of sectors of an extent that are not on the platters.
    pub fn dirty_sectors_of(&self, extent: Extent) -> u64 {
        let dirty = self.all.iter().filter(|segment| segment.dirty);
        dirty
            .map(|segment| {
                let (start, end) = (segment.start.max(extent.lbn), segment.end.min(extent.end()));
                end.saturating_sub(start)
            })
            .sum()
    }
    /// Drops clean segments that overlap an extent, which is being changed.
    pub fn invalidate(&mut self, extent: Extent) {
        for segment in &mut self.all {
            if !segment.dirty && segment.overlaps(extent) {
                *segment = Segment::default();
            }
        }
    }
    pub fn clear(&mut self) {
        self.all.fill(Segment::default());
    }
    /// Returns the least recently used clean segment; `None` if all are dirty.
    fn oldest(&self) -> Option<usize> {
        let clean = self.all.iter().enumerate();
        let clean = clean.filter(|(_, segment)| !segment.dirty);
        clean
            .min_by_key(|(_, segment)| segment.used)
            .map(|(place, _)| place)
    }
    /// Takes the least recently used clean segment for data that was read. If the data exceeds
    /// `sectors`, keeps its last sectors. Returns `None` if all segments are dirty.
    pub fn take(&mut self, extent: Extent, sectors: u32) -> Option<usize> {
        let segment = self.oldest()?;
        self.all[segment] = Segment {
            start: extent.lbn.max(extent.end().saturating_sub(sectors.into())),
            end: extent.end(),
            ..Segment::default()
        };
        self.touch(segment);
        Some(segment)
    }
    /// Returns the segment that a write can join or take, if any.
    pub fn room(&self, extent: Extent, buffer: &Buffer) -> Room {
        if extent.sectors > buffer.segment_sectors.into() {
            return Room::None;
        }
        let joins = |segment: &Segment| {
            let within = segment.holds(extent) && !segment.destaging;
            let length = extent.end().saturating_sub(segment.start);
            let appends = buffer.combine_writes
                && segment.end == extent.lbn
                && length <= buffer.segment_sectors.into();
            segment.dirty && (within || appends)
        };
        if let Some(place) = self.all.iter().position(joins) {
            return Room::Joins(place);
        }
        if self.has_dirty(extent) || self.dirty() >= buffer.write_segments as usize {
            return Room::None;
        }
        self.oldest().map_or(Room::None, Room::New)
    }
    /// Puts write number `write` into segment `place`, which has room for it. Its data arrives by
    /// `ready`.
    pub fn put(&mut self, extent: Extent, place: usize, ready: Time, write: u64) {
        self.invalidate(extent);
        let segment = &mut self.all[place];
        if segment.dirty {
            segment.end = segment.end.max(extent.end());
        } else {
            *segment = Segment {
                start: extent.lbn,
                end: extent.end(),
                dirty: true,
                oldest: write,
                ..Segment::default()
            };
        }
        segment.ready = segment.ready.max(ready);
        self.touch(place);
    }
}
