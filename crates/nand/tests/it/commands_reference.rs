//! Compares the command interface with reference dies that are stepped tick by tick.
//!
//! In every mode of operation, on one die and on several dies whose cycles interleave on the bus,
//! both sides receive the same cycles. The test compares the verdict after each cycle, RDY and ARDY
//! of all dies but the bus holder at every tick, the output at every data cycle, and the arrays
//! after every sequence. Half of the sequences are legal; the others are corrupted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

use crate::reference;

use reference::chain::{Mode, Transaction};
use reference::pair::{Pair, Refusals};
use reference::plan::{Planner, below, one_in};
use reference::play::Play;
use reference::script::{self, Script, Step};
use reference::{Cycle, Part, Refusal};
use wordline_kernel::Rng;

/// Minimum number of legal sequences, and of corrupted ones, per mode, on one die and on several.
const SEQUENCES: usize = 10_000;
/// Maximum sequences per package.
const LIFE: usize = 60;
/// Plans transactions of a mode for one die, with the erases and programs that must precede them.
/// Returns `None` if the blocks of the die are worn out.
fn plan(pair: &Pair, die: usize, mode: Mode, random: &mut Rng) -> Option<Vec<Transaction>> {
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

/// Numbers of sequences and cycles of one mode.
struct Counts {
    legal: usize,
    spoilt: usize,
    illegal: usize,
    cycles: usize,
    refusals: Refusals,
}

/// Runs sequences on one package until it is worn out or has reached its maximum.
fn live(mode: Mode, dies: usize, random: &mut Rng, counts: &mut Counts) {
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
        counts.cycles += pair.issued.len();
        pair.issued.clear();
    }
    for (refusal, times) in pair.refusals {
        *counts.refusals.entry(refusal).or_default() += times;
    }
}

/// Corrupts the script of one die, and those of other dies at random.
fn spoil(part: &Part, plans: &[Vec<Transaction>], scripts: &mut [Script], random: &mut Rng) {
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
fn recover(pair: &mut Pair, random: &mut Rng) {
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
    let mut random = Rng::new(7, &name);
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

/// Compares all modes on one die, or on two or three if `dies` is not 1, and prints the counts of
/// each mode.
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
            "{mode:?}, dies {dies}: {legal} legal, {spoilt} spoilt, {illegal} illegal, {cycles} cycles"
        );
        assert!(legal >= SEQUENCES && spoilt >= SEQUENCES);
        assert!(
            illegal * 2 > spoilt,
            "{mode:?}: too few corrupted sequences are illegal"
        );
        for (refusal, times) in counts.refusals {
            *refusals.entry(refusal).or_default() += times;
        }
    }
    println!("{refusals:?}");
    for refusal in Refusal::ALL {
        let times = refusals.get(&refusal).copied().unwrap_or(0);
        assert!(times >= 100, "{refusal:?} occurred only {times} times");
    }
}

#[test]
fn command_interface_matches_the_reference_die() {
    compare_all(1);
}

#[test]
fn command_interface_matches_reference_dies_on_one_bus() {
    compare_all(3);
}
