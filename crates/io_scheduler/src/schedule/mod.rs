//! Schedulers, which determine the order in which flash operations of host requests go to their
//! dies (Jung 2013, chapter 6).
//!
//! Operations wait in an [`IssueQueue`] until a scheduler commits them. A scheduler sees the queue
//! and the operations committed to the dies. It may overtake earlier requests but must respect
//! dependencies: it may choose only ready operations ([`IssueQueue::is_ready`]). GC operations do
//! not wait in the queue.

mod changed;
mod clump;
mod commands;
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

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Die, Operation};

pub use changed::Changed;
pub use issue_queue::{EntryId, IssueQueue, Waiting};
use wordline_block::Ticket;

/// Host operations committed to a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Numbers of committed host reads and host programs that are not done.
    pub counts: [u32; 2],
    /// Whether the array operation of the die's current command has started.
    pub array_begun: bool,
}

impl Load {
    /// Returns the number of committed host operations that are not done. GC operations are not
    /// counted: operations committed during GC of the die are appended to its queue.
    #[inline]
    pub fn committed(&self) -> u32 {
        let [reads, programs] = self.counts;
        reads + programs
    }
    /// Returns the counter of a kind of host operation.
    #[inline]
    pub fn of(&mut self, operation: Operation) -> &mut u32 {
        &mut self.counts[usize::from(operation != Operation::Read)]
    }
}

/// State that a scheduler sees.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Current time.
    pub now: Time,
    /// Waiting operations.
    pub queue: &'a IssueQueue,
    /// Committed operations, by die.
    pub loads: &'a [Load],
    /// Whether operations may share a command (`ssd.composition`).
    pub joins: bool,
}

impl View<'_> {
    /// Returns the operations committed to a die.
    #[inline]
    pub fn load(&self, die: Die) -> Load {
        self.loads[die.index()]
    }
    /// Returns the number of host operations that are committed to a package and not done.
    pub fn committed(&self, package: u32) -> u32 {
        let dies = self.queue.dies_of_package(package);
        dies.map(|die| self.load(die).committed()).sum()
    }
    /// Returns `true` if a die of the package still waits for commands, addresses or data before
    /// its array operation starts.
    pub fn is_issuing(&self, package: u32) -> bool {
        let mut loads = self
            .queue
            .dies_of_package(package)
            .map(|die| self.load(die));
        loads.any(|load| load.committed() > 0 && !load.array_begun)
    }
    /// Returns the operation with the smallest key among the first ready read and the first ready
    /// program of each die of the package that has no committed host operations; the first of
    /// equals. Later operations are equivalent for a scheduler that considers only the kind and the
    /// die.
    pub fn first_by<K: Ord>(&self, package: u32, key: impl Fn(EntryId) -> K) -> Option<EntryId> {
        let mut first: Option<EntryId> = None;
        for die in self.queue.dies_of_package(package) {
            if self.load(die).committed() > 0 {
                continue;
            }
            for operation in [Operation::Read, Operation::Program] {
                if let Some(id) = self.queue.first_ready(die, operation)
                    && first.is_none_or(|first| key(id) < key(first))
                {
                    first = Some(id);
                }
            }
        }
        first
    }
    /// Returns the operation of a package that has waited longest, if it is ready and has waited
    /// longer than `bound`. Returns `None` if `bound` is zero.
    #[inline]
    pub fn overdue(&self, package: u32, bound: Time) -> Option<EntryId> {
        if bound == Time::ZERO {
            return None;
        }
        let oldest = self.queue.oldest(package)?;
        let waits = self.now - self.queue.get(oldest).since;
        (waits > bound && self.queue.is_ready(oldest)).then_some(oldest)
    }
}

/// Scheduler, which commits operations to dies.
pub trait Schedule {
    /// Returns `true` if operations of this kind wait in the queue. Other kinds are committed at
    /// once.
    fn holds(&self, _operation: Operation) -> bool {
        true
    }
    /// Puts the operations to commit next, together, into `group`. Chosen operations are ready, or
    /// follow the operations that they depend on within the group. If nothing can be committed
    /// until a package changes, leaves the group empty and removes the package from `changed`.
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>);
    /// Records that a request is done.
    fn done(&mut self, _ticket: Ticket) {}
    /// Returns the simulated time that the choice of a group takes.
    fn search(&self) -> Time {
        Time::ZERO
    }
    /// Returns `true` if the scheduler needs a composition that allows multi-plane commands.
    fn packs(&self) -> bool {
        false
    }
    /// Returns `true` if the scheduler looks up operations by package or die. Otherwise `changed`
    /// is empty in every call of [`Schedule::choose`].
    fn keeps_places(&self) -> bool {
        true
    }
    /// Returns `true` if the scheduler calls [`View::overdue`] with a bound other than zero.
    fn has_age_bound(&self) -> bool {
        false
    }
    /// Returns `true` if the queue should maintain, as reads come and go, the multi-plane commands
    /// that its waiting reads can form.
    fn keeps_commands(&self) -> bool {
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

        /// Scheduler of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Scheduling { $($Variant($file::State)),+ }

        impl Scheduling {
            /// Creates the state of `policy` before the first request.
            pub fn new(policy: &Scheduler) -> Self {
                match policy { $(Scheduler::$Variant(policy) => Self::$Variant($file::State::new(policy))),+ }
            }
        }

        wordline_kernel::forward! {
            impl Schedule for Scheduling by [$($Variant),+] {
                #[inline]
                fn holds(&self, operation: Operation) -> bool;
                #[inline]
                fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>);
                #[inline]
                fn done(&mut self, ticket: Ticket);
                #[inline]
                fn search(&self) -> Time;
                fn packs(&self) -> bool;
                fn keeps_places(&self) -> bool;
                fn keeps_commands(&self) -> bool;
                fn has_age_bound(&self) -> bool;
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

/// Converts microseconds to simulated time.
fn us(time: f64) -> Time {
    Time::from_ps((time * 1e6).round() as u64)
}
