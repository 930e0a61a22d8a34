//! Which flash operations of the host go to their dies next (Jung 2013, chapter 6).
//!
//! Operations wait in an [`IssueQueue`] until a scheduler commits them. A scheduler sees the queue and what
//! is committed to the dies; it may pass earlier requests, but never what an operation depends on:
//! only operations that are ready ([`IssueQueue::is_ready`]) may be chosen. Operations of garbage
//! collection do not wait in the queue.

mod clump;
#[cfg(test)]
mod examples;
pub mod immediate;
mod in_order;
pub mod issue_queue;
#[cfg(test)]
mod naive;
pub mod ncq;
mod pack;
mod page_by_page;
pub mod paq0;
pub mod paq1;
pub mod paq2;
pub mod read_first;
pub mod sprinkler;
pub mod vaq;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Die, Operation};

pub use issue_queue::{EntryId, IssueQueue, Waiting};
use wordline_block::Ticket;

/// What is committed to a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Reads and programs of the host that are committed and not done.
    pub counts: [u32; 2],
    /// Whether the array has started to work for the command that the die is at.
    pub array_begun: bool,
}

impl Load {
    /// Operations of the host that are committed and not done. Those of collections are not counted:
    /// what is committed while a die collects goes to the end of its queue.
    #[inline]
    pub fn committed(&self) -> u32 {
        let [reads, programs] = self.counts;
        reads + programs
    }
    /// The count of an operation of the host.
    #[inline]
    pub fn of(&mut self, operation: Operation) -> &mut u32 {
        &mut self.counts[usize::from(operation != Operation::Read)]
    }
}

/// What a scheduler sees.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The time.
    pub now: Time,
    /// What waits.
    pub queue: &'a IssueQueue,
    /// What is committed, by die.
    pub loads: &'a [Load],
    /// Whether operations can become one command at all (`ssd.composition`).
    pub joins: bool,
}

impl View<'_> {
    /// What is committed to a die.
    #[inline]
    pub fn load(&self, die: Die) -> Load {
        self.loads[die.index()]
    }
    /// Operations of the host that are committed to a package and not done.
    pub fn committed(&self, package: u32) -> u32 {
        let dies = self.queue.dies_of_package(package);
        dies.map(|die| self.load(die).committed()).sum()
    }
    /// Whether commands, addresses or data for a die of the package are still to be sent before its
    /// array can work.
    pub fn is_issuing(&self, package: u32) -> bool {
        let mut loads = self
            .queue
            .dies_of_package(package)
            .map(|die| self.load(die));
        loads.any(|load| load.committed() > 0 && !load.array_begun)
    }
    /// For each die of the package to which nothing of the host is committed, the first read and the
    /// first program that are ready. All that stand behind them in the queue are like them to a
    /// scheduler that looks at kinds and dies only.
    pub fn firsts(&self, package: u32) -> impl Iterator<Item = EntryId> + '_ {
        let dies = self.queue.dies_of_package(package);
        let free = dies.filter(|die| self.load(*die).committed() == 0);
        free.flat_map(move |die| {
            let kinds = [Operation::Read, Operation::Program].into_iter();
            kinds.filter_map(move |operation| self.queue.first_ready(die, operation))
        })
    }
    /// The one in a package that has waited longest, if it has for longer than `bound` and is ready.
    /// None if `bound` is zero.
    pub fn overdue(&self, package: u32, bound: Time) -> Option<EntryId> {
        if bound == Time::ZERO {
            return None;
        }
        let oldest = self.queue.oldest(package)?;
        let waits = self.now - self.queue.get(oldest).since;
        (waits > bound && self.queue.is_ready(oldest)).then_some(oldest)
    }
}

/// Packages for which something has changed since the scheduler last had nothing to commit there.
pub type Changed = BTreeSet<u32>;

/// Commits operations to dies.
pub trait Schedule {
    /// Whether operations of this kind wait in the queue; the others are committed at once.
    fn holds(&self, _operation: Operation) -> bool {
        true
    }
    /// Chooses what is committed next, together: puts it into `group`, or leaves that empty if there
    /// is nothing to commit until something changes. Packages for which that is so leave `changed`.
    /// Chosen operations are ready, or what has to come before them stands before them in the group.
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>);
    /// A request is done.
    fn done(&mut self, _ticket: Ticket) {}
    /// What it takes to choose a group.
    fn search(&self) -> Time {
        Time::ZERO
    }
    /// Whether it builds commands of several planes out of what waits.
    fn packs(&self) -> bool {
        false
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which flash operations of the host are issued to their dies next?
            pub enum Scheduler at "ssd.scheduler" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The scheduler of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Scheduling { $($Variant($file::State)),+ }

        impl Scheduling {
            /// The state of `policy` before the first request.
            pub fn new(policy: &Scheduler) -> Self {
                match policy { $(Scheduler::$Variant(policy) => Self::$Variant($file::State::new(policy))),+ }
            }
        }

        wordline_kernel::forward! {
            impl Schedule for Scheduling by [$($Variant),+] {
                fn holds(&self, operation: Operation) -> bool;
                fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>);
                fn done(&mut self, ticket: Ticket);
                fn search(&self) -> Time;
                fn packs(&self) -> bool;
            }
        }
    };
}

members! {
    "immediate" => Immediate(immediate),
    "vaq" => Vaq(vaq),
    "ncq" => Ncq(ncq),
    "paq0" => Paq0(paq0),
    "paq1" => Paq1(paq1),
    "paq2" => Paq2(paq2),
    "sprinkler" => Sprinkler(sprinkler),
    "read-first" => ReadFirst(read_first),
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::Immediate(immediate::Immediate::default())
    }
}

/// Microseconds of a configuration.
fn us(time: f64) -> Time {
    Time::from_ps((time * 1e6).round() as u64)
}
