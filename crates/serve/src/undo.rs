//! Undo log of the data that a power cut can lose: the content of each block before the writes that
//! may not be durable.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use wordline_kernel::Rng;
use wordline_runner::simulation::Volatile;

use crate::data::Data;

/// Size of a block. A power cut leaves a block either old or new as a whole. Bytes.
const BLOCK: u64 = 4096;
/// Minimum number of blocks in the log before durable blocks are searched for.
const MANY: usize = 16_384;

/// Number of a write, in the order in which the writes reached the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Serial(u64);

/// Point in the order of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark(u64);

/// Progress of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The device has not received the write yet.
    Arrived,
    /// The device executes the write.
    Submitted,
    /// The write has completed.
    Completed(Mark),
}

/// Write of a block.
#[derive(Debug)]
struct Version {
    serial: Serial,
    stage: Stage,
    /// Content of the block before the write.
    before: Box<[u8]>,
}

/// Writes of each block since its last content known to be durable, in order.
#[derive(Debug, Default)]
struct Blocks {
    versions: FxHashMap<u64, Vec<Version>>,
    serials: u64,
    marks: u64,
    /// Marks of the flushes in progress.
    flushes: Vec<Mark>,
    /// Number of blocks in the log at which durable blocks are searched for next.
    sweep_at: usize,
}

/// Undo log of the data.
#[derive(Debug)]
pub(crate) struct Undo {
    capacity: u64,
    /// Whether a write is durable once a later flush has completed, or once it has completed with
    /// FUA. Otherwise only the device knows whether it is durable.
    keeps_promises: bool,
    blocks: Mutex<Blocks>,
}

impl Blocks {
    /// Removes a write that failed.
    fn forget(&mut self, serial: Serial, offset: u64, bytes: u64) {
        for block in blocks_of(offset, bytes) {
            if let Some(versions) = self.versions.get_mut(&block) {
                versions.retain(|own| own.serial != serial);
            }
        }
    }
}

fn blocks_of(offset: u64, bytes: u64) -> std::ops::Range<u64> {
    offset / BLOCK..(offset + bytes).div_ceil(BLOCK)
}

impl Undo {
    /// Creates the log of a device of `capacity` bytes. `keeps_promises` states whether a write is
    /// durable once a later flush has completed, or once it has completed with FUA.
    pub(crate) fn new(capacity: u64, keeps_promises: bool) -> Self {
        Self {
            capacity,
            keeps_promises,
            blocks: Mutex::default(),
        }
    }
    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn bytes_of(&self, block: u64) -> u64 {
        BLOCK.min(self.capacity - block * BLOCK)
    }

    /// Writes data, and records the content that it replaces.
    pub(crate) fn write(&self, data: &Data, offset: u64, bytes: &[u8]) -> io::Result<Serial> {
        let mut blocks = self.lock();
        blocks.serials += 1;
        let serial = Serial(blocks.serials);
        for block in blocks_of(offset, bytes.len() as u64) {
            let mut before = vec![0; self.bytes_of(block) as usize].into_boxed_slice();
            data.read(block * BLOCK, &mut before)?;
            blocks.versions.entry(block).or_default().push(Version {
                serial,
                stage: Stage::Arrived,
                before,
            });
        }
        let written = data.write(offset, bytes);
        if written.is_err() {
            blocks.forget(serial, offset, bytes.len() as u64);
        }
        written.map(|()| serial)
    }
    /// Zeroes a range. A power cut does not restore the content of blocks that the range covers
    /// completely.
    pub(crate) fn zero(
        &self,
        data: &Data,
        offset: u64,
        bytes: u64,
        may_discard: bool,
    ) -> io::Result<()> {
        let mut blocks = self.lock();
        let whole = offset.div_ceil(BLOCK)..(offset + bytes) / BLOCK;
        if whole.end.saturating_sub(whole.start) > blocks.versions.len() as u64 {
            blocks.versions.retain(|block, _| !whole.contains(block));
        } else {
            for block in whole {
                blocks.versions.remove(&block);
            }
        }
        data.zero(offset, bytes, may_discard)
    }

    /// Records that the device has received a write. Earlier writes of its blocks are durable if
    /// the device would not lose them now.
    pub(crate) fn submitted(
        &self,
        serial: Serial,
        (offset, bytes): (u64, u64),
        volatile: Volatile<'_>,
    ) {
        let blocks = &mut *self.lock();
        for block in blocks_of(offset, bytes) {
            let Some(versions) = blocks.versions.get_mut(&block) else {
                continue;
            };
            let earlier = versions.partition_point(|version| version.serial < serial);
            if earlier > 0 && !volatile(block * BLOCK, self.bytes_of(block)) {
                keep_from(versions, earlier);
            }
            merge(versions, &blocks.flushes);
            if let Some(own) = versions.iter_mut().find(|own| own.serial == serial) {
                own.stage = Stage::Submitted;
            }
        }
        if blocks.versions.len() >= blocks.sweep_at.max(MANY) {
            self.sweep(blocks, volatile);
        }
    }
    /// Removes the blocks that are durable from the log.
    fn sweep(&self, blocks: &mut Blocks, volatile: Volatile<'_>) {
        blocks.versions.retain(|block, versions| {
            let is_complete = |version: &Version| matches!(version.stage, Stage::Completed(_));
            !versions.iter().all(is_complete) || volatile(block * BLOCK, self.bytes_of(*block))
        });
        blocks.sweep_at = 2 * blocks.versions.len();
    }
    /// Records that the device has completed a write. `fua` states whether the write is durable
    /// because it has completed with FUA.
    pub(crate) fn completed(&self, serial: Serial, (offset, bytes): (u64, u64), fua: bool) {
        let blocks = &mut *self.lock();
        blocks.marks += 1;
        let mark = Mark(blocks.marks);
        for block in blocks_of(offset, bytes) {
            let Some(versions) = blocks.versions.get_mut(&block) else {
                continue;
            };
            if let Some(place) = versions.iter().position(|own| own.serial == serial) {
                versions[place].stage = Stage::Completed(mark);
                if fua && self.keeps_promises {
                    versions.drain(..=place);
                }
            }
            if versions.is_empty() {
                blocks.versions.remove(&block);
            }
        }
    }
    /// Records the arrival of a flush. Returns its point in the order of completions.
    pub(crate) fn flush_arrives(&self) -> Mark {
        let blocks = &mut *self.lock();
        let mark = Mark(blocks.marks);
        blocks.flushes.push(mark);
        mark
    }
    /// Records that the flush that arrived at `mark` has completed.
    pub(crate) fn flushed(&self, mark: Mark, has_succeeded: bool) {
        let blocks = &mut *self.lock();
        if let Some(place) = blocks.flushes.iter().position(|own| *own == mark) {
            blocks.flushes.swap_remove(place);
        }
        if !self.keeps_promises || !has_succeeded {
            return;
        }
        blocks.versions.retain(|_, versions| {
            let is_before =
                |version: &Version| matches!(version.stage, Stage::Completed(at) if at <= mark);
            if let Some(last) = versions.iter().rposition(is_before) {
                versions.drain(..=last);
            }
            !versions.is_empty()
        });
    }

    /// Reverts the data that a power cut loses now, before the device loses it. Writes in progress
    /// are lost, or leave each block that is not volatile either old or new. Returns the number of
    /// blocks that do not have their latest content.
    pub(crate) fn revert(
        &self,
        data: &Data,
        volatile: Volatile<'_>,
        random: &mut Rng,
    ) -> io::Result<u64> {
        let blocks = &mut *self.lock();
        blocks.flushes.clear();
        let mut versions: Vec<_> = blocks.versions.drain().collect();
        versions.sort_unstable_by_key(|(block, _)| *block);
        let mut reverted = 0;
        for (block, mut versions) in versions {
            let is_volatile = volatile(block * BLOCK, self.bytes_of(block));
            let kept = if is_volatile {
                0
            } else {
                surviving(&versions, random)
            };
            if kept < versions.len() {
                data.write(block * BLOCK, &versions.swap_remove(kept).before)?;
                reverted += 1;
            }
        }
        Ok(reverted)
    }
}

/// Removes the versions up to the last completed one among the first `earlier`, because they are
/// durable.
fn keep_from(versions: &mut Vec<Version>, earlier: usize) {
    let is_complete = |version: &Version| matches!(version.stage, Stage::Completed(_));
    if let Some(last) = versions[..earlier].iter().rposition(is_complete) {
        versions.drain(..=last);
    }
}

/// Merges completed versions that the device loses together, because no flush in progress
/// (`flushes`) makes only one of them durable.
fn merge(versions: &mut Vec<Version>, flushes: &[Mark]) {
    versions.dedup_by(|later, earlier| {
        let (Stage::Completed(one), Stage::Completed(other)) = (earlier.stage, later.stage) else {
            return false;
        };
        let between = one.min(other)..one.max(other);
        let are_joined = !flushes.iter().any(|mark| between.contains(mark));
        if are_joined {
            earlier.serial = later.serial;
            earlier.stage = Stage::Completed(between.end);
        }
        are_joined
    });
}

/// Returns the number of versions of a block that a power cut leaves, if the device holds none of
/// them in volatile memory.
fn surviving(versions: &[Version], random: &mut Rng) -> usize {
    let mut kept = 0;
    for (place, version) in versions.iter().enumerate() {
        let survives = match version.stage {
            Stage::Arrived => false,
            Stage::Submitted => random.below(2) == 0,
            Stage::Completed(_) => true,
        };
        if survives {
            kept = place + 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 64 << 10;
    const AT: (u64, u64) = (8192, BLOCK);

    struct Disk {
        data: Data,
        undo: Undo,
    }

    impl Disk {
        fn new(keeps_promises: bool) -> Self {
            Self {
                data: Data::in_memory(),
                undo: Undo::new(CAPACITY, keeps_promises),
            }
        }
        fn arrive(&self, content: u8) -> Serial {
            let bytes = [content; BLOCK as usize];
            self.undo.write(&self.data, AT.0, &bytes).expect("writes")
        }
        /// Submits a write. `is_volatile` states whether the device would lose the block.
        fn submit(&self, content: u8, is_volatile: bool) -> Serial {
            let serial = self.arrive(content);
            self.undo.submitted(serial, AT, &|_, _| is_volatile);
            serial
        }
        fn write(&self, content: u8, is_volatile: bool) {
            let serial = self.submit(content, is_volatile);
            self.undo.completed(serial, AT, false);
        }
        /// Returns the content after a power cut. `is_volatile` states whether the device loses the
        /// block.
        fn after_cut(&self, is_volatile: bool, seed: u64) -> u8 {
            let mut random = Rng::new(seed, "torn");
            let done = self
                .undo
                .revert(&self.data, &|_, _| is_volatile, &mut random);
            done.expect("reverts");
            let mut byte = [0];
            self.data.read(AT.0, &mut byte).expect("reads");
            byte[0]
        }
    }

    #[test]
    fn completed_write_survives_unless_the_device_loses_it() {
        for (is_volatile, survives) in [(false, 2), (true, 1)] {
            let disk = Disk::new(true);
            disk.write(1, false);
            disk.write(2, false);
            assert_eq!(disk.after_cut(is_volatile, 1), survives);
        }
    }

    #[test]
    fn writes_in_volatile_memory_are_lost_together() {
        let disk = Disk::new(true);
        for content in 1..9 {
            disk.write(content, true);
        }
        assert_eq!(disk.undo.lock().versions[&2].len(), 2);
        assert_eq!(disk.after_cut(true, 1), 0);
    }

    #[test]
    fn flush_keeps_what_was_complete_when_it_arrived() {
        for (keeps_promises, survives) in [(true, 1), (false, 0)] {
            let disk = Disk::new(keeps_promises);
            disk.write(1, true);
            let mark = disk.undo.flush_arrives();
            disk.write(2, true);
            disk.write(3, true);
            disk.undo.flushed(mark, true);
            assert_eq!(disk.after_cut(true, 1), survives);
        }
    }

    #[test]
    fn fua_write_survives_on_a_device_that_keeps_its_promises() {
        for (keeps_promises, survives) in [(true, 2), (false, 0)] {
            let disk = Disk::new(keeps_promises);
            disk.write(1, true);
            let serial = disk.submit(2, true);
            disk.undo.completed(serial, AT, true);
            disk.write(3, true);
            assert_eq!(disk.after_cut(true, 1), survives);
        }
    }

    #[test]
    fn write_in_progress_leaves_the_block_old_or_new() {
        let mut seen = [0; 3];
        for seed in 0..64 {
            let disk = Disk::new(true);
            disk.write(1, false);
            disk.submit(2, false);
            seen[usize::from(disk.after_cut(false, seed))] += 1;
        }
        assert!(seen[0] == 0 && seen[1] > 16 && seen[2] > 16, "{seen:?}");
    }

    #[test]
    fn write_that_the_device_never_took_is_lost() {
        let disk = Disk::new(true);
        disk.write(1, false);
        disk.arrive(2);
        assert_eq!(disk.after_cut(false, 1), 1);
    }

    #[test]
    fn trimmed_block_stays_zero() {
        let disk = Disk::new(true);
        disk.write(1, true);
        disk.undo
            .zero(&disk.data, 0, CAPACITY, true)
            .expect("zeroes");
        assert_eq!(disk.after_cut(true, 1), 0);
        disk.write(1, true);
        disk.undo
            .zero(&disk.data, AT.0, BLOCK, true)
            .expect("zeroes");
        assert_eq!(disk.after_cut(true, 1), 0);
    }
}
