//! Transactions as chains of stages (Jung 2013, section 2.7.1).
//!
//! A stage occupies the bus or the array. Consecutive bus stages run in one bus grant ([`Hold`]); a
//! chain is a list of bus grants. The last cycle of a grant starts work in the die ([`Confirm`]),
//! which determines when the die is ready for the next grant.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Rng, Time};
use wordline_reliability::{ModeCosts, ProgramMode};

use crate::Die;
use crate::command::Command;
use crate::registers::{Busy, Confirm};
use crate::slowness::Slowness;
use crate::transaction::{Operation, Transaction};
use crate::{Cell, Geometry, Latencies, Layout, Ppn, Timing};

/// Resource that a stage occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Bus shared by the dies of a channel.
    Bus,
    /// Memory array of the die.
    Array,
}

/// Stage of a command chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Command latch cycle.
    Cle,
    /// Address latch cycles.
    Ale,
    /// Data transfer into the page register.
    Tir,
    /// Data transfer out of the page register.
    Tor,
    /// Page register to cell array (program).
    Tin,
    /// Cell array to page register (read).
    Ton,
    /// Block erase.
    Ber,
    /// Status read: one command cycle and one status byte.
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

    /// Returns the resource that the stage occupies.
    pub const fn resource(self) -> Resource {
        match self {
            Self::Tin | Self::Ton | Self::Ber => Resource::Array,
            _ => Resource::Bus,
        }
    }
    /// Returns the abbreviation of the stage, as used in the literature.
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
    /// Returns the array stage of the operation that a confirm command starts: [`Self::Ton`] for
    /// the read of a copyback, and [`Self::Tin`] for its program.
    pub const fn of_array(confirm: Confirm) -> Option<Self> {
        match confirm {
            Confirm::Read(_) | Confirm::CacheRead(_) | Confirm::ReadAhead(_) => Some(Self::Ton),
            Confirm::Program(_) | Confirm::CacheProgram(_) => Some(Self::Tin),
            Confirm::Erase(_) => Some(Self::Ber),
            Confirm::CacheReadEnd | Confirm::QueuePlane => None,
        }
    }
}

/// Content of one bus grant, in this order: a status read, data of some planes, a command with
/// address and data, and its confirm command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Whether the grant begins with a status read.
    pub status: bool,
    /// Planes whose page is transferred out. Count.
    pub out: u8,
    /// Whether each plane is selected (06h, address, E0h) before its data is transferred.
    pub select: bool,
    /// First command, with its address cycles.
    pub first: Option<Command>,
    /// Whether a page of data follows the address.
    pub data_in: bool,
    /// Command that ends the grant.
    pub confirm: Option<Command>,
}

impl Hold {
    /// Returns `true` if nothing is transferred, so the die does not request the bus.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        !self.status && self.out == 0 && self.first.is_none() && self.confirm.is_none()
    }
}

/// Bus grant and the work that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Content of the bus grant.
    pub hold: Hold,
    /// Duration of the bus grant.
    pub bus: Time,
    /// Work that starts at the end of the grant; the die requests the next grant when it is ready
    /// again. If `None`, the die requests the next grant at once.
    pub confirm: Option<Confirm>,
    /// Array operation that starts at the end of the grant, if any ([`Confirm::operation`]).
    pub array: Option<Operation>,
    /// Rows of the transaction whose completion is reported to the controller at the end of the
    /// grant. Count.
    pub reports: u8,
}

/// Durations of a part, from which every chain is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chains {
    cycle: Time,
    page_address: Time,
    row_address: Time,
    data: Time,
    busy: Busy,
    latencies: Latencies,
    /// Array times per program mode, if pages have program modes.
    costs: Option<Box<ModeCosts>>,
    /// tR and tPROG in single-level mode, if the part has it.
    single_level: Option<Box<[Time; 2]>>,
    /// Status read that ends an operation; empty if a ready/busy pin signals the end.
    status: Hold,
    /// The two steps of each single-page or single-block operation: read, program, erase. Array
    /// times are filled in later.
    legacy: [[Step; 2]; 3],
    slowness: Slowness,
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
    /// Builds the chain durations of a part.
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
            slowness: Slowness::default(),
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

    /// Sets the array times per program mode. The write time of a mode includes the transfer of the
    /// data.
    #[must_use]
    pub fn with_costs(mut self, costs: ModeCosts) -> Self {
        self.costs = Some(Box::new(costs));
        self
    }
    /// Returns the array times per program mode, if pages have program modes.
    pub fn costs(&self) -> Option<&ModeCosts> {
        self.costs.as_deref()
    }

    /// Sets tR and tPROG of single-level mode.
    #[must_use]
    pub fn with_single_level(mut self, read: Time, program: Time) -> Self {
        self.single_level = Some(Box::new([read, program]));
        self
    }
    /// Returns tR and tPROG of single-level mode, if the part has it.
    pub fn single_level(&self) -> Option<[Time; 2]> {
        self.single_level.as_deref().copied()
    }

    /// Returns `true` if a ready/busy pin per die signals the end of an operation, so that no
    /// status read is needed.
    pub const fn has_pins(&self) -> bool {
        !self.status.status
    }

    /// Returns the short busy times of the part.
    #[inline]
    pub const fn busy(&self) -> Busy {
        self.busy
    }
    /// Returns the array times of the part.
    pub const fn latencies(&self) -> &Latencies {
        &self.latencies
    }
    /// Sets the slowness of a die: the factor of its array times, at least 1. Thousandths.
    pub(super) fn slow_down(&mut self, die: Die, slowness: u32) {
        self.slowness.set(die, slowness);
        self.latencies.varies = true;
    }
    /// Copies the slowness of every die from other chains.
    pub(super) fn keep_slow_dies(&mut self, other: &Self) {
        self.slowness.clone_from(&other.slowness);
        self.latencies.varies = other.latencies.varies;
    }
    /// Multiplies the array times of a chain by the slowness of its die.
    #[cold]
    #[inline(never)]
    pub(super) fn slow_steps(&self, die: Die, steps: &mut [Step]) {
        for step in steps {
            if let Some(time) = step.confirm.as_mut().and_then(Confirm::array_time) {
                *time = self.slowness.time(die, *time);
            }
        }
    }
    /// Returns the slowness of the dies.
    pub(super) const fn slowness(&self) -> &Slowness {
        &self.slowness
    }
    /// Returns the bus time of a page of data.
    pub const fn data(&self) -> Time {
        self.data
    }

    /// Returns the array time of the page at `offset` of its block. `draws` is used only if the
    /// part has jitter. The offset of an erase is ignored. The array time of a move is that of its
    /// program; its read takes the array time of a read in addition.
    #[inline]
    pub fn array_time(&self, operation: Operation, offset: u32, draws: &mut Rng) -> Time {
        self.varied(self.latencies.of(operation, offset), draws)
    }

    /// Returns the duration of a single-page or single-block operation on an idle die and bus. If
    /// the part has jitter, the array times include the jitter of a fixed seed.
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

    /// Adapts a chain without cache commands to pages programmed in `mode`: sets its read and
    /// program times and the bus times of its data out. Has no effect unless the part has array
    /// times per program mode. If the part has jitter, `draws` supplies one value per array time.
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
    /// Adds jitter to an array time. `draws` is used only if the part has jitter.
    #[inline]
    fn varied(&self, time: Time, draws: &mut Rng) -> Time {
        match self.latencies.jitter {
            0 => time,
            _ => self.latencies.jittered(time, draws.bits()),
        }
    }
    /// Converts an array time of the part to that of a die, and adds jitter.
    #[cold]
    #[inline(never)]
    pub(super) fn varied_of(&self, die: Die, time: Time, draws: &mut Rng) -> Time {
        self.slowness.time(die, self.varied(time, draws))
    }
    /// Sets the read times, the program times, or both, of a chain to those of single-level mode,
    /// if the part has it. If the part has jitter, `draws` supplies one value per array time.
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
    /// Appends a read retry to a chain that ends with the page's data: the array senses for
    /// `sense`, and the data takes `transfer` on the bus.
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

    /// Appends a speculative read of the page after the one read last. The array works for `time`,
    /// and the page stays in the data register.
    pub fn push_read_ahead(&self, time: Time, steps: &mut Vec<Step>) {
        self.push_cache_command(Command::ReadCache, Confirm::ReadAhead(time), steps);
        steps.push(self.last_status());
    }
    /// Appends the transfer of a page that was read speculatively. If `next` is given, the array
    /// reads the following page for that time during the transfer.
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

    /// Appends the recovery from a failed program: the first `copies` pages of the block are read
    /// and programmed in another block, then the failed page is programmed again. All data crosses
    /// the bus, and all pages are programmed in `mode`.
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

    /// Returns the duration of a bus grant.
    pub fn bus(&self, hold: &Hold) -> Time {
        self.stage_times(hold).into_iter().sum()
    }

    /// Returns the duration of each stage in a bus grant, in the order of [`Stage::ALL`].
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

    /// Returns the duration of the address cycles of a grant's first command.
    #[inline]
    fn address(&self, hold: Hold) -> Time {
        match hold.first {
            None => Time::ZERO,
            Some(Command::Erase) => self.row_address,
            Some(_) => self.page_address,
        }
    }

    /// Calls `each` for every stage of a bus grant in order, with the stage, its command (if it is
    /// a command stage) and its duration.
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

    /// Appends the chain of a single-page or single-block operation with this array time.
    fn push_legacy(&self, operation: Operation, time: Time, steps: &mut Vec<Step>) {
        steps.push(self.issue(operation, time));
        steps.push(self.collect(operation));
    }
    /// Returns the first step of the chain of a single-page or single-block operation with this
    /// array time.
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
    /// Returns the second and last step of the chain of a single-page or single-block operation.
    #[inline]
    pub(crate) fn collect(&self, operation: Operation) -> Step {
        self.legacy[legacy(operation)][1]
    }

    /// Returns the last step of chains without data out: a status read, or an empty grant if a
    /// ready/busy pin signals the end.
    pub(crate) const fn last_status(&self) -> Step {
        self.legacy[legacy(Operation::Program)][1]
    }

    /// Returns the bus grant of a command without an address, such as suspend or resume.
    pub fn single(&self, command: Command) -> Step {
        let hold = Hold {
            confirm: Some(command),
            ..Hold::default()
        };
        self.step(hold, 0)
    }

    /// Appends the chain of a transaction. If the part has jitter, `draws` supplies one value per
    /// page and target. A row takes as long as its slowest page.
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

    /// Appends a command for several planes: all planes but the last are queued, and the last is
    /// confirmed.
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

    /// Puts the status read and data transfer of `before` in front of a command, in the same bus
    /// grant.
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

/// Returns the index of an operation in `Chains::legacy`; a move uses the entry of a program.
#[inline]
const fn legacy(operation: Operation) -> usize {
    match operation {
        Operation::Read => 0,
        Operation::Program | Operation::Move => 1,
        Operation::Erase => 2,
    }
}

/// Returns the command that queues a plane for a multi-plane command.
const fn queueing(first: Command) -> Command {
    match first {
        Command::Read => Command::ReadQueue,
        Command::Erase => Command::EraseQueue,
        _ => Command::ProgramQueue,
    }
}

/// Sets the work that the last step of `steps` starts.
fn arm(steps: &mut [Step], confirm: Confirm) {
    if let Some(step) = steps.last_mut() {
        (step.confirm, step.array) = (Some(confirm), confirm.operation());
    }
}

/// Returns `true` if each page of `later` is the successor, in the same block, of the page in the
/// same position of `earlier`.
fn succeeds(layout: &Layout, earlier: &[Ppn], later: &[Ppn]) -> bool {
    let mut pairs = earlier.iter().zip(later);
    pairs.all(|(before, after)| {
        after.0 == before.0 + 1 && layout.block_of(*before) == layout.block_of(*after)
    })
}
