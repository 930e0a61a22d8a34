//! Reallocation of space between reads, writes and over-provisioning.
//!
//! A list that shrinks evicts pages by the replacement policy: one per host request, and more while
//! the backing store is idle. Dirty pages are destaged first. A list grows only by space that the
//! lists have released, so that GC always has its reserve.

use serde::{Deserialize, Serialize};
use wordline_block::BlockDevice;
use wordline_kernel::Probe;
use wordline_partition::{Divide, Kind, Learned, Partition, Partitioning, Sizes};

use super::destage::Purpose;
use super::event::{Chosen, Lists, Observation};
use super::plan::Plan;
use super::{Cached, Instant, Result};

/// Partition policy and its target sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Division {
    /// Partition policy; `None` if the sizes are fixed.
    policy: Option<Box<Partitioning>>,
    /// Target lengths of the lists. Pages.
    targets: Vec<usize>,
    /// Total number of pages of the flash.
    total_pages: u32,
    /// Whether the capacities of the lists equal the targets.
    is_settled: bool,
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

impl Division {
    pub fn new(plan: &Plan) -> Self {
        let policy = Partitioning::new(&plan.partition, &plan.space, plan.seed);
        let stays = matches!(plan.partition, Partition::Unified(_) | Partition::Split(_));
        Self {
            targets: targets(policy.start(), policy.is_split()),
            policy: (!stays).then(|| Box::new(policy)),
            total_pages: plan.space.total_pages,
            is_settled: true,
            changes: 0,
        }
    }
    /// Resets the state after a power failure, except the counter. The policy loses what it has
    /// learned, and its period starts over.
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
    /// Returns `true` if the lists have reached their target sizes.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.is_settled
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
            self.division.targets = targets(sizes, policy.is_split());
            self.division.is_settled = false;
            self.division.changes += 1;
        }
        if !self.division.is_settled {
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
        while !self.division.is_settled
            && self.in_background == 0
            && self.below.is_idle()
            && self.resize(cx)?
        {}
        Ok(())
    }
    /// Evicts a page from the list that exceeds its target most, if any, and assigns free space to
    /// lists below their target. Returns `true` if a page was evicted.
    fn resize(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<bool, B> {
        let targets = &self.division.targets;
        let (residents, pages) = self.flash.mapping_mut().parts();
        let lens: Vec<usize> = residents.lens().collect();
        let mut limits: Vec<usize> = residents.limits().collect();
        let excess = |list: &usize| lens[*list].saturating_sub(targets[*list].max(1));
        let longest = (0..lens.len()).max_by_key(excess);
        let longest = longest.filter(|list| excess(list) > 0);
        for list in 0..lens.len() {
            let target = targets[list].max(1);
            let limit = if Some(list) == longest {
                lens[list] - 1
            } else {
                limits[list].min(lens[list].max(target))
            };
            if limit != limits[list] {
                residents.resize(list, limit, pages);
                limits[list] = limit;
            }
        }
        let all: usize = targets.iter().map(|target| (*target).max(1)).sum();
        let held = limits.iter().sum::<usize>() + residents.leaving() as usize;
        let mut room = all.saturating_sub(held);
        for (list, target) in targets.iter().enumerate() {
            let more = target.saturating_sub(limits[list]).min(room);
            if more > 0 {
                room -= more;
                limits[list] += more;
                residents.resize(list, limits[list], pages);
            }
        }
        self.division.is_settled =
            (targets.iter().zip(&limits)).all(|(target, limit)| (*target).max(1) == *limit);
        let mut victims = Vec::new();
        residents.victims(&mut victims);
        if !victims.is_empty() {
            self.destage(cx, Purpose::Resize, 0, victims)?;
        }
        Ok(longest.is_some())
    }
}
