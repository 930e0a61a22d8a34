//! Sends arbitrary cycles at arbitrary times to a small package. There must be no panic, the status
//! must always be readable, and a reset must make a die ready.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_kernel::Time;
use wordline_nand::{Command, Cycle, DataSheet, Die, Geometry, Target, Timing};

fn sheet() -> DataSheet {
    DataSheet {
        geometry: Geometry {
            dies_per_package: 2,
            planes_per_die: 2,
            blocks_per_plane: 2,
            pages_per_block: 4,
            ..Geometry::default()
        },
        timing: Timing {
            address_cycles: 2,
            row_address_cycles: 1,
            ..Timing::default()
        },
        endurance_cycles: 6,
        partial_programs: 2,
        ..DataSheet::default()
    }
}

fuzz_target!(|input: Vec<(u32, u8, u8)>| {
    let mut target = Target::new(&sheet()).expect("the data sheet is valid");
    let mut now = Time::ZERO;
    for (gap_ns, kind, byte) in input {
        now = now + Time::from_ns(u64::from(gap_ns % 4_000_000));
        let die = Die(u32::from(kind >> 7));
        let cycle = match kind & 3 {
            0 => Cycle::Command(Command::ALL[usize::from(byte) % Command::ALL.len()].code()),
            1 => Cycle::Address(byte & 31),
            2 => Cycle::DataIn {
                bytes: u32::from(byte),
                content: u64::from(byte),
            },
            _ => Cycle::DataOut {
                bytes: u32::from(byte),
            },
        };
        if let Ok(output) = target.issue(now, die, cycle) {
            now = output.ends;
        }
    }
    now = now.max(target.bus_free());
    for die in [Die(0), Die(1)] {
        let reset = target.issue(now, die, Command::Reset.into());
        now = reset.expect("a reset is accepted at any time").ends;
        now = now.max(target.ready_at(die));
        let status = target.status(now, die).expect("the status can be read");
        now = target.bus_free();
        assert!(status.ready(), "a die is ready after a reset");
        assert!(!status.failed(), "a reset clears the failure");
    }
});
