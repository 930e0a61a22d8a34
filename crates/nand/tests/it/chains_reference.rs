//! Compares the transaction timing of a package with that of a reference that is stepped tick by
//! tick.
//!
//! Random mixes of transactions, each dominated by one mode of operation, are submitted to both at
//! random times, with and without die interleaving. The completion times of each transaction and
//! each row must be equal, and so must the time in each stage and the final array.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

use crate::reference;

use reference::chain::{Mode, Transaction};
use reference::package::{Done, Outcome, Stages, Submission};
use reference::plan::{Planner, below, one_in};
use reference::{Bus, Cells, Place, TICK_PS, sheet};
use wordline_kernel::{Rng, Time};
use wordline_nand::{
    Block, Completion, Die, Layout, Operation, Package, Part, Plane, Ppn, Stage, target,
};

/// Mixes per mode, for each setting of die interleaving.
const MIXES: usize = 10_000;
/// Maximum transactions per mix.
const MAX_TRANSACTIONS: usize = 7;

/// Transactions for packages of the same part, with the array in the same state.
struct Mix {
    sheet: target::DataSheet,
    layout: Layout,
    bus: Bus,
    submissions: Vec<Submission>,
}

impl Mix {
    fn draw(random: &mut Rng, mode: Mode) -> Self {
        let dies = 1 + below(random, 4);
        let sheet = target::DataSheet {
            endurance_cycles: 1000,
            ..sheet::draw(random, mode.multi_plane(), dies)
        };
        let mut bus = Bus::new(sheet::in_ticks(&sheet));
        for die in &mut bus.dies {
            fill(&mut die.cells, &bus.part, random);
        }
        Self {
            layout: Layout::new(&sheet.geometry, 1).unwrap(),
            submissions: draw_submissions(&bus, random, mode),
            bus,
            sheet,
        }
    }
    fn block(&self, die: usize, place: Place) -> Block {
        let plane = die * self.bus.part.planes + place.plane;
        self.layout.block(Plane(plane as u32), place.block as u32)
    }
    fn page(&self, die: usize, place: Place) -> Ppn {
        self.layout.page(self.block(die, place), place.page as u32)
    }
    /// Returns the package under test, with the array state of the reference.
    fn package(&self, interleaved: bool) -> Package {
        let mut package = Package::new(&Part::of(&self.sheet).unwrap(), interleaved);
        for (die, place) in self.blocks() {
            let programmed = self.bus.dies[die]
                .cells
                .programmed(place.plane, place.block);
            for page in 0..programmed {
                let page = self.page(die, Place { page, ..place });
                package.array_mut().program(page).unwrap();
            }
        }
        package
    }
    /// Returns the first page of each block.
    fn blocks(&self) -> Vec<(usize, Place)> {
        let part = &self.bus.part;
        let mut blocks = Vec::new();
        for die in 0..part.dies {
            for plane in 0..part.planes {
                for block in 0..part.blocks {
                    blocks.push((
                        die,
                        Place {
                            plane,
                            block,
                            page: 0,
                        },
                    ));
                }
            }
        }
        blocks
    }
}

/// Programs a random number of pages of each block once.
fn fill(cells: &mut Cells, part: &reference::Part, random: &mut Rng) {
    for block in 0..part.blocks {
        let shared = below(random, part.pages + 1);
        for plane in 0..part.planes {
            let own = below(random, part.pages + 1);
            let programmed = if one_in(random, 3) { own } else { shared };
            for page in 0..programmed {
                cells.program(Place { plane, block, page });
            }
        }
    }
}

fn draw_submissions(bus: &Bus, random: &mut Rng, mode: Mode) -> Vec<Submission> {
    let part = &bus.part;
    let planner = |die: &reference::Die| Planner {
        part,
        cells: die.cells.clone(),
        most_rows: 4,
    };
    let mut planners: Vec<_> = bus.dies.iter().map(planner).collect();
    let mut submissions = Vec::new();
    let gap = 1 + below(random, 60);
    let mut at = 0;
    for nth in 0..2 + below(random, MAX_TRANSACTIONS - 1) {
        let die = below(random, planners.len());
        let other = Mode::ALL[below(random, Mode::ALL.len())];
        let usable = part.planes > 1 || !other.multi_plane();
        let mixed = nth > 0 && usable && one_in(random, 3);
        let wanted = if mixed { other } else { mode };
        if let Some(transaction) = planners[die].plan(random, wanted) {
            submissions.push(Submission {
                at,
                die,
                transaction,
            });
        }
        if !one_in(random, 4) {
            at += below(random, gap) as u64;
        }
    }
    submissions
}

fn operation(mode: Mode) -> Operation {
    if mode.reads() {
        Operation::Read
    } else if mode.programs() {
        Operation::Program
    } else if mode.erases() {
        Operation::Erase
    } else {
        Operation::Move
    }
}

/// Submits all transactions to the package under test.
fn submit(mix: &Mix, package: &mut Package) {
    for Submission {
        at,
        die,
        transaction,
    } in &mix.submissions
    {
        let page = |place: &Place| mix.page(*die, *place);
        let Transaction {
            mode,
            rows,
            targets,
        } = transaction;
        let pages: Vec<Ppn> = rows.iter().flatten().map(page).collect();
        let targets: Vec<Ppn> = targets.iter().map(page).collect();
        let submitted = wordline_nand::Transaction {
            operation: operation(*mode),
            pages: &pages,
            targets: &targets,
            planes: rows[0].len() as u32,
        };
        let at = Time::from_ps(at * TICK_PS);
        package.submit(at, &submitted).unwrap();
    }
}

fn ticks(time: Time) -> u64 {
    assert_eq!(time.ps() % TICK_PS, 0, "all durations must be whole ticks");
    time.ps() / TICK_PS
}

fn done(completion: &Completion) -> Done {
    assert_eq!(completion.result, Ok(()));
    let end = ticks(completion.completed);
    let mut rows: Vec<u64> = completion.rows.iter().map(|at| ticks(*at)).collect();
    if rows.is_empty() {
        rows.push(end);
    }
    Done { rows, end }
}

fn stages(completions: &[Completion]) -> Stages {
    let of = |stage: Stage| {
        let times = completions.iter().map(|it| it.stages[stage as usize]);
        ticks(times.sum())
    };
    Stages {
        cle: of(Stage::Cle),
        ale: of(Stage::Ale),
        tir: of(Stage::Tir),
        tor: of(Stage::Tor),
        status: of(Stage::Status),
        tin: of(Stage::Tin),
        ton: of(Stage::Ton),
        ber: of(Stage::Ber),
    }
}

/// Runs a mix on both packages and compares the results. Returns the number of transactions.
fn compare(mix: &Mix, interleaved: bool) -> usize {
    let package = reference::package::Package::new(mix.bus.clone(), interleaved, &mix.submissions);
    let due: Outcome = package.run();
    let mut package = mix.package(interleaved);
    submit(mix, &mut package);
    let mut completions: Vec<_> = std::iter::from_fn(|| package.next_completion()).collect();
    completions.sort_by_key(|completion| completion.number);
    let found: Vec<Done> = completions.iter().map(done).collect();
    let context = || format!("{:#?}\n{:?}", mix.submissions, mix.bus.part);
    assert_eq!(found, due.done, "{}", context());
    assert_eq!(stages(&completions), due.stages, "{}", context());
    for (die, place) in mix.blocks() {
        let cells = &due.dies[die].cells;
        let (array, block) = (package.array(), mix.block(die, place));
        let found = (array.programmed(block), array.erases()[block.index()]);
        let due = (
            cells.programmed(place.plane, place.block) as u32,
            cells.erases(place.plane, place.block),
        );
        assert_eq!(found, due, "{die} {place:?} {}", context());
    }
    found.len()
}

fn compare_all(interleaved: bool) {
    for mode in Mode::ALL {
        let mut random = Rng::new(11, &format!("{mode:?} {interleaved}"));
        let mut transactions = 0;
        for _ in 0..MIXES {
            transactions += compare(&Mix::draw(&mut random, mode), interleaved);
        }
        println!("{mode:?}, interleaved {interleaved}: {MIXES} mixes, {transactions} transactions");
        assert!(
            transactions >= 2 * MIXES,
            "mixes must have two transactions on average"
        );
    }
}

#[test]
fn interleaved_dies_match_the_reference() {
    compare_all(true);
}

#[test]
fn non_interleaved_dies_match_the_reference() {
    compare_all(false);
}

#[test]
fn package_and_reference_number_dies_in_the_same_order() {
    let mut random = Rng::new(13, "dies");
    let mix = Mix::draw(&mut random, Mode::MultiPlaneRead);
    for (die, place) in mix.blocks() {
        let page = mix.page(die, place);
        assert_eq!(mix.layout.die_of_page(page), Die(die as u32));
    }
}
