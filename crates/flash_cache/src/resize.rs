//! Reallocation of space between reads, writes and over-provisioning.
//!
//! To increase over-provisioning, the lists evict pages by the replacement policy: one per host
//! request, and more while the backing store is idle. Dirty pages are destaged first. If only the
//! border between the lists moves, nothing is evicted in advance. The list above its target then
//! evicts pages when the list below its target needs space. (OP-FCL, section 5, evicts pages to
//! increase over-provisioning, and in a full cache for new pages.) The lists grow only into space
//! that they have released, so that GC always has its reserve.

use serde::{Deserialize, Serialize};
use wordline_block::BlockDevice;
use wordline_kernel::Probe;
use wordline_partition::{Divide, Kind, Learned, Partition, Partitioning, Sizes};

use super::destage::Purpose;
use super::event::{CachedError, Chosen, Lists, Observation};
use super::plan::Plan;
use super::residents::{Accessed, Held};
use super::{Cached, Instant, Result};

/// Partition policy and its target sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Division {
    /// Partition policy; `None` if the sizes are fixed.
    policy: Option<Box<Partitioning>>,
    /// Target lengths of the lists. Pages. If the lists share all pages, each target is the total.
    targets: Vec<usize>,
    /// Sum of the target lengths, or the pages that the lists share.
    whole: usize,
    /// Maximum total number of pages in the lists at present. It equals `whole`, unless the lists
    /// are still evicting pages or destages of evicted pages are outstanding.
    room: usize,
    /// Total number of pages of the flash.
    total_pages: u32,
    /// Whether the lists share all pages.
    is_shared: bool,
    /// Number of changes of the target sizes.
    pub changes: u64,
}

fn targets(sizes: Sizes, is_split: bool) -> Vec<usize> {
    if is_split {
        vec![sizes.read as usize, sizes.write as usize]
    } else {
        vec![sizes.pages() as usize]
    }
}

/// Returns the sum of the target lengths, but at least a page per list.
fn whole(targets: &[usize]) -> usize {
    targets.iter().sum::<usize>().max(targets.len())
}

impl Division {
    pub fn new(plan: &Plan) -> Self {
        let policy = Partitioning::new(&plan.partition, &plan.space, plan.seed);
        let stays = matches!(plan.partition, Partition::Unified(_) | Partition::Split(_));
        let is_shared = policy.starts_undivided();
        let (targets, whole) = if is_shared {
            let pages = policy.start().pages() as usize;
            (vec![pages; 2], pages.max(2))
        } else {
            let targets = targets(policy.start(), policy.is_split());
            let whole = whole(&targets);
            (targets, whole)
        };
        Self {
            targets,
            whole,
            room: whole,
            is_shared,
            policy: (!stays).then(|| Box::new(policy)),
            total_pages: plan.space.total_pages,
            changes: 0,
        }
    }
    /// Resets the state after a power failure, except the counter. The policy loses its statistics,
    /// and its period starts over.
    pub fn forget(&mut self, plan: &Plan) {
        *self = Self {
            changes: self.changes,
            ..Self::new(plan)
        };
    }
    /// Returns `true` if there is a partition policy that observes requests.
    #[inline]
    pub fn is_told(&self) -> bool {
        self.policy.is_some()
    }
    /// Returns the victim model of the partition policy, if it has one.
    pub fn learned(&self) -> Option<Learned> {
        self.policy.as_ref()?.learned()
    }
    /// Returns the target sizes of the parts of the flash.
    pub fn chosen(&self) -> Chosen {
        let (reads, writes) = match self.targets[..] {
            [_, all] if self.is_shared => (0, all as u32),
            [reads, writes] => (reads as u32, writes as u32),
            [all] => (0, all as u32),
            _ => unreachable!("there are one or two lists"),
        };
        Chosen {
            reads,
            writes,
            spare: self.total_pages.saturating_sub(reads + writes),
        }
    }
    /// Returns `true` if the lists together have reached their target size. The border between them
    /// may still move.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.room == self.whole
    }
    /// Returns `true` if there are two lists whose border moves.
    #[inline]
    fn has_border(&self) -> bool {
        self.policy.is_some() && self.targets.len() == 2
    }
    /// Returns the maximum total number of pages in the lists at present.
    #[inline]
    pub fn room(&self) -> usize {
        self.room
    }
    /// Returns `true` if the target of the write list (`write`), or of the read list, is above 0.
    pub fn takes(&self, write: bool) -> bool {
        let list = usize::from(write).min(self.targets.len() - 1);
        self.targets[list] > 0
    }
}

impl<B: BlockDevice> Cached<B> {
    /// Reports the start of a host request to the partition policy.
    #[inline]
    pub(super) fn tell_request(&mut self) {
        if let Some(policy) = &mut self.division.policy {
            policy.request();
        }
    }
    /// Reports an access to a page to the partition policy, and whether it hit. Not called for
    /// requests that bypass the cache.
    #[inline]
    pub(super) fn tell_page(&mut self, page: u64, write: bool) {
        if self.division.policy.is_none() {
            return;
        }
        let is_written = self.residents().is_written(page);
        let (kind, hit) = match (write, is_written) {
            (true, held) => (Kind::Write, held),
            (false, true) => (Kind::ReadOfWritten, true),
            (false, false) => (Kind::Read, self.residents().find(page).is_some()),
        };
        if let Some(policy) = &mut self.division.policy {
            policy.page(page, kind, hit);
        }
    }
    /// Applies the partition policy's decision after a request has been reported: the target sizes
    /// may change, and a list above its target evicts a page.
    #[inline]
    pub(super) fn divide(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        let Some(policy) = &mut self.division.policy else {
            return Ok(());
        };
        if let Some(sizes) = policy.decide() {
            let targets = targets(sizes, policy.is_split());
            self.divide_into(targets);
        }
        if !self.division.is_settled() {
            self.resize(cx)?;
        }
        self.tell_lists(cx);
        Ok(())
    }
    fn tell_lists(&self, cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>) {
        let mut lens = self.residents().lens();
        let first = lens.next().unwrap_or_default() as u32;
        let (reads, writes) = match lens.next() {
            Some(writes) => (first, writes as u32),
            None => (0, first),
        };
        let chosen = self.division.chosen();
        cx.observe(Observation::Lists(Lists {
            reads,
            writes,
            chosen,
        }));
    }
    /// Continues resizing while the backing store is idle.
    pub(super) fn resize_in_idle_time(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        while !self.division.is_settled()
            && self.in_background == 0
            && self.below.is_idle()
            && self.resize(cx)?
        {}
        Ok(())
    }
    /// Sets the targets of the lists. A list above its target may keep its length but not grow.
    fn divide_into(&mut self, targets: Vec<usize>) {
        let (residents, pages) = self.flash.mapping_mut().parts();
        if let [_, _] = targets[..] {
            for (list, target) in targets.iter().enumerate() {
                let limit = residents.len_of(list).max(*target);
                residents.resize(list, limit, pages);
            }
        }
        let division = &mut self.division;
        division.whole = whole(&targets);
        division.targets = targets;
        division.is_shared = false;
        division.changes += 1;
    }
    /// Evicts a group of pages so that a new `page` can enter a list, if the lists together are
    /// full. The group comes from the other list if that list is above its target and this list is
    /// below its target; otherwise it comes from this list. A list keeps its last page.
    #[inline]
    pub(super) fn give_way(&mut self, page: u64, write: bool) {
        if !self.division.has_border() {
            return;
        }
        let (residents, pages) = self.flash.mapping_mut().parts();
        if residents.len() < self.division.room || residents.find(page).is_some() {
            return;
        }
        let group = (self.plan.group_pages as usize).max(1);
        let targets = &self.division.targets;
        let list = residents.list(write);
        let other = 1 - list;
        let (here, there) = (residents.len_of(list), residents.len_of(other));
        let excess = there.saturating_sub(targets[other].max(1));
        if here < targets[list] && excess > 0 {
            residents.resize(other, there - group.min(excess), pages);
        } else if here > 1 {
            residents.evict(list, group, pages);
        }
    }
    /// Handles a request for a page as [`Residents::access`] does. If the lists together are full
    /// and the page enters a list, that list evicts a page; if it has none, the other list does.
    #[inline]
    pub(super) fn access(&mut self, page: u64, write: bool) -> Result<Accessed, B> {
        let (residents, pages) = self.flash.mapping_mut().parts();
        let room = self.division.room;
        let has_room = !self.division.has_border() || residents.len() < room;
        if has_room || matches!(residents.find(page), Some((_, Held::Resident))) {
            let accessed = residents.access(page, write, pages);
            return accessed.map_err(CachedError::Full);
        }
        let list = residents.list(write);
        let limit = residents.limits().nth(list).unwrap_or_default();
        residents.resize(list, residents.len_of(list), pages);
        let accessed = residents.access(page, write, pages);
        residents.resize(list, limit, pages);
        if residents.len() > room {
            residents.evict(1 - list, 1, pages);
        }
        accessed.map_err(CachedError::Full)
    }
    /// If the lists together exceed their target size, evicts a page from the list that exceeds its
    /// target most. Otherwise assigns free space to the lists. Returns `true` if a page was
    /// evicted.
    fn resize(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<bool, B> {
        let division = &mut self.division;
        let (residents, pages) = self.flash.mapping_mut().parts();
        let whole = division.whole;
        let is_over = residents.len() > whole;
        if is_over {
            // A list keeps its last page.
            let excess = |list: &usize| {
                let len = residents.len_of(*list);
                let target = division.targets[*list].max(1);
                (len.saturating_sub(target), len)
            };
            let lists = 0..division.targets.len();
            let longest = lists.max_by_key(excess).unwrap_or_default();
            let kept = residents.len_of(longest) - 1;
            residents.resize(longest, kept, pages);
            division.room = residents.len();
        } else {
            division.room = division.room.min(residents.len().max(whole));
            let held = division.room + residents.leaving() as usize;
            division.room += (whole - division.room).min(whole.saturating_sub(held));
        }
        if let [_] = division.targets[..] {
            residents.resize(0, division.room, pages);
        }
        let mut victims = Vec::new();
        residents.victims(&mut victims);
        if !victims.is_empty() {
            self.destage(cx, Purpose::Resize, 0, victims)?;
        }
        Ok(is_over)
    }
}
