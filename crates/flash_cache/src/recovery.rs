//! Recovery of a cache after a power cut: restores the dirty pages found in flash.

use rustc_hash::{FxHashMap, FxHashSet};
use wordline_ftl::Lpn;
use wordline_ftl::owner::{Claim, Claims};
use wordline_ftl::recovery::{Flash, SpareRecord};
use wordline_nand::{Block, Ppn};

use super::journal::Kind;
use super::residents::Residents;

/// Content of the spare areas in flash.
#[derive(Default)]
struct Found {
    /// Dirty copies: page of the backing store, physical page and spare record.
    dirty: Vec<(u64, Ppn, SpareRecord)>,
    /// Copies of record pages, by serial number.
    records: FxHashMap<u64, Vec<(Ppn, SpareRecord)>>,
}

impl Found {
    fn read(flash: &Flash<'_>) -> Self {
        let mut found = Self::default();
        for (place, tag) in (0..flash.layout.blocks()).flat_map(|block| flash.pages(Block(block))) {
            let Some(tag) = tag else { continue };
            // The owner's sequence number replaces that of the translation layer.
            let (label, sequence) = (tag.label, tag.label.sequence);
            let tag = SpareRecord { sequence, ..tag };
            match Kind::of(label) {
                Some(Kind::Dirty(page)) => found.dirty.push((page, place, tag)),
                Some(Kind::Records) => {
                    found
                        .records
                        .entry(sequence)
                        .or_default()
                        .push((place, tag));
                }
                Some(Kind::Clean(_)) | None => {}
            }
        }
        found
    }
    /// Returns the number of the latest write of each page.
    fn latest(&self) -> FxHashMap<u64, u64> {
        let mut latest = FxHashMap::default();
        for (page, _, tag) in &self.dirty {
            let write: &mut u64 = latest.entry(*page).or_default();
            *write = tag.sequence.max(*write);
        }
        latest
    }
}

impl Residents {
    /// Implements [`wordline_ftl::owner::Owner::recover`].
    pub(super) fn rescan(&mut self, flash: &Flash<'_>) -> Claims {
        let old = self.journal.take();
        self.forget_all();
        let mut claims = Claims {
            numbers: self.numbers(),
            ..Claims::default()
        };
        let Some(old) = old else {
            self.journal = None;
            return claims;
        };
        let found = Found::read(flash);
        claims.pages_read = found.records.len() as u64;
        let mut journal = Box::new(old.anew());
        let mut logs: Vec<_> = (0..)
            .zip(old.logs)
            .filter_map(|(slot, log)| Some((slot, log?)))
            .collect();
        logs.retain(|(_, log)| found.records.contains_key(&log.serial));
        logs.sort_unstable_by_key(|(_, log)| std::cmp::Reverse(log.serial));
        let mut recorded: FxHashMap<u64, u64> = FxHashMap::default();
        for (page, write) in logs.iter().flat_map(|(_, log)| &log.entries) {
            let known = recorded.entry(*page).or_default();
            *known = (*known).max(*write);
        }
        let latest = found.latest();
        let recorded_of = |page: u64| recorded.get(&page).copied().unwrap_or_default();
        let mut alive: Vec<(u64, u64)> = Vec::new();
        for (page, place, tag) in &found.dirty {
            journal.link(*place, *page, tag.sequence);
        }
        for (page, write) in latest {
            journal.restore(page, write, recorded_of(page));
            if write > recorded_of(page) {
                alive.push((write, page));
            }
        }
        alive.sort_unstable();
        let mut copies: FxHashMap<u64, Lpn> = FxHashMap::default();
        for (write, page) in &alive {
            if let Some(copy) = self.come_back(*page, *write) {
                copies.insert(*page, copy);
            }
        }
        let alive: FxHashSet<(u64, u64)> = alive.into_iter().collect();
        for (page, place, tag) in found.dirty {
            if alive.contains(&(tag.sequence, page))
                && let Some(copy) = copies.get(&page)
            {
                claims.copies.push(Claim {
                    page: *copy,
                    place,
                    tag,
                });
            }
        }
        for (slot, log) in logs {
            let (serial, entries) = (log.serial, log.entries.clone());
            journal.take_back(slot, log);
            for (page, write) in entries {
                if journal.lacks(page, write) {
                    journal.needs(page, slot as u32);
                }
            }
            if journal.keep(slot) {
                let places = found.records.get(&serial).into_iter().flatten();
                let page = Lpn(slot as u32);
                claims.copies.extend(places.map(|(place, tag)| Claim {
                    page,
                    place: *place,
                    tag: *tag,
                }));
            }
        }
        self.journal = Some(journal);
        claims.numbers = self.numbers();
        claims
    }
}
