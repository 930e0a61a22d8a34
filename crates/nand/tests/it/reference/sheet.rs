//! Random parts, as data sheets and in ticks.

use wordline_kernel::Rng;
use wordline_nand::cell::mlc_alpha::MlcAlpha;
use wordline_nand::target;
use wordline_nand::{Cell, Geometry, Latencies, PerLevel, PlaneRule, Suspend, Timing};

use super::plan::{below, one_in};
use super::{Part, TICK_PS};

/// Converts ticks to nanoseconds.
fn ns(ticks: u64) -> u64 {
    ticks * TICK_PS / 1000
}

/// Returns a random duration of `from` to `from + count - 1` ticks. Nanoseconds.
fn draw_ns(random: &mut Rng, from: u64, count: usize) -> u64 {
    ns(from + below(random, count) as u64)
}

/// Returns a random part with `dies` dies. The part has several planes if `several_planes` is set.
pub fn draw(random: &mut Rng, several_planes: bool, dies: usize) -> target::DataSheet {
    let rules = [PlaneRule::PageOffset, PlaneRule::PageAndBlockOffset];
    target::DataSheet {
        geometry: draw_geometry(random, several_planes, dies),
        timing: draw_timing(random),
        cell: Cell::MlcAlpha(MlcAlpha { lambda: 2 }),
        plane_rule: rules[below(random, 2)],
        suspend: draw_suspend(random),
        endurance_cycles: 2 + below(random, 20) as u32,
        partial_programs: 1 + below(random, 3) as u32,
    }
}

fn draw_geometry(random: &mut Rng, several_planes: bool, dies: usize) -> Geometry {
    Geometry {
        dies_per_package: dies as u32,
        planes_per_die: 1 + u32::from(several_planes) + below(random, 2) as u32,
        blocks_per_plane: 2 + below(random, 3) as u32,
        pages_per_block: 4 + below(random, 4) as u32,
        page_bytes: 3 + below(random, 2) as u32,
        spare_bytes: below(random, 2) as u32,
    }
}

fn draw_timing(random: &mut Rng) -> Timing {
    let reads = vec![draw_ns(random, 5, 4), draw_ns(random, 5, 8)];
    let programs = vec![draw_ns(random, 12, 8), draw_ns(random, 15, 20)];
    let row_address_cycles = 1 + below(random, 2) as u32;
    Timing {
        read_ns: PerLevel::Each(reads),
        program_ns: PerLevel::Each(programs),
        erase_ns: draw_ns(random, 20, 20),
        cache_busy_ns: draw_ns(random, 1, 3),
        plane_busy_ns: draw_ns(random, 0, 4),
        command_cycle_ns: draw_ns(random, 1, 2),
        row_address_cycles,
        address_cycles: row_address_cycles + 1 + below(random, 2) as u32,
        bus_mt_per_s: 1e6 / TICK_PS as f64,
        transfer_spare: one_in(random, 2),
        ready_busy_pin: one_in(random, 2),
        ..Timing::default()
    }
}

fn draw_suspend(random: &mut Rng) -> Suspend {
    Suspend {
        program: one_in(random, 2),
        erase: one_in(random, 2),
        program_suspend_ns: draw_ns(random, 1, 5),
        erase_suspend_ns: draw_ns(random, 1, 5),
        resume_ns: draw_ns(random, 0, 4),
        most: u32::MAX,
        longest_ns: 0,
    }
}

/// Converts the part to ticks.
pub fn in_ticks(part: &target::DataSheet) -> Part {
    let (geometry, timing, suspend) = (&part.geometry, &part.timing, &part.suspend);
    let latencies = Latencies::new(geometry, timing, &part.cell);
    let ticks = |ns: u64| (ns * 1000 / TICK_PS) as u32;
    let offsets = 0..geometry.pages_per_block;
    let read = |page| ticks(latencies.read(page).ns());
    let program = |page| ticks(latencies.program(page).ns());
    Part {
        dies: geometry.dies_per_package as usize,
        planes: geometry.planes_per_die as usize,
        blocks: geometry.blocks_per_plane as usize,
        pages: geometry.pages_per_block as usize,
        page_bytes: geometry.page_bytes,
        spare_bytes: geometry.spare_bytes,
        transfer_spare: timing.transfer_spare,
        column_cycles: (timing.address_cycles - timing.row_address_cycles) as usize,
        row_cycles: timing.row_address_cycles as usize,
        cycle: ticks(timing.command_cycle_ns),
        read: offsets.clone().map(read).collect(),
        program: offsets.map(program).collect(),
        erase: ticks(timing.erase_ns),
        register: ticks(timing.cache_busy_ns),
        plane_busy: ticks(timing.plane_busy_ns),
        program_suspend: suspend.program.then(|| ticks(suspend.program_suspend_ns)),
        erase_suspend: suspend.erase.then(|| ticks(suspend.erase_suspend_ns)),
        resume: ticks(suspend.resume_ns),
        partial_programs: part.partial_programs,
        endurance: part.endurance_cycles,
        same_block: part.plane_rule == PlaneRule::PageAndBlockOffset,
        pins: timing.ready_busy_pin,
    }
}
