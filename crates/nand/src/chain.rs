//! Transactions as chains of stages (Jung 2013, section 2.7.1).
//!
//! A stage belongs to the bus or to the array. Stages that follow one another on the bus are done in
//! one *hold* of it; a chain is a list of holds. What the last cycle of a hold sets going
//! ([`Confirm`]) decides when the die is ready for the next one.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Rng, Time};
use wordline_reliability::{ModeCosts, ProgramMode};

use crate::command::Command;
use crate::registers::{Busy, Confirm};
use crate::transaction::{Operation, Transaction};
use crate::{Cell, Geometry, Latencies, Layout, Ppn, Timing};

/// What a stage holds while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The bus that the dies share.
    Bus,
    /// The memory array of the die.
    Array,
}

/// A step of a command chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Command latch cycle.
    Cle,
    /// Address latch cycles.
    Ale,
    /// Data into the register.
    Tir,
    /// Data out of the register.
    Tor,
    /// Register to cell array: program.
    Tin,
    /// Cell array to register: read.
    Ton,
    /// Block erase.
    Ber,
    /// Status read: a command cycle and a status byte.
    Status,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 8] = [
        Self::Cle,
        Self::Ale,
        Self::Tir,
        Self::Tor,
        Self::Tin,
        Self::Ton,
        Self::Ber,
        Self::Status,
    ];

    /// What the stage holds.
    pub const fn resource(self) -> Resource {
        match self {
            Self::Tin | Self::Ton | Self::Ber => Resource::Array,
            _ => Resource::Bus,
        }
    }
    /// The field's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cle => "CLE",
            Self::Ale => "ALE",
            Self::Tir => "TIR",
            Self::Tor => "TOR",
            Self::Tin => "TIN",
            Self::Ton => "TON",
            Self::Ber => "BER",
            Self::Status => "status",
        }
    }
    /// The stage of an array at work on an operation; a move reads first and then programs.
    pub const fn of_array(confirm: Confirm) -> Option<Self> {
        match confirm {
            Confirm::Read(_) | Confirm::CacheRead(_) | Confirm::ReadAhead(_) => Some(Self::Ton),
            Confirm::Program(_) | Confirm::CacheProgram(_) => Some(Self::Tin),
            Confirm::Erase(_) => Some(Self::Ber),
            Confirm::CacheReadEnd | Confirm::QueuePlane => None,
        }
    }
}

/// What is on the bus while a die holds it, in this order: a status read, data of some planes, a
/// command with address and data, its confirmation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// A status read.
    pub status: bool,
    /// Planes whose page is sent out.
    pub out: u8,
    /// Whether each of them is selected first (06h, address, E0h).
    pub select: bool,
    /// A command, with the address cycles that belong to it.
    pub first: Option<Command>,
    /// A page of data follows the address.
    pub data_in: bool,
    /// The command that ends the hold.
    pub confirm: Option<Command>,
}

impl Hold {
    /// Whether nothing is on the bus: the bus is not asked for.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        !self.status && self.out == 0 && self.first.is_none() && self.confirm.is_none()
    }
}

/// A hold of the bus and what it sets going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What is on the bus.
    pub hold: Hold,
    /// How long.
    pub bus: Time,
    /// What starts at its end; the next hold waits until the die is ready. Without it, the next
    /// hold asks for the bus at once.
    pub confirm: Option<Confirm>,
    /// What the array does then, if anything ([`Confirm::operation`]).
    pub array: Option<Operation>,
    /// Rows of the transaction that are done, and known to be, at its end.
    pub reports: u8,
}

/// All durations of one part: what every chain is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chains {
    cycle: Time,
    page_address: Time,
    row_address: Time,
    data: Time,
    busy: Busy,
    latencies: Latencies,
    /// What operations take by the mode of their page, where not all are alike.
    costs: Option<Box<ModeCosts>>,
    /// tR and tPROG of pages in single-level mode, where there are any.
    single_level: Option<Box<[Time; 2]>>,
    /// What tells that an operation is over: a status read, or nothing on the bus where a pin does.
    status: Hold,
    /// The two steps of a legacy operation on one page or block, by operation; the array times are to
    /// be filled in. A move is none.
    legacy: [[Step; 2]; 3],
}

const fn command(first: Command, data_in: bool, confirm: Command) -> Hold {
    Hold {
        status: false,
        out: 0,
        select: false,
        first: Some(first),
        data_in,
        confirm: Some(confirm),
    }
}

impl Chains {
    /// The chains of a part.
    pub fn new(geometry: &Geometry, timing: &Timing, cell: &Cell) -> Self {
        let cycle = Time::from_ns(timing.command_cycle_ns);
        let spare = if timing.transfer_spare {
            geometry.spare_bytes
        } else {
            0
        };
        let data = timing.transfer(u64::from(geometry.page_bytes) + u64::from(spare));
        let mut chains = Self {
            cycle,
            page_address: cycle * u64::from(timing.address_cycles),
            row_address: cycle * u64::from(timing.row_address_cycles),
            data,
            busy: Busy {
                cache: Time::from_ns(timing.cache_busy_ns),
                plane: Time::from_ns(timing.plane_busy_ns),
            },
            latencies: Latencies::new(geometry, timing, cell),
            costs: None,
            single_level: None,
            status: Hold {
                status: !timing.ready_busy_pin,
                ..Hold::default()
            },
            legacy: [[Step::IDLE; 2]; 3],
        };
        let status = chains.status;
        let read = command(Command::Read, false, Command::ReadConfirm);
        let program = command(Command::Program, true, Command::ProgramConfirm);
        let erase = command(Command::Erase, false, Command::EraseConfirm);
        let page_out = Hold { out: 1, ..status };
        chains.legacy = [
            [chains.step(read, 0), chains.step(page_out, 1)],
            [chains.step(program, 0), chains.step(status, 1)],
            [chains.step(erase, 0), chains.step(status, 1)],
        ];
        chains
    }

    /// The same with what operations take by the mode of their page. A write takes longer than its data on the bus.
    #[must_use]
    pub fn with_costs(mut self, costs: ModeCosts) -> Self {
        self.costs = Some(Box::new(costs));
        self
    }
    /// What operations take by the mode of their page, where not all are alike.
    pub fn costs(&self) -> Option<&ModeCosts> {
        self.costs.as_deref()
    }

    /// The same with tR and tPROG of pages in single-level mode.
    #[must_use]
    pub fn with_single_level(mut self, read: Time, program: Time) -> Self {
        self.single_level = Some(Box::new([read, program]));
        self
    }
    /// tR and tPROG of pages in single-level mode, where there are any.
    pub fn single_level(&self) -> Option<[Time; 2]> {
        self.single_level.as_deref().copied()
    }

    /// Whether a pin of each die tells that its operation is over, and not its status.
    pub const fn has_pins(&self) -> bool {
        !self.status.status
    }

    /// Short busy times.
    #[inline]
    pub const fn busy(&self) -> Busy {
        self.busy
    }
    /// Array times.
    pub const fn latencies(&self) -> &Latencies {
        &self.latencies
    }
    /// A page of data on the bus.
    pub const fn data(&self) -> Time {
        self.data
    }

    /// How long the array works on the page at `offset` of its block; `draws` is asked if the part
    /// has jitter. An erase has no offset. A move has two times: ask for its read and its program.
    #[inline]
    pub fn array_time(&self, operation: Operation, offset: u32, draws: &mut Rng) -> Time {
        let time = match operation {
            Operation::Read => self.latencies.read(offset),
            Operation::Program | Operation::Move => self.latencies.program(offset),
            Operation::Erase => self.latencies.erase,
        };
        self.varied(time, draws)
    }

    /// How long a legacy operation takes on an idle die and bus, without jitter.
    pub fn unloaded(&self, operation: Operation, offset: u32) -> Time {
        let time = |operation| self.array_time(operation, offset, &mut Rng::new(0, ""));
        let mut steps = Vec::new();
        match operation {
            Operation::Move => {
                self.push_move(
                    1,
                    time(Operation::Read),
                    time(Operation::Program),
                    &mut steps,
                );
            }
            _ => self.push_legacy(operation, time(operation), &mut steps),
        }
        self.price(ProgramMode::default(), &mut Rng::new(0, ""), &mut steps);
        let waits = steps.iter().filter_map(|step| step.confirm);
        let array = waits.map(|confirm| match confirm {
            Confirm::Read(time) | Confirm::Program(time) | Confirm::Erase(time) => time,
            _ => Time::ZERO,
        });
        steps.iter().map(|step| step.bus).sum::<Time>() + array.sum::<Time>()
    }

    /// Gives the steps of a chain the times of pages that were, or are to be, programmed in `mode`; nothing where all
    /// pages are alike. `draws` is asked for every array time if the part has jitter.
    pub fn price(&self, mode: ProgramMode, draws: &mut Rng, steps: &mut [Step]) {
        let Some(cost) = self.costs().map(|costs| costs.of(mode)) else {
            return;
        };
        let mut varied = |time| self.varied(time, draws);
        for step in steps {
            match &mut step.confirm {
                Some(Confirm::Read(time)) => *time = varied(cost.sense),
                Some(Confirm::Program(time)) => *time = varied(cost.write.since(self.data)),
                _ => {}
            }
            let out = u64::from(step.hold.out);
            step.bus += cost.transfer * out;
            step.bus -= self.data * out;
        }
    }
    /// An array time with its jitter; `draws` is asked for it if the part has any.
    #[inline]
    fn varied(&self, time: Time, draws: &mut Rng) -> Time {
        match self.latencies.jitter {
            0 => time,
            _ => self.latencies.jittered(time, draws.bits()),
        }
    }
    /// Gives the steps of a chain the array times of single-level mode: those of its reads, of its programs, or both. `draws` is asked for
    /// every one if the part has jitter.
    pub fn price_single_level(
        &self,
        reads: bool,
        programs: bool,
        draws: &mut Rng,
        steps: &mut [Step],
    ) {
        let Some([read, program]) = self.single_level() else {
            return;
        };
        let mut varied = |time| self.varied(time, draws);
        for step in steps {
            match &mut step.confirm {
                Some(Confirm::Read(time) | Confirm::CacheRead(time) | Confirm::ReadAhead(time))
                    if reads =>
                {
                    *time = varied(read);
                }
                Some(Confirm::Program(time) | Confirm::CacheProgram(time)) if programs => {
                    *time = varied(program);
                }
                _ => {}
            }
        }
    }
    /// Appends a further read of a page whose chain ends with its data: the array works for `sense`, and the data takes
    /// `transfer` on the bus (read retry).
    pub fn push_retry(&self, sense: Time, transfer: Time, steps: &mut Vec<Step>) {
        if let Some(last) = steps.last_mut() {
            last.reports = 0;
        }
        self.push_legacy(Operation::Read, sense, steps);
        if let Some(last) = steps.last_mut() {
            last.bus += transfer;
            last.bus -= self.data;
        }
    }

    /// Appends the read of the page behind the one that was read last into the data register, where it stays: the array works for `time`.
    pub fn push_read_ahead(&self, time: Time, steps: &mut Vec<Step>) {
        self.push_cache_command(Command::ReadCache, Confirm::ReadAhead(time), steps);
        steps.push(self.last_status());
    }
    /// Appends what sends such a page out; if a time is given, while the array works for it to read the page behind.
    pub fn push_read_cached(&self, next: Option<Time>, steps: &mut Vec<Step>) {
        let (command, confirm) = match next {
            Some(time) => (Command::ReadCache, Confirm::CacheRead(time)),
            None => (Command::ReadCacheEnd, Confirm::CacheReadEnd),
        };
        self.push_cache_command(command, confirm, steps);
        steps.push(self.collect(Operation::Read));
    }
    fn push_cache_command(&self, command: Command, confirm: Confirm, steps: &mut Vec<Step>) {
        steps.push(self.single(command));
        arm(steps, confirm);
    }

    /// Appends what follows on a program that has failed: the `copies` first pages of its block are read and programmed elsewhere, and
    /// the page behind them is programmed again, all over the bus, and all in the mode of that page.
    pub fn push_replacement(
        &self,
        copies: u32,
        mode: ProgramMode,
        draws: &mut Rng,
        steps: &mut Vec<Step>,
    ) {
        let from = steps.len();
        for offset in 0..copies {
            for operation in [Operation::Read, Operation::Program] {
                let time = self.array_time(operation, offset, draws);
                self.push_legacy(operation, time, steps);
            }
        }
        let time = self.array_time(Operation::Program, copies, draws);
        self.push_legacy(Operation::Program, time, steps);
        self.price(mode, draws, &mut steps[from..]);
        let reporting = steps.len() - 1;
        for step in &mut steps[from.saturating_sub(1)..reporting] {
            step.reports = 0;
        }
    }

    /// How long a hold lasts.
    pub fn bus(&self, hold: &Hold) -> Time {
        self.stage_times(hold).into_iter().sum()
    }

    /// Time in each stage of a hold, in the order of [`Stage::ALL`].
    #[inline]
    pub fn stage_times(&self, hold: &Hold) -> [Time; 8] {
        let mut times = [Time::ZERO; 8];
        let selected = u64::from(hold.out) * u64::from(hold.select);
        let commands = u64::from(hold.first.is_some()) + u64::from(hold.confirm.is_some());
        times[Stage::Cle as usize] = self.cycle * (commands + 2 * selected);
        times[Stage::Ale as usize] = self.page_address * selected + self.address(*hold);
        times[Stage::Tir as usize] = self.data * u64::from(hold.data_in);
        times[Stage::Tor as usize] = self.data * u64::from(hold.out);
        times[Stage::Status as usize] = self.cycle * (2 * u64::from(hold.status));
        times
    }

    /// The address cycles of a hold's command.
    #[inline]
    fn address(&self, hold: Hold) -> Time {
        match hold.first {
            None => Time::ZERO,
            Some(Command::Erase) => self.row_address,
            Some(_) => self.page_address,
        }
    }

    /// The stages of a hold in order: the stage, its command if it is one, its duration.
    pub fn stages(&self, hold: &Hold, mut each: impl FnMut(Stage, Option<Command>, Time)) {
        if hold.status {
            each(Stage::Status, Some(Command::ReadStatus), self.cycle * 2);
        }
        for _ in 0..hold.out {
            if hold.select {
                each(
                    Stage::Cle,
                    Some(Command::ChangeReadColumnEnhanced),
                    self.cycle,
                );
                each(Stage::Ale, None, self.page_address);
                each(
                    Stage::Cle,
                    Some(Command::ChangeReadColumnConfirm),
                    self.cycle,
                );
            }
            each(Stage::Tor, None, self.data);
        }
        if let Some(first) = hold.first {
            each(Stage::Cle, Some(first), self.cycle);
            each(Stage::Ale, None, self.address(*hold));
        }
        if hold.data_in {
            each(Stage::Tir, None, self.data);
        }
        if let Some(confirm) = hold.confirm {
            each(Stage::Cle, Some(confirm), self.cycle);
        }
    }

    fn step(&self, hold: Hold, reports: u8) -> Step {
        Step {
            hold,
            bus: self.bus(&hold),
            confirm: None,
            array: None,
            reports,
        }
    }

    /// Appends the chain of one page or block, with this array time.
    fn push_legacy(&self, operation: Operation, time: Time, steps: &mut Vec<Step>) {
        steps.push(self.issue(operation, time));
        steps.push(self.collect(operation));
    }
    /// The first step of the chain of one page or block, with this array time.
    #[inline]
    pub(crate) fn issue(&self, operation: Operation, time: Time) -> Step {
        let (confirm, array) = match operation {
            Operation::Read => (Confirm::Read(time), Operation::Read),
            Operation::Program | Operation::Move => (Confirm::Program(time), Operation::Program),
            Operation::Erase => (Confirm::Erase(time), Operation::Erase),
        };
        Step {
            confirm: Some(confirm),
            array: Some(array),
            ..self.legacy[legacy(operation)][0]
        }
    }
    /// The second and last.
    #[inline]
    pub(crate) fn collect(&self, operation: Operation) -> Step {
        self.legacy[legacy(operation)][1]
    }

    /// What ends every chain: a status read, unless a pin tells.
    pub(crate) const fn last_status(&self) -> Step {
        self.legacy[legacy(Operation::Program)][1]
    }

    /// A hold of a command without an address, such as one that suspends or resumes an operation.
    pub fn single(&self, command: Command) -> Step {
        let hold = Hold {
            confirm: Some(command),
            ..Hold::default()
        };
        self.step(hold, 0)
    }

    /// Appends the chain of a transaction. `draws` is asked once for every page if the part has
    /// jitter; a row takes as long as its slowest page.
    #[inline]
    pub fn build(
        &self,
        layout: &Layout,
        transaction: &Transaction<'_>,
        draws: &mut Rng,
        steps: &mut Vec<Step>,
    ) {
        let offset = |page: Ppn| layout.page_in_block(page);
        if let ([page], []) = (transaction.pages, transaction.targets) {
            let time = self.array_time(transaction.operation, offset(*page), draws);
            self.push_legacy(transaction.operation, time, steps);
            return;
        }
        self.build_rows(layout, transaction, draws, steps);
    }

    fn build_rows(
        &self,
        layout: &Layout,
        transaction: &Transaction<'_>,
        draws: &mut Rng,
        steps: &mut Vec<Step>,
    ) {
        let planes = transaction.planes as usize;
        let mut slowest = |operation, row: &[Ppn]| {
            let times = row
                .iter()
                .map(|page| self.array_time(operation, layout.page_in_block(*page), draws));
            times.max().unwrap_or_default()
        };
        match transaction.operation {
            Operation::Read => {
                let rows: Vec<Time> = transaction
                    .pages
                    .chunks(planes)
                    .map(|row| slowest(Operation::Read, row))
                    .collect();
                self.push_reads(layout, transaction, &rows, steps);
            }
            Operation::Program => {
                let rows = transaction.pages.chunks(planes);
                let rows: Vec<Time> = rows.map(|row| slowest(Operation::Program, row)).collect();
                self.push_programs(planes, &rows, steps);
            }
            Operation::Erase => {
                let time = slowest(Operation::Erase, transaction.pages);
                self.push_command(planes, Command::Erase, Command::EraseConfirm, steps);
                arm(steps, Confirm::Erase(time));
                steps.push(self.step(self.status, 1));
            }
            Operation::Move => {
                let read = slowest(Operation::Read, transaction.pages);
                let program = slowest(Operation::Program, transaction.targets);
                self.push_move(planes, read, program, steps);
            }
        }
    }

    /// A command for some planes: all but the last are queued, the last is confirmed.
    fn push_command(&self, planes: usize, first: Command, confirm: Command, steps: &mut Vec<Step>) {
        let data_in = first == Command::Program;
        for _ in 1..planes {
            let queue = command(first, data_in, queueing(first));
            steps.push(Step {
                confirm: Some(Confirm::QueuePlane),
                ..self.step(queue, 0)
            });
        }
        steps.push(self.step(command(first, data_in, confirm), 0));
    }

    fn push_reads(
        &self,
        layout: &Layout,
        transaction: &Transaction<'_>,
        rows: &[Time],
        steps: &mut Vec<Step>,
    ) {
        let planes = transaction.planes as usize;
        self.push_command(planes, Command::Read, Command::ReadConfirm, steps);
        arm(steps, Confirm::Read(rows[0]));
        let outs = Hold {
            out: planes as u8,
            select: planes > 1,
            ..self.status
        };
        for (row, &time) in rows.iter().enumerate().skip(1) {
            let before = if row == 1 { self.status } else { outs };
            let pages = &transaction.pages[(row - 1) * planes..];
            let (earlier, later) = (&pages[..planes], &pages[planes..2 * planes]);
            let at = steps.len();
            if succeeds(layout, earlier, later) {
                let hold = Hold {
                    confirm: Some(Command::ReadCache),
                    ..before
                };
                steps.push(self.step(hold, 0));
            } else {
                self.push_command(planes, Command::Read, Command::ReadCache, steps);
                self.precede(&mut steps[at], before);
            }
            steps[at].reports = u8::from(row > 1);
            arm(steps, Confirm::CacheRead(time));
        }
        if rows.len() > 1 {
            let end = Hold {
                confirm: Some(Command::ReadCacheEnd),
                ..outs
            };
            steps.push(self.step(end, 1));
            arm(steps, Confirm::CacheReadEnd);
        }
        steps.push(self.step(outs, 1));
    }

    fn push_programs(&self, planes: usize, rows: &[Time], steps: &mut Vec<Step>) {
        let last = rows.len() - 1;
        for (row, &time) in rows.iter().enumerate() {
            let (command, confirm) = if row < last {
                (Command::ProgramCache, Confirm::CacheProgram(time))
            } else {
                (Command::ProgramConfirm, Confirm::Program(time))
            };
            self.push_command(planes, Command::Program, command, steps);
            arm(steps, confirm);
            let reports = u8::from(row > 0) + u8::from(row == last);
            steps.push(self.step(self.status, reports));
        }
    }

    fn push_move(&self, planes: usize, read: Time, program: Time, steps: &mut Vec<Step>) {
        self.push_command(planes, Command::Read, Command::CopybackRead, steps);
        arm(steps, Confirm::Read(read));
        let at = steps.len();
        self.push_command(
            planes,
            Command::CopybackProgram,
            Command::ProgramConfirm,
            steps,
        );
        self.precede(&mut steps[at], self.status);
        arm(steps, Confirm::Program(program));
        steps.push(self.step(self.status, 1));
    }

    /// Puts the status read and the data of `before` in front of a command, in the same hold.
    fn precede(&self, step: &mut Step, before: Hold) {
        step.hold = Hold {
            status: before.status,
            out: before.out,
            select: before.select,
            ..step.hold
        };
        step.bus = self.bus(&step.hold);
    }
}

impl Step {
    const IDLE: Self = Self {
        hold: Hold {
            status: false,
            out: 0,
            select: false,
            first: None,
            data_in: false,
            confirm: None,
        },
        bus: Time::ZERO,
        confirm: None,
        array: None,
        reports: 0,
    };
}

/// The place of an operation among the legacy ones; a move programs.
#[inline]
const fn legacy(operation: Operation) -> usize {
    match operation {
        Operation::Read => 0,
        Operation::Program | Operation::Move => 1,
        Operation::Erase => 2,
    }
}

/// The command that queues a plane.
const fn queueing(first: Command) -> Command {
    match first {
        Command::Read => Command::ReadQueue,
        Command::Erase => Command::EraseQueue,
        _ => Command::ProgramQueue,
    }
}

/// Says what the last step sets going.
fn arm(steps: &mut [Step], confirm: Confirm) {
    if let Some(step) = steps.last_mut() {
        (step.confirm, step.array) = (Some(confirm), confirm.operation());
    }
}

/// Whether each page of a row follows, in its block, the page of the same plane in the row before.
fn succeeds(layout: &Layout, earlier: &[Ppn], later: &[Ppn]) -> bool {
    let mut pairs = earlier.iter().zip(later);
    pairs.all(|(before, after)| {
        after.0 == before.0 + 1 && layout.block_of(*before) == layout.block_of(*after)
    })
}
