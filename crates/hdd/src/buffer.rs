//! The on-board buffer: segments of sectors in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::error::PlanError;
use crate::extent::Extent;

/// How far a disk reads on behind a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAhead {
    /// Not at all.
    #[default]
    None,
    /// Until the segment is full, as long as no request needs the arm.
    Segment,
    /// The same, but only behind a read that begins among sectors in the buffer, or right behind them.
    Sequential,
    /// To the end of the track, as long as no request needs the arm; to that of the next track, if what the segment holds begins on a track
    /// before. In a model without tracks, as `segment`.
    Track,
}

/// Which of the writes that the buffer takes are hits, and so take the overhead of one (`write_hit_us`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteHit {
    /// Those that join data that is not on the platters yet: a write cache for streams of writes in order.
    #[default]
    Joining,
    /// All of them: each is complete before its data is on the platters.
    Buffered,
}

/// The on-board buffer of a disk (`[disk.buffer]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // keys of a table
pub struct Buffer {
    /// Segments, each of sectors in a row; without a buffer, if 0. Count.
    #[schemars(range(min = 0, max = 4096))]
    pub segments: u32,
    /// Size of a segment. Sectors.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub segment_sectors: u32,
    /// How far the disk reads on behind a read.
    pub read_ahead: ReadAhead,
    /// How far at most. Sectors; a segment, if 0.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub read_ahead_sectors: u32,
    /// Whether sectors that pass under the head on the way to a read, on its track and right before it, are kept in its segment.
    pub read_lead: bool,
    /// Whether reads are served from what writes have left in the buffer; if not, it is dropped when it is on the platters, and reads of it
    /// wait until then.
    pub read_written: bool,
    /// Whether a write is complete when its data is in the buffer.
    pub write_cache: bool,
    /// Segments that can hold data that is not on the platters. Count.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub write_segments: u32,
    /// Whether a write that goes on where another ends joins its segment.
    pub combine_writes: bool,
    /// Which of the writes that the buffer takes are hits.
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
    /// Checks it.
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
                "a segment of no sectors holds nothing",
                "give it sectors, or set disk.buffer.segments to 0",
            );
        }
        if self.write_cache && (self.segments == 0 || self.write_segments == 0) {
            return fault(
                "disk.buffer.write_cache",
                "there is no segment that writes can go to",
                "give disk.buffer.segments and disk.buffer.write_segments, or set it to false",
            );
        }
        Ok(())
    }
    /// How far the disk reads on behind a read. Sectors.
    pub(crate) fn ahead(&self) -> u64 {
        let most = match (self.segments, self.read_ahead) {
            (0, _) | (_, ReadAhead::None) => 0,
            _ if self.read_ahead_sectors == 0 => self.segment_sectors,
            _ => self.read_ahead_sectors.min(self.segment_sectors),
        };
        most.into()
    }
}

/// What a segment holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    /// The sectors that it holds.
    pub start: u64,
    pub end: u64,
    /// Sectors that are not on the platters, from the start.
    pub dirty: bool,
    /// Whether a destage of them waits.
    pub queued: bool,
    /// Whether they are being written.
    pub destaging: bool,
    /// Of the writes that it holds and the platters do not, the first, in the order in which the buffer took them.
    pub oldest: u64,
    /// While they are being written: the first of those that may join.
    pub next: u64,
    /// When the data of all is there.
    pub ready: Time,
    /// When it was used last, in the order of uses.
    used: u64,
}

impl Segment {
    fn holds(&self, extent: Extent) -> bool {
        self.start <= extent.lbn && extent.end() <= self.end
    }
    fn overlaps(&self, extent: Extent) -> bool {
        self.start < extent.end() && extent.lbn < self.end
    }
    /// What is to be written of it.
    pub fn extent(&self) -> Extent {
        Extent {
            lbn: self.start,
            sectors: self.end - self.start,
        }
    }
}

/// Sectors that pass under the head into a segment, while nothing else needs the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ahead {
    pub segment: usize,
    /// Since when, and from which sector on.
    pub since: Time,
    pub from: u64,
    /// Where it ends.
    pub until: u64,
}

/// Whether a write finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It joins data that has not been written.
    Joins(usize),
    /// In a segment of its own.
    New(usize),
    /// It has to wait.
    None,
}

/// The data that a buffer has of an extent that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// All of it, in a segment that serves.
    All,
    /// Data that is not on the platters, and that cannot be served yet.
    Unwritten,
    /// Nothing that a read could use or would have to wait for.
    Nothing,
}

/// The segments of a buffer.
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
    /// Whether a segment holds sectors of it: seldom, where requests go anywhere.
    fn touches(&self, extent: Extent) -> bool {
        self.all.iter().any(|segment| segment.overlaps(extent))
    }
    /// Looks for an extent that is read, in what is on the platters or, if that serves, in all.
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
    /// Where a segment ends that holds the first sectors of an extent and not the last, and nothing that is not on the platters.
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
    /// Whether a read goes on with what a segment holds.
    pub fn goes_on(&self, lbn: u64) -> bool {
        let mut all = self.all.iter();
        all.any(|segment| {
            segment.end > segment.start && (segment.start..=segment.end).contains(&lbn)
        })
    }
    /// Whether data that is not on the platters is among it.
    pub fn has_dirty(&self, extent: Extent) -> bool {
        let mut all = self.all.iter();
        all.any(|segment| segment.dirty && segment.overlaps(extent))
    }
    /// How many hold data that is not on the platters.
    pub fn dirty(&self) -> usize {
        self.all.iter().filter(|segment| segment.dirty).count()
    }
    /// Of the writes that are not on the platters, the first.
    pub fn first_unwritten(&self) -> Option<u64> {
        let dirty = self.all.iter().filter(|segment| segment.dirty);
        dirty.map(|segment| segment.oldest).min()
    }
    /// Sectors that are not on the platters.
    pub fn dirty_sectors(&self) -> u64 {
        let dirty = self.all.iter().filter(|segment| segment.dirty);
        dirty.map(|segment| segment.end - segment.start).sum()
    }
    /// Of an extent, the sectors that are not on the platters.
    pub fn dirty_sectors_of(&self, extent: Extent) -> u64 {
        let dirty = self.all.iter().filter(|segment| segment.dirty);
        dirty
            .map(|segment| {
                let (start, end) = (segment.start.max(extent.lbn), segment.end.min(extent.end()));
                end.saturating_sub(start)
            })
            .sum()
    }
    /// Forgets what is on the platters of an extent that changes there.
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
    /// The clean segment that was used longest ago.
    fn oldest(&self) -> Option<usize> {
        let clean = self.all.iter().enumerate();
        let clean = clean.filter(|(_, segment)| !segment.dirty);
        clean
            .min_by_key(|(_, segment)| segment.used)
            .map(|(place, _)| place)
    }
    /// Takes a segment for what was read; its last sectors, if it is longer.
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
    /// Where a write goes.
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
    /// Puts a write into a segment that has room for it, whose data is there at `ready`.
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
