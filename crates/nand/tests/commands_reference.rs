//! Does the command interface do what a die stepped tick by tick does?
//!
//! In every mode of operation, on one die and on several whose cycles mix on the bus, the same cycles go to both. After each the
//! verdicts are compared, at every tick RDY and ARDY, at every data cycle what comes out, and after every sequence the arrays. Half
//! of the sequences are legal, the others are spoilt in a place or two.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod reference;

use std::collections::BTreeMap;

use reference::chain::{Mode, Transaction};
use reference::plan::{Planner, below, one_in};
use reference::script::{self, Script, Step};
use reference::sheet;
use reference::{Bus, Cycle, Output, Part, Place, Refusal, TICK_PS};
use wordline_kernel::{Stream, Time};
use wordline_nand::command::{self, CommandError, Rule};
use wordline_nand::die::{Data, State};
use wordline_nand::target::Target;
use wordline_nand::{Block, Die, Layout, Violation};

/// Legal sequences, and as many spoilt ones, for each mode and number of dies.
const SEQUENCES: usize = 10_000;
/// Sequences that one package lives through at most.
const LIFE: usize = 60;
/// Cycles that are told when the two disagree.
const TOLD: usize = 60;

fn nand_cycle(cycle: Cycle) -> command::Cycle {
    match cycle {
        Cycle::Command(code) => command::Cycle::Command(code),
        Cycle::Address(byte) => command::Cycle::Address(byte),
        Cycle::DataIn { bytes, content } => command::Cycle::DataIn { bytes, content },
        Cycle::DataOut { bytes } => command::Cycle::DataOut { bytes },
    }
}

/// The reference's word for a refusal of the interface.
fn refusal(error: &CommandError) -> Refusal {
    let (state, rule) = match error {
        CommandError::BusBusy { .. } => return Refusal::BusBusy,
        CommandError::Busy { .. } => return Refusal::Busy,
        CommandError::Broken { state, rule, .. } => (state, rule),
        _ => panic!("{error}"),
    };
    match rule {
        _ if *state == State::Failed => Refusal::Failed,
        Rule::OutOfPlace | Rule::Unknown | Rule::StatusIsAByte => Refusal::Sequence,
        Rule::Beyond { .. } => Refusal::Address,
        Rule::PlaneTwice { .. } | Rule::Planes { .. } => Refusal::PlaneRule,
        Rule::NoData | Rule::TooMuchData { .. } | Rule::NoBytes => Refusal::Bytes,
        Rule::Empty { .. } | Rule::NothingToCopy | Rule::NothingToCopyIn { .. } => Refusal::NoPage,
        Rule::NothingToContinue => Refusal::NothingToContinue,
        Rule::OtherPlanes => Refusal::SessionPlanes,
        Rule::EndOfBlock { .. } => Refusal::EndOfBlock,
        Rule::Suspended { .. } => Refusal::Suspended,
        Rule::Array(Violation::OutOfOrder { .. }) => Refusal::OutOfOrder,
        Rule::Array(Violation::NotErased { .. } | Violation::TooManyPrograms { .. }) => {
            Refusal::Programmed
        }
        Rule::Array(Violation::NotProgrammed { .. }) => Refusal::NotProgrammed,
        Rule::Array(Violation::WornOut { .. }) => Refusal::WornOut,
    }
}

/// How often each kind of refusal came.
type Refusals = BTreeMap<Refusal, usize>;

/// What the interface says of the cycle on the bus.
#[derive(Clone, Copy, Debug)]
struct Expected {
    ends: Time,
    data: Option<Data>,
}

/// The two, side by side.
struct Pair {
    bus: Bus,
    target: Target,
    layout: Layout,
    expected: Option<Expected>,
    told: Vec<(u64, usize, Cycle, Result<(), Refusal>)>,
    refusals: Refusals,
}

impl Pair {
    fn new(random: &mut Stream, mode: Mode, dies: usize) -> Self {
        let part = sheet::draw(random, mode.multi_plane(), dies);
        Self {
            layout: Layout::new(&part.geometry, 1).unwrap(),
            target: Target::new(&part).unwrap(),
            bus: Bus::new(sheet::in_ticks(&part)),
            expected: None,
            told: Vec::new(),
            refusals: Refusals::new(),
        }
    }
    fn now(&self) -> Time {
        Time::from_ps(self.bus.now * TICK_PS)
    }
    fn disagree(&self, what: &str) -> ! {
        let start = self.told.len().saturating_sub(TOLD);
        for (tick, die, cycle, verdict) in &self.told[start..] {
            eprintln!("tick {tick}, die {die}: {cycle:02x?} {verdict:?}");
        }
        panic!("tick {}: {what}; {:?}", self.bus.now, self.bus.part);
    }
    fn issue(&mut self, die: usize, cycle: Cycle) -> Result<(), Refusal> {
        let now = self.now();
        let theirs = self.target.issue(now, Die(die as u32), nand_cycle(cycle));
        let verdict = self.bus.issue(die, cycle);
        self.told.push((self.bus.now, die, cycle, verdict));
        let their_verdict = theirs.as_ref().map(|_| ()).map_err(refusal);
        if their_verdict != verdict {
            self.disagree(&format!("{theirs:?} where {verdict:?} is due"));
        }
        match (theirs, verdict) {
            (Ok(output), _) => {
                let (ends, data) = (output.ends, output.data);
                self.expected = Some(Expected { ends, data });
            }
            (_, Err(refusal)) => *self.refusals.entry(refusal).or_default() += 1,
            _ => {}
        }
        verdict
    }
    fn tick(&mut self) {
        if let Some((die, output)) = self.bus.step() {
            let expected = self.expected.take().unwrap();
            let data = match expected.data {
                None => Output::None,
                Some(Data::Page(content)) => Output::Content(content),
                Some(Data::Status(status)) => Output::Status(status.0),
            };
            if expected.ends != self.now() || data != output {
                let found = format!("die {die}: {expected:x?} where {output:x?} is due");
                self.disagree(&found);
            }
        }
        for die in 0..self.bus.dies.len() {
            if self.bus.holder() != Some(die) {
                self.compare_busy(die);
            }
        }
    }
    fn compare_busy(&self, die: usize) {
        let (now, id) = (self.now(), Die(die as u32));
        let theirs = (
            self.target.ready_at(id) <= now,
            self.target.array_free_at(id) <= now,
        );
        let due = (self.bus.dies[die].ready(), self.bus.dies[die].array_ready());
        if theirs != due {
            self.disagree(&format!(
                "die {die}: (RDY, ARDY) is {theirs:?}, not {due:?}"
            ));
        }
    }
    fn compare_arrays(&self) {
        let part = &self.bus.part;
        for (die, ours) in self.bus.dies.iter().enumerate() {
            for (plane, block) in all_blocks(part) {
                let id = (die * part.planes + plane) as u32;
                let id = self.layout.block(wordline_nand::Plane(id), block as u32);
                self.compare_block(id, &ours.cells, plane, block);
            }
        }
    }
    fn compare_block(&self, id: Block, ours: &reference::Cells, plane: usize, block: usize) {
        let cells = self.target.cells();
        let programmed = ours.programmed(plane, block);
        let theirs = (cells.array.programmed(id), cells.array.erases()[id.index()]);
        let due = (programmed as u32, ours.erases(plane, block));
        let contents = (0..programmed).all(|page| {
            let theirs = cells.content(self.layout.page(id, page as u32));
            theirs == Some(ours.content(Place { plane, block, page }))
        });
        if theirs != due || !contents {
            let at = self.layout.describe_block(id);
            self.disagree(&format!(
                "{at}: {theirs:?}, not {due:?}; contents agree: {contents}"
            ));
        }
    }
}

fn all_blocks(part: &Part) -> impl Iterator<Item = (usize, usize)> + use<> {
    let blocks = part.blocks;
    (0..part.planes).flat_map(move |plane| (0..blocks).map(move |block| (plane, block)))
}

/// A script for each die, carried out together.
struct Play<'a> {
    pair: &'a mut Pair,
    scripts: Vec<Script>,
    random: &'a mut Stream,
    /// Whether no cycle may be refused.
    legal: bool,
    refused: usize,
}

impl Play<'_> {
    fn run(mut self) -> usize {
        while self.scripts.iter().any(|script| !script.is_empty()) {
            let first = below(self.random, self.scripts.len());
            for die in 0..self.scripts.len() {
                self.go_on((first + die) % self.scripts.len());
            }
            self.pair.tick();
        }
        while self.pair.bus.busy() {
            self.pair.tick();
        }
        self.refused
    }
    /// Does what the die's script wants at this instant.
    fn go_on(&mut self, die: usize) {
        let busy = self.pair.bus.busy();
        let ready = self.pair.bus.dies[die].ready();
        while let Some(step) = self.scripts[die].front_mut() {
            match step {
                Step::Gap(0) => drop(self.scripts[die].pop_front()),
                Step::Gap(left) => {
                    *left -= 1;
                    return;
                }
                Step::WhileSuspended => {
                    self.scripts[die].pop_front();
                    self.read_while_suspended(die);
                }
                Step::Wait if ready && self.pair.bus.holder() != Some(die) => {
                    self.scripts[die].pop_front();
                }
                Step::Wait => return self.while_waiting(die),
                Step::Intrude(cycle) if busy => {
                    let cycle = *cycle;
                    self.scripts[die].pop_front();
                    self.issue(die, cycle);
                    return;
                }
                Step::Intrude(_) => drop(self.scripts[die].pop_front()),
                Step::Cycle(_) if busy => return,
                Step::Cycle(cycle) => {
                    let cycle = *cycle;
                    self.scripts[die].pop_front();
                    self.issue(die, cycle);
                    return;
                }
            }
        }
    }
    fn while_waiting(&mut self, die: usize) {
        if self.pair.bus.busy() || !one_in(self.random, 8) {
            return;
        }
        if self.pair.bus.may_suspend(die) && one_in(self.random, 2) {
            let suspend = self.pair.bus.suspend_command(die);
            self.push_front(die, vec![Step::Wait, Step::WhileSuspended]);
            self.issue(die, Cycle::Command(suspend));
        } else {
            let mut polls = Script::new();
            script::poll(&mut polls);
            self.push_front(die, polls.into());
        }
    }
    fn push_front(&mut self, die: usize, steps: Vec<Step>) {
        for step in steps.into_iter().rev() {
            self.scripts[die].push_front(step);
        }
    }
    fn read_while_suspended(&mut self, die: usize) {
        let suspended = &self.pair.bus.dies[die];
        if !suspended.suspended() || suspended.failed() {
            return;
        }
        let resume = Cycle::Command(suspended.resume_command());
        let mut steps = vec![Step::Cycle(resume), Step::Wait];
        for _ in 0..below(self.random, 3) {
            if let Some(read) = self.read_beside(die) {
                let part = &self.pair.bus.part;
                steps.splice(0..0, script::write(part, &read, self.random));
            }
        }
        self.push_front(die, steps);
    }
    /// A read that leaves blocks under suspension alone; in a spoilt sequence it may be one of theirs.
    fn read_beside(&mut self, die: usize) -> Option<Transaction> {
        let part = &self.pair.bus.part;
        let suspended = self.pair.bus.dies[die].suspended_pages();
        if !self.legal && one_in(self.random, 4) {
            let page = suspended[below(self.random, suspended.len())];
            let page = Place {
                page: [page.page, below(self.random, part.pages)][below(self.random, 2)],
                ..page
            };
            return Some(Transaction {
                mode: Mode::Read,
                rows: vec![vec![page]],
                targets: Vec::new(),
            });
        }
        let cells = self.pair.bus.dies[die].cells.clone();
        let mut planner = Planner {
            part,
            cells,
            most_rows: 2,
        };
        let several = part.planes > 1 && one_in(self.random, 2);
        let mode = [Mode::Read, Mode::MultiPlaneRead][usize::from(several)];
        let block = |page: &Place| (page.plane, page.block);
        let suspended: Vec<_> = suspended.iter().map(block).collect();
        let read = planner.plan(self.random, mode)?;
        let beside = !read.rows[0]
            .iter()
            .any(|page| suspended.contains(&block(page)));
        beside.then_some(read)
    }
    fn issue(&mut self, die: usize, cycle: Cycle) {
        let verdict = self.pair.issue(die, cycle);
        let Err(refusal) = verdict else { return };
        if self.legal {
            self.pair.disagree("a legal cycle was refused");
        }
        self.refused += 1;
        match refusal {
            Refusal::BusBusy | Refusal::Failed => {}
            Refusal::Busy if one_in(self.random, 2) => {
                self.push_front(die, vec![Step::Wait, Step::Cycle(cycle)]);
            }
            Refusal::Busy => {}
            _ => self.give_up(die),
        }
    }
    /// The die has failed: looks at the status, and finds that nothing else is taken.
    fn give_up(&mut self, die: usize) {
        let mut script = Script::new();
        script::poll(&mut script);
        if one_in(self.random, 4) {
            let any = script::any_cycle(&self.pair.bus.part, self.random);
            script.push_back(Step::Cycle(any));
            script::poll(&mut script);
        }
        self.scripts[die] = script;
    }
}

/// Transactions of a mode for one die, with whatever has to come before them; `None` if its blocks are worn out.
fn plan(pair: &Pair, die: usize, mode: Mode, random: &mut Stream) -> Option<Vec<Transaction>> {
    let part = &pair.bus.part;
    let cells = pair.bus.dies[die].cells.clone();
    let mut planner = Planner {
        part,
        cells,
        most_rows: 4,
    };
    let mut transactions = Vec::new();
    for _ in 0..=below(random, 2) {
        for attempt in 0.. {
            if let Some(wanted) = planner.plan(random, mode) {
                transactions.push(wanted);
                break;
            }
            let before = if attempt % 3 == 2 && !mode.reads() {
                planner.make_room(random, mode)
            } else {
                let programs = [Mode::Program, Mode::MultiPlaneProgram];
                planner.plan(random, programs[usize::from(mode.multi_plane())])
            };
            transactions.extend(before);
            if attempt > 20 {
                return None;
            }
        }
    }
    Some(transactions)
}

/// Sequences of one mode.
struct Counts {
    legal: usize,
    spoilt: usize,
    illegal: usize,
    cycles: usize,
    refusals: Refusals,
}

/// A package lives until it is worn out or has lived long enough.
fn live(mode: Mode, dies: usize, random: &mut Stream, counts: &mut Counts) {
    let mut pair = Pair::new(random, mode, dies);
    for nth in 0..LIFE {
        let plans: Option<Vec<_>> = (0..dies)
            .map(|die| plan(&pair, die, mode, random))
            .collect();
        let Some(plans) = plans else { break };
        let legal = nth % 2 == 0;
        let part = pair.bus.part.clone();
        let mut scripts: Vec<Script> = Vec::new();
        for plan in &plans {
            let plan = plan.iter();
            scripts.push(
                plan.flat_map(|it| script::write(&part, it, random))
                    .collect(),
            );
        }
        if !legal {
            spoil(&part, &plans, &mut scripts, random);
        }
        let play = Play {
            pair: &mut pair,
            scripts,
            random: &mut *random,
            legal,
            refused: 0,
        };
        let refused = play.run();
        if legal {
            counts.legal += 1;
        } else {
            counts.spoilt += 1;
            counts.illegal += usize::from(refused > 0);
            recover(&mut pair, random);
        }
        pair.compare_arrays();
        counts.cycles += pair.told.len();
        pair.told.clear();
    }
    for (refusal, times) in pair.refusals {
        *counts.refusals.entry(refusal).or_default() += times;
    }
}

/// Spoils the scripts of some of the dies.
fn spoil(part: &Part, plans: &[Vec<Transaction>], scripts: &mut [Script], random: &mut Stream) {
    let chosen = below(random, scripts.len());
    for (die, script) in scripts.iter_mut().enumerate() {
        if die != chosen && !one_in(random, 3) {
            continue;
        }
        if one_in(random, 4) {
            let wild = |it| script::wild(part, it, random);
            let wild: Vec<_> = plans[die].iter().map(wild).collect();
            let wild = wild.iter();
            *script = wild
                .flat_map(|it| script::write(part, it, random))
                .collect();
        } else {
            script::spoil(part, script, random);
        }
        if one_in(random, 4) {
            script::spoil(part, script, random);
        }
    }
}

/// Resets all dies.
fn recover(pair: &mut Pair, random: &mut Stream) {
    let dies = pair.bus.dies.len();
    let reset = || {
        let mut script = Script::from([Step::Cycle(Cycle::Command(0xff)), Step::Wait]);
        script::poll(&mut script);
        script
    };
    let play = Play {
        scripts: (0..dies).map(|_| reset()).collect(),
        pair,
        random,
        legal: true,
        refused: 0,
    };
    play.run();
}

fn compare(mode: Mode, dies: usize) -> Counts {
    let name = format!("{mode:?} on {dies}");
    let mut random = Stream::new(7, &name);
    let mut counts = Counts {
        legal: 0,
        spoilt: 0,
        illegal: 0,
        cycles: 0,
        refusals: Refusals::new(),
    };
    while counts.spoilt < SEQUENCES {
        let dies = if dies == 1 {
            1
        } else {
            2 + below(&mut random, 2)
        };
        live(mode, dies, &mut random, &mut counts);
    }
    counts
}

/// All modes with one die, or with several; what was compared, mode by mode.
fn compare_all(dies: usize) {
    let mut refusals = Refusals::new();
    for mode in Mode::ALL {
        let counts = compare(mode, dies);
        let Counts {
            legal,
            spoilt,
            illegal,
            cycles,
            ..
        } = counts;
        println!(
            "{mode:?}, dies {dies}: {legal} legal, {spoilt} spoilt ({illegal} illegal), {cycles} cycles"
        );
        assert!(legal >= SEQUENCES && spoilt >= SEQUENCES);
        assert!(
            illegal * 2 > spoilt,
            "{mode:?}: spoilt sequences are mostly legal"
        );
        for (refusal, times) in counts.refusals {
            *refusals.entry(refusal).or_default() += times;
        }
    }
    println!("{refusals:?}");
    for refusal in Refusal::ALL {
        let times = refusals.get(&refusal).copied().unwrap_or(0);
        assert!(times >= 100, "{refusal:?} came {times} times only");
    }
}

#[test]
fn the_interface_agrees_with_a_die_stepped_tick_by_tick() {
    compare_all(1);
}

#[test]
fn the_interface_agrees_with_dies_stepped_tick_by_tick_on_one_bus() {
    compare_all(3);
}
