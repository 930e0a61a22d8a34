//! Whether the buffer returns what was written: which version of every sector is where.
//!
//! The shadow store of the controller proves that the flash returns what it was given; this proves
//! that it was given, and that a read returns, the newest version of every sector.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::backing::Page;
use crate::sectors::Sectors;

/// A version of a sector; 0 is what it held before the run.
type Version = u32;

/// Versions on their way to the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sent {
    /// Writes and trims of the page that the flash was asked for, this one included.
    number: u32,
    sectors: Sectors,
    versions: Vec<Version>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PageVersions {
    /// Writes and trims of the page so far.
    last: Version,
    newest: Vec<Version>,
    memory: Vec<Version>,
    flash: Vec<Version>,
    sent: Option<Sent>,
    /// Writes and trims that the flash was asked for.
    asked: u32,
    /// The number of the last trim.
    trimmed: u32,
}

/// What became of the writes and trims of a page; they are numbered as they took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// How many there were.
    pub last: u32,
    /// By sector: which one a read finds; 0 for what was there before the run.
    pub newest: Vec<u32>,
    /// By sector: which one the flash holds.
    pub flash: Vec<u32>,
}

/// The versions of all sectors that were written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Verification {
    sectors: u32,
    pages: FxHashMap<Page, PageVersions>,
}

fn each(sectors: Sectors) -> impl Iterator<Item = usize> {
    (0..Sectors::BITS as usize).filter(move |sector| sectors >> sector & 1 == 1)
}

impl Verification {
    pub fn new(sectors: u32) -> Self {
        let pages = FxHashMap::default();
        Self { sectors, pages }
    }
    fn page(&mut self, page: Page) -> &mut PageVersions {
        let sectors = self.sectors as usize;
        self.pages.entry(page).or_insert_with(|| PageVersions {
            last: 0,
            newest: vec![0; sectors],
            memory: vec![0; sectors],
            flash: vec![0; sectors],
            sent: None,
            asked: 0,
            trimmed: 0,
        })
    }
    /// What became of the writes and trims of a page.
    pub fn versions(&self, page: Page) -> Versions {
        let sectors = self.sectors as usize;
        self.pages.get(&page).map_or_else(
            || Versions {
                last: 0,
                newest: vec![0; sectors],
                flash: vec![0; sectors],
            },
            |page| Versions {
                last: page.last,
                newest: page.newest.clone(),
                flash: page.flash.clone(),
            },
        )
    }
    /// The host has written sectors of a page in the memory.
    pub fn write(&mut self, page: Page, sectors: Sectors) {
        let page = self.page(page);
        page.last += 1;
        for sector in each(sectors) {
            page.newest[sector] = page.last;
            page.memory[sector] = page.last;
        }
    }
    /// The host has discarded a page; the flash is told.
    pub fn trim(&mut self, page: Page) {
        let page = self.page(page);
        page.last += 1;
        page.asked += 1;
        page.trimmed = page.asked;
        page.sent = None;
        page.newest.fill(page.last);
        page.flash.fill(page.last);
    }
    /// Sectors of a page, as they are in the memory, go to the flash.
    pub fn send(&mut self, page: Page, sectors: Sectors) {
        let page = self.page(page);
        page.asked += 1;
        page.sent = Some(Sent {
            number: page.asked,
            sectors,
            versions: page.memory.clone(),
        });
    }
    /// The flash holds what was sent to it.
    pub fn sent(&mut self, page: Page) {
        let page = self.page(page);
        if let Some(sent) = page.sent.take() {
            for sector in each(sent.sectors) {
                page.flash[sector] = sent.versions[sector];
            }
        }
    }
    /// The flash does not hold what was sent to it.
    pub fn not_sent(&mut self, page: Page) {
        self.page(page).sent = None;
    }
    /// Sectors have come from the flash into the memory.
    pub fn fetched(&mut self, page: Page, sectors: Sectors) {
        let page = self.page(page);
        for sector in each(sectors) {
            page.memory[sector] = page.flash[sector];
        }
    }
    /// The host is given sectors from the memory.
    pub fn read(&mut self, now: Time, page: Page, sectors: Sectors) -> Result<(), String> {
        let state = self.page(page);
        for sector in each(sectors) {
            let (found, newest) = (state.memory[sector], state.newest[sector]);
            if found != newest {
                return Err(format!(
                    "verification failed at {now}: sector {sector} of logical page {} was read from the buffer in version {found}; its newest is {newest}",
                    page.0
                ));
            }
        }
        Ok(())
    }
    /// The power has failed, and the flash holds the write or trim of that `number` of every page.
    /// Of `saved` pages the sectors named are in the memory again, as they were; of all others what
    /// the flash holds is the newest there is, which must be no loss if `lossless`, but of pages that were `lost` before.
    pub fn cut(
        &mut self,
        now: Time,
        number: impl Fn(Page) -> u32,
        saved: &FxHashMap<Page, Sectors>,
        lossless: bool,
        lost: &FxHashSet<Page>,
    ) -> Result<(), String> {
        for (lpn, page) in &mut self.pages {
            let holds = number(*lpn);
            match page.sent.take() {
                Some(sent) if sent.number == holds => {
                    for sector in each(sent.sectors) {
                        page.flash[sector] = sent.versions[sector];
                    }
                }
                _ => {}
            }
            let kept = saved.get(lpn).copied().unwrap_or(0);
            if page.trimmed > holds {
                // A trim is not in the flash: what was there before may be found again.
                page.last += 1;
                let again = page.last;
                let rest = (0..page.newest.len()).filter(|sector| kept >> sector & 1 == 0);
                for sector in rest {
                    page.newest[sector] = again;
                }
                page.flash.fill(again);
                page.trimmed = 0;
                continue;
            }
            for sector in 0..page.newest.len() {
                if kept >> sector & 1 == 1 {
                    continue;
                }
                if lossless && !lost.contains(lpn) && page.newest[sector] != page.flash[sector] {
                    return Err(format!(
                        "verification failed at {now}, after a power cut: sector {sector} of logical page {} is lost from a buffer with capacitors",
                        lpn.0
                    ));
                }
                page.newest[sector] = page.flash[sector];
            }
        }
        Ok(())
    }
}
