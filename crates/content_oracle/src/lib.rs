//! Oracle of `--verify`: the expected contents of every page.
//!
//! Every page write has a version. 64 bits represent the content of a page. They depend on the
//! page, its version and, for a partial write, the previous content of the page. Stale previous
//! content, a lost copy or a wrong map entry therefore gives wrong content. A read must return a
//! content at least as new as the last version that was acknowledged when the read started.

mod verification;

use std::collections::VecDeque;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{Digest, Time};
use wordline_nand::{Layout, Ppn};

pub use verification::{NO_VERSION, Verification};

/// Content of an erased physical page, and of a logical page that is not mapped.
const UNWRITTEN: u64 = 0;

/// Content of a page that cannot be read.
const TORN: u64 = 2;

/// Content of the mapping's metadata.
pub const METADATA: u64 = 4;

/// A host write of a whole or partial page, or a TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Position among the writes and TRIMs of the page, from 1; 0 is the content left by
    /// preconditioning.
    pub number: u32,
    /// First byte within the page.
    pub from: u32,
    /// Bytes written.
    pub bytes: u32,
    /// Whether the rest of the page is preserved.
    pub partial: bool,
}

impl Version {
    /// Returns a version that covers no bytes.
    pub const fn bare(number: u32) -> Self {
        Self {
            number,
            from: 0,
            bytes: 0,
            partial: false,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Write {
    version: Version,
    content: u64,
    issued: Time,
    acknowledged: Option<Time>,
    place: Option<Ppn>,
}

impl Write {
    fn issued(now: Time, version: Version, content: u64) -> Self {
        Self {
            version,
            content,
            issued: now,
            acknowledged: None,
            place: None,
        }
    }
    /// Creates the write that survived a power cut.
    fn kept(now: Time, number: u32, content: u64, place: Option<Ppn>) -> Self {
        Self {
            acknowledged: Some(now),
            place,
            ..Self::issued(now, Version::bare(number), content)
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct PageHistory {
    writes: VecDeque<Write>,
    /// Number of the last version, even if a power cut lost it.
    last: u32,
    acknowledged: u32,
    readers: u32,
    /// Whether the last acknowledged version is a TRIM.
    trimmed: bool,
}

impl PageHistory {
    /// Reduces the history to the version that survived a power cut.
    fn keep(&mut self, kept: Write) {
        self.acknowledged = kept.version.number;
        self.trimmed = kept.content == UNWRITTEN;
        self.readers = 0;
        self.writes = VecDeque::from([kept]);
    }
}

/// Number of latest writes of a page that pruning keeps, even if a later version is acknowledged.
const KEPT: usize = 8;

/// Expected and actual contents of all pages of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContentOracle {
    layout: Layout,
    pages: FxHashMap<Lpn, PageHistory>,
    /// One bit per logical page: whether the page was filled before its first recorded write.
    #[serde(with = "wordline_kernel::dense")]
    filled: Vec<u64>,
    /// Content of each physical page.
    #[serde(with = "wordline_kernel::dense")]
    contents: Vec<u64>,
    /// Verified reads. Count.
    pub reads_checked: u64,
    /// Recorded page writes. Count.
    pub writes_followed: u64,
}

fn whole(page: Lpn, version: u32) -> u64 {
    let mut digest = Digest::default();
    digest.mix(u64::from(page.0));
    digest.mix(u64::from(version));
    digest.value() | 1
}

fn content(page: Lpn, version: Version, base: u64) -> u64 {
    if !version.partial {
        return whole(page, version.number);
    }
    let mut digest = Digest::default();
    digest.mix(base);
    digest.mix(u64::from(version.number));
    digest.mix(u64::from(version.from) << 32 | u64::from(version.bytes));
    digest.value() | 1
}

impl ContentOracle {
    /// Creates the oracle of a preconditioned device; `place` maps logical to physical pages.
    pub fn new(layout: Layout, user_pages: u32, place: impl Fn(Lpn) -> Option<Ppn>) -> Self {
        let mut contents = vec![UNWRITTEN; layout.pages() as usize];
        let mut filled = vec![0; user_pages.div_ceil(u64::BITS) as usize];
        for page in (0..user_pages).map(Lpn) {
            if let Some(place) = place(page) {
                contents[place.index()] = whole(page, 0);
                filled[page.index() / 64] |= 1 << (page.0 % 64);
            }
        }
        Self {
            layout,
            pages: FxHashMap::default(),
            filled,
            contents,
            reads_checked: 0,
            writes_followed: 0,
        }
    }

    /// Returns the memory of the oracle for a device with the given fill.
    pub fn memory(layout: &Layout, user_pages: u32, fill: Fill) -> [Table; 3] {
        // A hash map has twice as many slots as entries just after it has grown.
        type Place = [(Lpn, PageHistory); 2];
        let (pages, words) = (layout.pages().into(), user_pages.div_ceil(u64::BITS).into());
        [
            Table::zeroed::<u64>("contents for verification", pages, fill.physical),
            Table::zeroed::<u64>("filled pages for verification", words, fill.logical),
            Table::grown::<Place>("versions for verification", user_pages.into()),
        ]
    }

    /// Records that GC left a copy of `page` at `place`, which recovery may map again.
    pub fn copy_of(&mut self, page: Lpn, place: Ppn) {
        self.contents[place.index()] = whole(page, 0);
    }

    /// Swaps the contents of two physical pages.
    pub fn exchange(&mut self, one: Ppn, other: Ppn) {
        self.contents.swap(one.index(), other.index());
    }

    /// Returns the content of a page before its first recorded write.
    fn first(&self, page: Lpn) -> u64 {
        let filled = self.filled[page.index() / 64] >> (page.0 % 64) & 1 == 1;
        if filled { whole(page, 0) } else { UNWRITTEN }
    }

    /// Returns the history of a page. `filled` must be determined before the first write is placed,
    /// because it defines version 0.
    fn history(&mut self, page: Lpn, filled: bool) -> &mut PageHistory {
        self.pages.entry(page).or_insert_with(|| {
            let content = if filled { whole(page, 0) } else { UNWRITTEN };
            let mut first = Write::issued(Time::ZERO, Version::bare(0), content);
            first.acknowledged = Some(Time::ZERO);
            PageHistory {
                writes: VecDeque::from([first]),
                ..PageHistory::default()
            }
        })
    }

    /// Records a host write to bytes of `page` and returns its version. `filled` states whether the
    /// device maps the page at present.
    pub fn issue(
        &mut self,
        now: Time,
        page: Lpn,
        filled: bool,
        from: u32,
        bytes: u32,
        partial: bool,
    ) -> Version {
        self.writes_followed += 1;
        let history = self.history(page, filled);
        let base = history.writes.back().map_or(UNWRITTEN, |last| last.content);
        history.last += 1;
        let version = Version {
            number: history.last,
            from,
            bytes,
            partial,
        };
        let content = content(page, version, base);
        history
            .writes
            .push_back(Write::issued(now, version, content));
        version
    }
    /// Records a TRIM of `page` and returns its version. `filled` states whether the device maps
    /// the page at present.
    pub fn issue_trim(&mut self, now: Time, page: Lpn, filled: bool) -> Version {
        let history = self.history(page, filled);
        history.last += 1;
        let version = Version::bare(history.last);
        history
            .writes
            .push_back(Write::issued(now, version, UNWRITTEN));
        version
    }
    /// Records that the device writes `version` to `place`, and returns the content. `base` is the
    /// content that the device read to complete the page.
    pub fn write(&mut self, page: Lpn, version: Version, base: u64, place: Ppn) -> u64 {
        if let Some(history) = self.pages.get_mut(&page) {
            let mut writes = history.writes.iter_mut();
            if let Some(write) = writes.find(|write| write.version == version) {
                write.place = Some(place);
            }
        }
        content(page, version, base)
    }
    /// Records that the array has programmed `content`.
    pub fn program(&mut self, place: Ppn, content: u64) {
        self.contents[place.index()] = content;
    }
    /// Returns the content that the array reads.
    pub fn read(&self, place: Ppn) -> u64 {
        self.contents[place.index()]
    }
    /// Records the erase of the block that starts at `first`.
    pub fn erase(&mut self, first: Ppn) {
        let pages = self.layout.pages_per_block as usize;
        self.contents[first.index()..first.index() + pages].fill(UNWRITTEN);
    }
    /// Records that the device has acknowledged `version` to the host.
    pub fn acknowledge(&mut self, now: Time, page: Lpn, version: Version) {
        if let Some(history) = self.pages.get_mut(&page) {
            history.acknowledged = history.acknowledged.max(version.number);
            let mut writes = history.writes.iter_mut();
            if let Some(write) = writes.find(|write| write.version == version) {
                write.acknowledged = Some(now);
                if version.number == history.acknowledged {
                    history.trimmed = write.content == UNWRITTEN;
                }
            }
            Self::prune(history);
        }
    }
    /// Starts a read of `page`; returns the oldest version that it may return.
    pub fn begin_read(&mut self, page: Lpn, filled: bool) -> u32 {
        let history = self.history(page, filled);
        history.readers += 1;
        history.acknowledged
    }
    /// Checks the `content` that a read returned; the read started at version `oldest`. The error
    /// describes the difference and the history of the page.
    pub fn check(
        &mut self,
        now: Time,
        page: Lpn,
        oldest: u32,
        content: u64,
        place: Option<Ppn>,
    ) -> Result<(), String> {
        self.reads_checked += 1;
        let Some(history) = self.pages.get_mut(&page) else {
            return Ok(());
        };
        history.readers -= 1;
        let fits = |write: &Write| write.version.number >= oldest && write.content == content;
        if history.writes.iter().any(fits) {
            Self::prune(history);
            return Ok(());
        }
        Err(Self::describe(
            &self.layout,
            now,
            page,
            oldest,
            content,
            place,
            history,
        ))
    }
    /// Ends a read that returned an error instead of content.
    pub fn end_read(&mut self, page: Lpn) {
        if let Some(history) = self.pages.get_mut(&page) {
            history.readers -= 1;
            Self::prune(history);
        }
    }
    /// Records that power failed while the array worked on this page.
    pub fn tear(&mut self, place: Ppn) {
        self.contents[place.index()] = TORN;
    }
    /// Checks all pages after a power cut and recovery; `place` maps logical to physical pages.
    /// Each page must hold the last acknowledged version or a later one; a trimmed page may hold an
    /// earlier version again. The found version becomes the expected version.
    pub fn cut(
        &mut self,
        now: Time,
        user_pages: u32,
        place: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        for page in (0..user_pages).map(Lpn) {
            let place = place(page);
            let content = place.map_or(UNWRITTEN, |place| self.contents[place.index()]);
            let first = self.first(page);
            match self.pages.get_mut(&page) {
                Some(history) => {
                    Self::settle(&self.layout, now, page, content, place, history)?;
                }
                None if content == first => {}
                None => {
                    return Err(format!(
                        "verification failed at {now}, after a power cut: logical page {} does not hold its content from before the run",
                        page.0
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks all pages like [`ContentOracle::cut`], for an owner that may choose any version of a
    /// page: each mapped page must hold content that can be read. The found content becomes the
    /// expected content.
    pub fn adopt(
        &mut self,
        now: Time,
        user_pages: u32,
        place: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        for page in (0..user_pages).map(Lpn) {
            let Some(place) = place(page) else {
                if let Some(history) = self.pages.get_mut(&page) {
                    let number = history.last;
                    history.keep(Write::kept(now, number, UNWRITTEN, None));
                }
                continue;
            };
            let content = self.contents[place.index()];
            if matches!(content, UNWRITTEN | TORN) {
                return Err(format!(
                    "verification failed at {now}, after a power cut: logical page {} is at {}, which cannot be read",
                    page.0,
                    self.layout.describe(place)
                ));
            }
            let history = self.pages.entry(page).or_default();
            let number = history.last;
            history.keep(Write::kept(now, number, content, Some(place)));
        }
        Ok(())
    }

    fn settle(
        layout: &Layout,
        now: Time,
        page: Lpn,
        content: u64,
        place: Option<Ppn>,
        history: &mut PageHistory,
    ) -> Result<(), String> {
        let acknowledged = history.acknowledged;
        let holds = |write: &&Write| {
            let late = write.version.number >= acknowledged || history.trimmed;
            late && write.content == content
        };
        let found = history.writes.iter().rev().find(holds).cloned();
        let first = history.writes.front();
        let forgotten = first.is_some_and(|first| first.version.number > 0);
        let kept = match found {
            Some(write) => write,
            None if history.trimmed && forgotten && content != TORN => {
                Write::kept(now, acknowledged, content, place)
            }
            None => {
                let text = Self::describe(layout, now, page, acknowledged, content, place, history);
                return Err(format!("after a power cut: {text}"));
            }
        };
        history.keep(kept);
        Ok(())
    }
    /// Returns the version that the flash is known to hold. This is the last acknowledged version
    /// or, after a power cut, the version that was found; 0 for data from before the run.
    pub fn holds(&self, page: Lpn) -> u32 {
        self.pages
            .get(&page)
            .map_or(0, |history| history.acknowledged)
    }
    /// Returns the content of a page that is not mapped.
    pub const fn unwritten() -> u64 {
        UNWRITTEN
    }

    fn prune(history: &mut PageHistory) {
        let acknowledged = history.acknowledged;
        let old = |write: &Write| write.version.number < acknowledged;
        while history.readers == 0
            && history.writes.len() > KEPT
            && history.writes.front().is_some_and(old)
        {
            history.writes.pop_front();
        }
    }

    fn describe(
        layout: &Layout,
        now: Time,
        page: Lpn,
        oldest: u32,
        content: u64,
        place: Option<Ppn>,
        history: &PageHistory,
    ) -> String {
        let from = place.map_or("nowhere".to_owned(), |place| layout.describe(place));
        let found = history.writes.iter().find(|write| write.content == content);
        let what = match found {
            Some(write) => format!("the stale version {}", write.version.number),
            None if content == UNWRITTEN => "nothing".to_owned(),
            None => "content that was never written there".to_owned(),
        };
        let mut text = format!(
            "verification failed at {now}: the read of logical page {} returned {what} from {from}; expected version {oldest} or newer. History of the page:",
            page.0
        );
        for write in &history.writes {
            let Version {
                number,
                from,
                bytes,
                partial,
            } = write.version;
            let place = write
                .place
                .map_or("place unknown".to_owned(), |place| layout.describe(place));
            let acknowledged = write
                .acknowledged
                .map_or("not acknowledged".to_owned(), |time| {
                    format!("acknowledged {time}")
                });
            let kind = if partial {
                format!("bytes {from}+{bytes}")
            } else {
                "whole page".to_owned()
            };
            let _ = write!(
                text,
                "\n  version {number}: {kind}, issued {}, {acknowledged}, {place}",
                write.issued
            );
        }
        text
    }
}
