//! Scripts of bus cycles for one die, and their corruption.

use std::collections::VecDeque;

use wordline_kernel::Rng;

use super::chain::{Transaction, chain};
use super::plan::{below, one_in};
use super::{Cycle, Part, Place};

/// Step of a script.
#[derive(Clone, Debug)]
pub enum Step {
    /// A cycle, as soon as the bus is free.
    Cycle(Cycle),
    /// Wait until RDY = 1, with a status read now and then.
    Wait,
    /// A pause of this many ticks.
    Gap(u32),
    /// A cycle while the bus is held.
    Intrude(Cycle),
    /// Reads and the resume command, if an operation of the die is suspended.
    WhileSuspended,
}

/// Remaining steps of a die.
pub type Script = VecDeque<Step>;

/// Known opcodes of the interface, and some unknown ones.
const OPCODES: [u8; 27] = [
    0x00, 0x30, 0x31, 0x3f, 0x32, 0x35, 0x05, 0x06, 0xe0, 0x80, 0x10, 0x15, 0x11, 0x85, 0x60, 0xd0,
    0xd1, 0x70, 0xff, 0x84, 0x13, 0x61, 0xd2, 0x01, 0x90, 0xaa, 0x78,
];

const STATUS: Cycle = Cycle::Command(0x70);
const STATUS_BYTE: Cycle = Cycle::DataOut { bytes: 1 };

/// Writes the script of a transaction for a host that waits for the die, with random polls and
/// pauses.
pub fn write(part: &Part, transaction: &Transaction, random: &mut Rng) -> Script {
    let mut script = Script::new();
    let mut contents = random.clone();
    let holds = chain(part, transaction, &mut || contents.bits());
    *random = contents;
    for hold in holds {
        let mut cycles = hold.cycles.into_iter().peekable();
        while let Some(cycle) = cycles.next() {
            match cycle {
                STATUS => {
                    cycles.next();
                    if one_in(random, 3) {
                        poll(&mut script);
                    }
                }
                Cycle::DataIn { content, .. } => data_in(part, content, random, &mut script),
                Cycle::DataOut { .. } => data_out(part, random, &mut script),
                _ => script.push_back(Step::Cycle(cycle)),
            }
            if one_in(random, 40) {
                script.push_back(Step::Gap(1 + below(random, 9) as u32));
            }
        }
        if hold.waits {
            script.push_back(Step::Wait);
            if one_in(random, 8) {
                script.push_back(Step::Gap(1 + below(random, 30) as u32));
            }
        } else if one_in(random, 3) {
            poll(&mut script);
        }
    }
    script
}

/// Appends a status read: 70h and one byte.
pub fn poll(script: &mut Script) {
    script.push_back(Step::Cycle(STATUS));
    script.push_back(Step::Cycle(STATUS_BYTE));
}

/// Appends a random number of bytes of a page, in one or two cycles.
fn data_in(part: &Part, content: u64, random: &mut Rng, script: &mut Script) {
    for bytes in pieces(part, random) {
        script.push_back(Step::Cycle(Cycle::DataIn { bytes, content }));
    }
}

/// Appends a read of part of a page's data, and sometimes another read from a new column.
fn data_out(part: &Part, random: &mut Rng, script: &mut Script) {
    for bytes in pieces(part, random) {
        script.push_back(Step::Cycle(Cycle::DataOut { bytes }));
    }
    if one_in(random, 6) {
        let mut column = below(random, part.whole_page() as usize);
        script.push_back(Step::Cycle(Cycle::Command(0x05)));
        for _ in 0..part.column_cycles {
            script.push_back(Step::Cycle(Cycle::Address(column as u8)));
            column >>= 8;
        }
        script.push_back(Step::Cycle(Cycle::Command(0xe0)));
        let bytes = 1 + below(random, part.whole_page() as usize) as u32;
        script.push_back(Step::Cycle(Cycle::DataOut { bytes }));
    }
}

fn pieces(part: &Part, random: &mut Rng) -> Vec<u32> {
    let all = 1 + below(random, part.whole_page() as usize) as u32;
    if all > 1 && one_in(random, 3) {
        let first = 1 + below(random, all as usize - 1) as u32;
        vec![first, all - first]
    } else {
        vec![all]
    }
}

/// Returns a random cycle, valid or not.
pub fn any_cycle(part: &Part, random: &mut Rng) -> Cycle {
    let bytes = 1 + below(random, part.whole_page() as usize + 1) as u32;
    match below(random, 6) {
        0..3 => Cycle::Command(OPCODES[below(random, OPCODES.len())]),
        3 => Cycle::Address(any_byte(random)),
        4 => Cycle::DataIn {
            bytes,
            content: random.bits(),
        },
        _ => Cycle::DataOut { bytes },
    }
}

fn any_byte(random: &mut Rng) -> u8 {
    let wide = one_in(random, 8);
    below(random, if wide { 256 } else { 40 }) as u8
}

/// Returns the transaction with some of its pages changed at random, regardless of the rules of the
/// array and of the planes.
pub fn wild(part: &Part, transaction: &Transaction, random: &mut Rng) -> Transaction {
    let any = |random: &mut Rng| Place {
        plane: below(random, part.planes),
        block: below(random, part.blocks),
        page: below(random, part.pages),
    };
    let mut wild = transaction.clone();
    let places = wild.rows.iter_mut().flatten().chain(&mut wild.targets);
    let thorough = one_in(random, 3);
    for place in places {
        if thorough || one_in(random, 3) {
            match below(random, 4) {
                0 => *place = any(random),
                1 => place.plane = any(random).plane,
                2 => place.block = any(random).block,
                _ => place.page = any(random).page,
            }
        }
    }
    wild
}

/// Corrupts a script in one place.
pub fn spoil(part: &Part, script: &mut Script, random: &mut Rng) {
    let is_cycle = |step: &Step| matches!(step, Step::Cycle(_));
    let all = 0..script.len();
    let cycles: Vec<_> = all.filter(|nth| is_cycle(&script[*nth])).collect();
    if cycles.is_empty() {
        return;
    }
    let nth = cycles[below(random, cycles.len())];
    let any = any_cycle(part, random);
    let Step::Cycle(cycle) = script[nth] else {
        return;
    };
    match below(random, 11) {
        0 => drop(script.remove(nth)),
        1 => script.insert(nth, script[nth].clone()),
        2 => script.swap(nth, cycles[below(random, cycles.len())]),
        3 => {
            let next = cycles.iter().find(|other| **other > nth);
            script.swap(nth, *next.unwrap_or(&nth));
        }
        4 => script[nth] = Step::Cycle(any),
        5 => script.insert(nth, Step::Cycle(any)),
        6 => script.insert(nth + 1, Step::Intrude(cycle)),
        7 => impatient(script, random),
        8 => insatiable(part, script),
        9 => {
            let addresses: Vec<_> = cycles
                .into_iter()
                .filter(|nth| matches!(script[*nth], Step::Cycle(Cycle::Address(_))))
                .collect();
            if !addresses.is_empty() {
                let nth = addresses[below(random, addresses.len())];
                script[nth] = Step::Cycle(Cycle::Address(any_byte(random)));
            }
        }
        _ => {
            let until = nth + below(random, script.len() - nth);
            script.drain(nth..until);
        }
    }
}

/// Removes a random wait from a script.
fn impatient(script: &mut Script, random: &mut Rng) {
    let all = 0..script.len();
    let waits: Vec<_> = all
        .filter(|nth| matches!(script[*nth], Step::Wait))
        .collect();
    if !waits.is_empty() {
        script.remove(waits[below(random, waits.len())]);
    }
}

/// Extends a cache read beyond the length of a block.
fn insatiable(part: &Part, script: &mut Script) {
    let mut steps = script.iter();
    let sequential = |step: &Step| matches!(step, Step::Cycle(Cycle::Command(0x31)));
    if let Some(nth) = steps.position(sequential) {
        for _ in 0..part.pages {
            script.insert(nth, Step::Wait);
            script.insert(nth, Step::Cycle(Cycle::Command(0x31)));
        }
    }
}
