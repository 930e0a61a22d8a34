//! Verification that the buffer returns what was written, by tracking the version of every sector.
//!
//! The content oracle of the controller verifies that the flash returns the data it was given. This
//! module verifies that the flash was given, and that a read returns, the latest version of every
//! sector.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::backing::Page;
use crate::sectors::Sectors;

/// Version of a sector; 0 for its content before the run.
type Version = u32;

/// Sectors being destaged, with their versions.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sent {
    /// Sequence number of the write among all writes and TRIMs of the page submitted to flash.
    number: u32,
    sectors: Sectors,
    versions: Vec<Version>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PageVersions {
    /// Number of writes and TRIMs of the page so far.
    last: Version,
    newest: Vec<Version>,
    memory: Vec<Version>,
    flash: Vec<Version>,
    sent: Option<Sent>,
    /// Number of writes and TRIMs of the page submitted to flash.
    asked: u32,
    /// Sequence number of the last TRIM submitted to flash.
    trimmed: u32,
}

/// Versions of a page; its writes and TRIMs are numbered in the order in which they took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// Number of writes and TRIMs of the page.
    pub last: u32,
    /// Version of each sector that a read must return; 0 for the content before the run.
    pub newest: Vec<u32>,
    /// Version of each sector on flash.
    pub flash: Vec<u32>,
}

/// Versions of all written sectors.
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
    /// Returns the versions of a page.
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
    /// Records a host write of sectors in memory.
    pub fn write(&mut self, page: Page, sectors: Sectors) {
        let page = self.page(page);
        page.last += 1;
        for sector in each(sectors) {
            page.newest[sector] = page.last;
            page.memory[sector] = page.last;
        }
    }
    /// Records a TRIM of a page by the host, which is submitted to flash.
    pub fn trim(&mut self, page: Page) {
        let page = self.page(page);
        page.last += 1;
        page.asked += 1;
        page.trimmed = page.asked;
        page.sent = None;
        page.newest.fill(page.last);
        page.flash.fill(page.last);
    }
    /// Records that sectors of a page are sent to flash with their current content in memory.
    pub fn send(&mut self, page: Page, sectors: Sectors) {
        let page = self.page(page);
        page.asked += 1;
        page.sent = Some(Sent {
            number: page.asked,
            sectors,
            versions: page.memory.clone(),
        });
    }
    /// Records that the flash holds the sectors that were sent.
    pub fn sent(&mut self, page: Page) {
        let page = self.page(page);
        if let Some(sent) = page.sent.take() {
            for sector in each(sent.sectors) {
                page.flash[sector] = sent.versions[sector];
            }
        }
    }
    /// Records that the flash does not hold the sectors that were sent.
    pub fn not_sent(&mut self, page: Page) {
        self.page(page).sent = None;
    }
    /// Records that sectors have been read from flash into memory.
    pub fn fetched(&mut self, page: Page, sectors: Sectors) {
        let page = self.page(page);
        for sector in each(sectors) {
            page.memory[sector] = page.flash[sector];
        }
    }
    /// Checks that sectors which the host reads from memory have their newest version.
    pub fn read(&mut self, now: Time, page: Page, sectors: Sectors) -> Result<(), String> {
        let state = self.page(page);
        for sector in each(sectors) {
            let (found, newest) = (state.memory[sector], state.newest[sector]);
            if found != newest {
                return Err(format!(
                    "verification failed at {now}: sector {sector} of logical page {} was read from the buffer as version {found}, but its newest version is {newest}",
                    page.0
                ));
            }
        }
        Ok(())
    }
    /// Checks the state after a power failure. `number` returns the sequence number of the latest
    /// write or TRIM of a page that the flash has stored. The `saved` sectors are in memory again,
    /// unchanged. For all others, the content of the flash becomes the newest. If `lossless` is
    /// `true`, older content is an error, except for pages that were `lost` before.
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
                // The TRIM is not on flash: the previous content may be returned again.
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
                        "verification failed at {now}, after a power cut: sector {sector} of logical page {} was lost although the buffer has capacitors",
                        lpn.0
                    ));
                }
                page.newest[sector] = page.flash[sector];
            }
        }
        Ok(())
    }
}
