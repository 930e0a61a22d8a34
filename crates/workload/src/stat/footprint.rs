//! Footprint of a workload: bitmaps of the pages that were read and written.

use rustc_hash::FxHashMap;

const WORD: u64 = 64;
/// Pages per bitmap. A bitmap covers 16 MiB of addresses and takes 1 KiB of memory.
const CHUNK: u64 = 4096;
const WORDS: usize = (CHUNK / WORD) as usize;
/// Maximum number of bitmaps. They cover 16 TiB of densely used addresses and take 1 GiB of memory.
const MAX_CHUNKS: usize = 1 << 20;

#[derive(Clone)]
struct Chunk {
    read: [u64; WORDS],
    written: [u64; WORDS],
}

/// Numbers of distinct pages: read, written, both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) both: u64,
}

/// Pages touched so far, by volume and address.
#[derive(Default)]
pub(super) struct Footprint {
    chunks: FxHashMap<(u32, u64), Box<Chunk>>,
    incomplete: bool,
}

impl Footprint {
    pub(super) fn is_complete(&self) -> bool {
        !self.incomplete
    }
    pub(super) fn incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Marks `count` pages starting at `first`. Returns how many of them were already marked.
    pub(super) fn touch(&mut self, volume: u32, first: u64, count: u64, writes: bool) -> u64 {
        let (mut page, end) = (first, first + count);
        let mut known = 0;
        while page < end {
            let next = (page / CHUNK + 1) * CHUNK;
            let until = next.min(end);
            let Some(chunk) = self.chunk(volume, page / CHUNK) else {
                break;
            };
            let bits = if writes {
                &mut chunk.written
            } else {
                &mut chunk.read
            };
            known += mark(bits, page % CHUNK, until - page);
            page = until;
        }
        known
    }

    fn chunk(&mut self, volume: u32, number: u64) -> Option<&mut Chunk> {
        let full = self.chunks.len() >= MAX_CHUNKS;
        if full && !self.chunks.contains_key(&(volume, number)) {
            self.incomplete = true;
            return None;
        }
        let empty = || {
            Box::new(Chunk {
                read: [0; WORDS],
                written: [0; WORDS],
            })
        };
        Some(self.chunks.entry((volume, number)).or_insert_with(empty))
    }

    pub(super) fn pages(&self) -> Pages {
        let mut pages = Pages::default();
        for chunk in self.chunks.values() {
            for (read, written) in chunk.read.iter().zip(&chunk.written) {
                pages.read += u64::from(read.count_ones());
                pages.written += u64::from(written.count_ones());
                pages.both += u64::from((read & written).count_ones());
            }
        }
        pages
    }
}

/// Sets `count` bits starting at `first`. Returns how many were already set.
fn mark(bits: &mut [u64; WORDS], first: u64, count: u64) -> u64 {
    let (mut at, end) = (first, first + count);
    let mut known = 0;
    while at < end {
        let shift = at % WORD;
        let length = (WORD - shift).min(end - at);
        let mask = (u64::MAX >> (WORD - length)) << shift;
        let word = &mut bits[(at / WORD) as usize];
        known += u64::from((*word & mask).count_ones());
        *word |= mask;
        at += length;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use wordline_kernel::Rng;

    /// Compares the counts with sets of pages.
    #[test]
    fn footprint_counts_each_page_once() {
        let mut random = Rng::new(5, "footprint");
        let mut footprint = Footprint::default();
        let (mut read, mut written) = (HashSet::new(), HashSet::new());
        for _ in 0..2000 {
            let volume = random.below(3) as u32;
            let first = random.below(20_000);
            let count = 1 + random.below(5000);
            let writes = random.below(2) == 0;
            let set = if writes { &mut written } else { &mut read };
            let before = (first..first + count).filter(|page| !set.insert((volume, *page)));
            let before = before.count() as u64;
            assert_eq!(footprint.touch(volume, first, count, writes), before);
        }
        let both = read.intersection(&written).count() as u64;
        let expected = Pages {
            read: read.len() as u64,
            written: written.len() as u64,
            both,
        };
        assert_eq!(footprint.pages(), expected);
        assert!(footprint.is_complete());
    }
}
