//! Command interface and reference, driven in parallel.

use std::collections::BTreeMap;

use wordline_kernel::{Rng, Time};
use wordline_nand::command::{self, CommandError, Rule};
use wordline_nand::die::{Data, State};
use wordline_nand::target::Target;
use wordline_nand::{Block, Die, Layout, Plane, Violation};

use super::chain::Mode;
use super::{Bus, Cells, Cycle, Output, Part, Place, Refusal, TICK_PS, sheet};

/// Number of cycles that are printed when the two models disagree.
const SHOWN: usize = 60;

fn nand_cycle(cycle: Cycle) -> command::Cycle {
    match cycle {
        Cycle::Command(code) => command::Cycle::Command(code),
        Cycle::Address(byte) => command::Cycle::Address(byte),
        Cycle::DataIn { bytes, content } => command::Cycle::DataIn { bytes, content },
        Cycle::DataOut { bytes } => command::Cycle::DataOut { bytes },
    }
}

/// Returns the refusal of the reference that corresponds to an error of the interface.
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

/// Number of refusals of each kind.
pub type Refusals = BTreeMap<Refusal, usize>;

/// Expected result of the cycle on the bus, from the interface.
#[derive(Clone, Copy, Debug)]
struct Expected {
    ends: Time,
    data: Option<Data>,
}

/// Command interface and reference.
pub struct Pair {
    /// Reference bus and dies.
    pub bus: Bus,
    target: Target,
    layout: Layout,
    expected: Option<Expected>,
    /// Issued cycles and their verdicts: tick, die, cycle, verdict.
    pub issued: Vec<(u64, usize, Cycle, Result<(), Refusal>)>,
    /// Refusals of each kind so far. Count.
    pub refusals: Refusals,
}

impl Pair {
    /// Creates both models in the erased state.
    pub fn new(random: &mut Rng, mode: Mode, dies: usize) -> Self {
        let part = sheet::draw(random, mode.multi_plane(), dies);
        Self {
            layout: Layout::new(&part.geometry, 1).unwrap(),
            target: Target::new(&part).unwrap(),
            bus: Bus::new(sheet::in_ticks(&part)),
            expected: None,
            issued: Vec::new(),
            refusals: Refusals::new(),
        }
    }
    fn now(&self) -> Time {
        Time::from_ps(self.bus.now * TICK_PS)
    }
    /// Prints the last cycles and panics.
    pub fn disagree(&self, what: &str) -> ! {
        let start = self.issued.len().saturating_sub(SHOWN);
        let line = |(tick, die, cycle, verdict): &(u64, usize, Cycle, Result<(), Refusal>)| {
            format!("tick {tick}, die {die}: {cycle:02x?} {verdict:?}\n")
        };
        let issued: String = self.issued[start..].iter().map(line).collect();
        panic!("{issued}tick {}: {what}; {:?}", self.bus.now, self.bus.part);
    }
    /// Starts a cycle on both models. Returns the verdict on which they agree.
    pub fn issue(&mut self, die: usize, cycle: Cycle) -> Result<(), Refusal> {
        let now = self.now();
        let theirs = self.target.issue(now, Die(die as u32), nand_cycle(cycle));
        let verdict = self.bus.issue(die, cycle);
        self.issued.push((self.bus.now, die, cycle, verdict));
        let their_verdict = theirs.as_ref().map(|_| ()).map_err(refusal);
        if their_verdict != verdict {
            self.disagree(&format!("{theirs:?} where {verdict:?} is expected"));
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
    /// Advances both models by one tick and compares them.
    pub fn tick(&mut self) {
        if let Some((die, output)) = self.bus.step() {
            let expected = self.expected.take().unwrap();
            let data = match expected.data {
                None => Output::None,
                Some(Data::Page(content)) => Output::Content(content),
                Some(Data::Status(status)) => Output::Status(status.0),
            };
            if expected.ends != self.now() || data != output {
                let found = format!("die {die}: {expected:x?} where {output:x?} is expected");
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
    /// Compares all blocks and pages of both models.
    pub fn compare_arrays(&self) {
        let part = &self.bus.part;
        for (die, ours) in self.bus.dies.iter().enumerate() {
            for (plane, block) in all_blocks(part) {
                let id = (die * part.planes + plane) as u32;
                let id = self.layout.block(Plane(id), block as u32);
                self.compare_block(id, &ours.cells, plane, block);
            }
        }
    }
    fn compare_block(&self, id: Block, ours: &Cells, plane: usize, block: usize) {
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
