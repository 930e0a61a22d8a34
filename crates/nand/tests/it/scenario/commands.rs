//! Executes a scenario on the command interface.
//!
//! The cycles of commands are issued at the times of the operations, those of transactions at the
//! times given in the timeline. The interface determines whether it accepts the cycles, how long
//! they take, when the array works, when the die is busy, and which page is transferred out.

use wordline_kernel::Time;
use wordline_nand::die::{Data, Row};
use wordline_nand::{CommandError, Cycle, Die, Stage, Target};

use super::text::{self, Line};
use super::{Ask, Item, Scenario, Strip, What, fault};

/// The scenario starts at a multiple of this time, after its initial pages are programmed.
/// Picoseconds.
const GRID: u64 = 1_000_000_000_000;

/// State of a die as the host tracks it.
#[derive(Clone, Default)]
struct Seen {
    /// Rows addressed since the last confirmed command.
    addressed: Vec<Row>,
    /// Rows read last.
    read: Vec<Row>,
    /// Last array operation, as an index into the timeline.
    work: Option<usize>,
}

struct Player {
    target: Target,
    bytes: u32,
    start: Time,
    dies: Vec<Seen>,
    timeline: Vec<Strip>,
}

/// Returns the timeline that the interface produces, one line per strip.
pub fn run(scenario: &Scenario) -> Result<Vec<Line>, String> {
    let target = Target::new(&scenario.nand.sheet());
    let mut player = Player {
        target: target.map_err(|error| fault(&scenario.file, 1, error))?,
        bytes: scenario.nand.bytes(),
        start: Time::ZERO,
        dies: vec![Seen::default(); scenario.layout.dies as usize],
        timeline: Vec::new(),
    };
    player.prepare(scenario)?;
    let by_hand = |asked: &super::Asked| match &asked.what {
        Ask::Cycles(items) => Some((asked.line, asked.at, asked.die, items.clone())),
        Ask::Transactions(_) => None,
    };
    let mut holds: Vec<_> = scenario.asked.iter().filter_map(by_hand).collect();
    if holds.is_empty() {
        let bus = |strip: &Strip| match &strip.what {
            What::Bus(items) => Some((strip.line, Some(strip.from), strip.die, items.clone())),
            _ => None,
        };
        holds = scenario.timeline.iter().filter_map(bus).collect();
    }
    for (line, at, die, items) in holds {
        let at = at.map_or_else(|| player.soonest(die), |at| player.start + at);
        player
            .hold(at, die, &items)
            .map_err(|error| fault(&scenario.file, line, error))?;
    }
    Ok(player.timeline.iter().map(text::whole).collect())
}

impl Player {
    fn soonest(&self, die: Die) -> Time {
        self.target.bus_free().max(self.target.ready_at(die))
    }
    /// Programs the initial pages and starts the clock.
    fn prepare(&mut self, scenario: &Scenario) -> Result<(), String> {
        for given in &scenario.given {
            for &row in &given.pages {
                let program = [
                    Item::Command(0x80, Some(row)),
                    Item::In,
                    Item::Command(0x10, None),
                ];
                let at = self.soonest(given.die);
                self.hold(at, given.die, &program)
                    .map_err(|error| fault(&scenario.file, given.line, error))?;
            }
        }
        let dies = (0..scenario.layout.dies).map(Die);
        let idle = dies.map(|die| self.soonest(die)).max().unwrap_or_default();
        self.start = Time::from_ps(idle.ps().next_multiple_of(GRID));
        self.timeline.clear();
        self.dies.fill(Seen::default());
        Ok(())
    }

    /// Issues the cycles of a bus grant, the first at `at`.
    fn hold(&mut self, at: Time, die: Die, items: &[Item]) -> Result<(), CommandError> {
        let mut now = at;
        let mut seen = Vec::new();
        let nth = self.timeline.len();
        self.note(at, at, die, What::Bus(Vec::new()));
        for &item in items {
            let mut out = item;
            for cycle in self.cycles(die, item) {
                let before = self.target.ready_at(die);
                let output = self.target.issue(now, die, cycle)?;
                now = output.ends;
                if let Some(Data::Page(content)) = output.data {
                    out = Item::Out(page(content));
                }
                if let Cycle::Command(code) = cycle {
                    self.effect(
                        die,
                        code,
                        now,
                        before,
                        output.work.map(|it| (it.from, it.until)),
                    );
                }
            }
            seen.push(out);
        }
        self.timeline[nth].until = now - self.start;
        self.timeline[nth].what = What::Bus(seen);
        Ok(())
    }

    fn cycles(&mut self, die: Die, item: Item) -> Vec<Cycle> {
        let bytes = self.bytes;
        let addressing = *self.target.addressing();
        let seen = &mut self.dies[die.index()];
        match item {
            Item::In => {
                let row = seen.addressed.last().copied().unwrap_or_default();
                let content = token(row);
                vec![Cycle::DataIn { bytes, content }]
            }
            Item::Out(_) => vec![Cycle::DataOut { bytes }],
            Item::Command(0x70, _) => vec![Cycle::Command(0x70), Cycle::DataOut { bytes: 1 }],
            Item::Command(code, address) => {
                let mut cycles = vec![Cycle::Command(code)];
                if let Some(row) = address {
                    cycles.extend(match code {
                        0x60 => addressing.row(row),
                        _ => addressing.page(row, 0),
                    });
                    if code != 0x06 {
                        seen.addressed.push(row);
                    }
                }
                cycles
            }
        }
    }

    /// Records the work that a command cycle starts at its end, `now`.
    fn effect(&mut self, die: Die, code: u8, now: Time, before: Time, work: Option<(Time, Time)>) {
        let start = self.start;
        if let Some((from, until)) = work {
            let (stage, row) = self.worked(die, code);
            self.dies[die.index()].work = Some(self.timeline.len());
            self.note(from, until, die, What::Array(stage, row));
        } else if let Some(nth) = self.dies[die.index()].work {
            let last = &mut self.timeline[nth];
            last.until = last.until.min(self.target.array_free_at(die).since(start));
        }
        let ready = self.target.ready_at(die);
        if ready != before && ready > now && work != Some((now, ready)) {
            self.note(now, ready, die, What::Busy(code));
        }
    }

    /// Returns the array operation that a command starts, and its rows.
    fn worked(&mut self, die: Die, code: u8) -> (Stage, Vec<Row>) {
        let seen = &mut self.dies[die.index()];
        let mut row = std::mem::take(&mut seen.addressed);
        if code == 0x31 && row.is_empty() {
            row.clone_from(&seen.read);
            for row in &mut row {
                row.page += 1;
            }
        }
        match code {
            0x30 | 0x31 => {
                seen.read.clone_from(&row);
                (Stage::Ton, row)
            }
            0x35 => (Stage::Ton, row),
            0xD0 => (Stage::Ber, row),
            0x13 | 0xD2 => self.resumed(die),
            _ => (Stage::Tin, row),
        }
    }
    /// Returns the stage and the rows of the suspended program or erase.
    fn resumed(&self, die: Die) -> (Stage, Vec<Row>) {
        let work = self.timeline.iter().rev().filter(|strip| strip.die == die);
        let mut laid = work.filter_map(|strip| match &strip.what {
            What::Array(stage, row) if *stage != Stage::Ton => Some((*stage, row.clone())),
            _ => None,
        });
        laid.next().unwrap_or((Stage::Tin, Vec::new()))
    }

    fn note(&mut self, from: Time, until: Time, die: Die, what: What) {
        self.timeline.push(Strip {
            line: 0,
            from: from.since(self.start),
            until: until.since(self.start),
            die,
            what,
        });
    }
}

/// Returns the content of a page: its address, with a bit set so that it is never 0.
fn token(row: Row) -> u64 {
    1 << 63 | u64::from(row.plane) << 48 | u64::from(row.block) << 16 | u64::from(row.page)
}

fn page(token: u64) -> Row {
    Row {
        plane: (token >> 48) as u32 & 0x7FFF,
        block: (token >> 16) as u32,
        page: token as u32 & 0xFFFF,
    }
}
