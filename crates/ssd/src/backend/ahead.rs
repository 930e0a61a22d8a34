//! Physical read-ahead (`buffer.read_ahead.physical`): a die reads the page after the one that the
//! host has read, while no operation needs the die.
//!
//! A separate command occupies the die until the array has read the page. The page stays in the
//! data register until the next command of the die. If that command reads this page alone, it takes
//! the page from the register.

use serde::{Deserialize, Serialize};
use wordline_dram_buffer::read_ahead::Physical;
use wordline_kernel::Time;
use wordline_nand::{Array, Die, Full, Operation, Ppn};

use super::BackEnd;
use super::listener::ChannelListener;
use super::transaction::NONE;
use super::transaction::{Order, PageConditions, Purpose};
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, Observation};
use wordline_io_scheduler::Slot;

/// Contents of a die's registers, now or at the end of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Held {
    /// No page that a read can use.
    Nothing,
    /// A page that the host requested.
    Read(Ppn),
    /// A page that the array is reading ahead.
    Coming(Ppn),
    /// A page that was read ahead.
    Ahead(Ppn),
    /// A page that was read ahead and is being sent over the bus. Since `since`, the array has been
    /// reading the next page, `behind`, if there is one.
    Out {
        place: Ppn,
        behind: Option<Ppn>,
        since: Time,
    },
}

/// Read-ahead state of all dies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ahead {
    /// Time to abort a read; `None` if reads cannot be aborted.
    abort: Option<Time>,
    held: Vec<Held>,
    /// Dies on which a host read of one page has ended at this instant.
    idle: Vec<Die>,
    /// Method of the next read command.
    sensing: Sensing,
}

impl Ahead {
    pub(super) fn new(policy: &Physical, dies: u32) -> Self {
        Self {
            abort: (policy.abort_ns > 0).then(|| Time::from_ns(policy.abort_ns.into())),
            held: vec![Held::Nothing; dies as usize],
            idle: Vec::new(),
            sensing: Sensing::Plain,
        }
    }
}

/// Method of a page read on dies that read ahead.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) enum Sensing {
    /// Normal read.
    #[default]
    Plain,
    /// Speculative read of a page that the host has not requested.
    Ahead,
    /// Cache read: the page is in the register; the page after it is read now, if one is given.
    Cached(Option<Ppn>),
}

impl BackEnd {
    /// Returns `true` if this transaction is a host read, and the idle die has read its page ahead
    /// into the data register.
    pub(super) fn holds(&self, die: Die, slot: Slot) -> bool {
        let Some(ahead) = &self.ahead else {
            return false;
        };
        let transaction = self.get(slot);
        transaction.purpose == Purpose::Read
            && ahead.held[die.index()] == Held::Ahead(transaction.place)
    }

    /// Selects the read method of a command of `pages` pages that is about to start on a die.
    pub(super) fn look_at_registers(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        (head, pages): (Slot, u32),
        array: &Array,
    ) {
        if self.ahead.is_none() {
            return;
        }
        let is_there = pages == 1 && self.holds(die, head);
        let transaction = self.get(head);
        let (purpose, place) = (transaction.purpose, transaction.place);
        let repeats = self.table.graded(head).retries > 0;
        let state = self.channels.of(die);
        let is_wanted = state.first != NONE || state.suspended.is_some();
        let behind = self.behind(place, array).filter(|_| !is_wanted && !repeats);
        let Some(ahead) = &mut self.ahead else {
            return;
        };
        let (held, sensing) = match purpose {
            Purpose::ReadAhead => (Held::Coming(place), Sensing::Ahead),
            Purpose::Read if is_there => {
                let since = Time::ZERO;
                let out = Held::Out {
                    place,
                    behind,
                    since,
                };
                (out, Sensing::Cached(behind))
            }
            Purpose::Read if pages == 1 => (Held::Read(place), Sensing::Plain),
            _ => (Held::Nothing, Sensing::Plain),
        };
        ahead.held[die.index()] = held;
        ahead.sensing = sensing;
        if matches!(sensing, Sensing::Cached(_)) {
            cx.observe(Observation::ReadAhead { used: true });
        }
    }

    /// Marks the registers of a die as reused by a suspended operation that resumes.
    pub(super) fn forget_registers(&mut self, die: Die) {
        if let Some(ahead) = &mut self.ahead {
            ahead.held[die.index()] = Held::Nothing;
        }
    }

    /// Takes the read method of the command that starts now.
    pub(super) fn sensing(&mut self) -> Sensing {
        let ahead = self.ahead.as_mut();
        ahead.map_or(Sensing::Plain, |ahead| std::mem::take(&mut ahead.sensing))
    }

    /// Returns the page after `place` in its block, if it is programmed.
    fn behind(&self, place: Ppn, array: &Array) -> Option<Ppn> {
        let is_last = self.layout.page_in_block(place) + 1 == self.layout.pages_per_block;
        let behind = Ppn(place.0 + 1);
        (!is_last && array.read(behind).is_ok()).then_some(behind)
    }

    /// Handles the end of a step of a die's command, and of the array operation `worked` if one has
    /// ended. Returns `true` if a page that was read ahead is now available.
    pub(super) fn brings(&mut self, now: Time, die: Die, worked: Option<Operation>) -> bool {
        let Some(ahead) = &mut self.ahead else {
            return false;
        };
        match &mut ahead.held[die.index()] {
            Held::Out {
                behind: Some(_),
                since,
                ..
            } => {
                *since = now;
                true
            }
            Held::Out { behind: None, .. } => worked.is_none(),
            _ => false,
        }
    }

    /// Updates the registers at the end of a die's command, before the next one starts.
    pub(super) fn end_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        let Some(ahead) = &mut self.ahead else {
            return;
        };
        let held = &mut ahead.held[die.index()];
        match *held {
            Held::Coming(place) => *held = Held::Ahead(place),
            Held::Out {
                behind: Some(behind),
                since,
                ..
            } => {
                *held = Held::Coming(behind);
                self.await_ahead(cx, die, behind, since);
            }
            // This also applies after retries: the page is then in the data register as after other
            // reads.
            Held::Out { place, .. } | Held::Read(place) => {
                *held = Held::Read(place);
                if self.to_begin.is_empty() && ahead.idle.is_empty() {
                    cx.schedule(cx.now, Kind::Begin);
                }
                ahead.idle.push(die);
            }
            Held::Nothing | Held::Ahead(_) => {}
        }
    }

    /// Starts reading ahead on the dies that became idle at this instant and still are.
    pub(super) fn run_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, array: &Array) {
        let Some(ahead) = &mut self.ahead else {
            return;
        };
        for die in std::mem::take(&mut ahead.idle) {
            let state = self.channels.of(die);
            let is_idle = state.command.head == NONE && state.first == NONE;
            let held = self.ahead.as_ref().map(|ahead| ahead.held[die.index()]);
            if is_idle
                && state.suspended.is_none()
                && let Some(Held::Read(place)) = held
                && let Some(behind) = self.behind(place, array)
            {
                let single = array.is_single_level(self.layout.block_of(behind));
                let slot = self.admit_ahead(cx, behind, single);
                self.look_at_registers(cx, die, (slot, 1), array);
                self.start::<Full>(cx, die, slot, 1);
            }
        }
    }

    /// Admits the read of a page that the host has not requested.
    fn admit_ahead(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        place: Ppn,
        single_read: bool,
    ) -> Slot {
        cx.observe(Observation::ReadAhead { used: false });
        self.grade_next(PageConditions {
            single_read,
            ..PageConditions::default()
        });
        let die = self.layout.die_of_page(place);
        let slot = self.admit(cx.now, die, &Order::new(Purpose::ReadAhead, place, 0, 0));
        *self.loads[die.index()].of(Operation::Read) += 1;
        slot
    }

    /// Lets the array of a die continue to read ahead after a page was sent. Aborts the read if
    /// another operation needs the die ([`BackEnd::abort_ahead`]).
    fn await_ahead(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        place: Ppn,
        since: Time,
    ) {
        let slot = self.admit_ahead(cx, place, false);
        let state = self.channels.of_mut(die);
        let began = (cx.now, state.gc.read(cx.now));
        state.gc.start(cx.now, false);
        state.command.begin(began, slot, Operation::Read, false, 1);
        state.command.busy_since = since;
        let mut listener = ChannelListener::<_, Full>::new(&self.table, cx.queue, cx.probe);
        let until = self.channels.await_array(cx.now, die, &mut listener);
        self.channels.of_mut(die).usage.cell += until - cx.now;
        self.abort_ahead(cx, die);
    }

    /// Aborts the read-ahead of a die that another operation needs, if possible and unless that
    /// operation reads the same page.
    pub(super) fn abort_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        let Some(ahead) = &mut self.ahead else {
            return;
        };
        let (Some(latency), Held::Coming(place)) = (ahead.abort, ahead.held[die.index()]) else {
            return;
        };
        let first = self.channels.of(die).first;
        if first == NONE {
            return;
        }
        let wanted = &self.table.transactions[first as usize];
        if wanted.purpose == Purpose::Read && wanted.place == place {
            return;
        }
        let mut listener = ChannelListener::<_, Full>::new(&self.table, cx.queue, cx.probe);
        let Some(saved) = self.channels.abort(cx.now, die, latency, &mut listener) else {
            return;
        };
        ahead.held[die.index()] = Held::Nothing;
        let usage = &mut self.channels.of_mut(die).usage;
        usage.array[Operation::Read as usize] -= saved;
        usage.cell -= saved;
    }

    /// Returns the number of pages or blocks on which the array has worked for the finished command
    /// of a die: 0 if the page was in the register or its read was aborted.
    pub(super) fn sensed(&self, die: Die, pages: u32) -> u32 {
        let Some(ahead) = &self.ahead else {
            return pages;
        };
        let was_ahead = self.get(self.channels.of(die).command.head).purpose == Purpose::ReadAhead;
        match ahead.held[die.index()] {
            Held::Out { .. } => 0,
            Held::Nothing if was_ahead => 0,
            _ => pages,
        }
    }
}
