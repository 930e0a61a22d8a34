//! Energy of a run, compared with voltage x current x time computed by hand.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use crate::shared;

use wordline_runner::Results;

fn run(nand: &str, workload: &str) -> Results {
    let config = format!(
        "schema = 1\nbase = \"d4\"\n{nand}\n[nand.energy]\nsupply_v = 3.0\nio_supply_v = 2.0\n\
         read_ma = 20.0\nprogram_ma = 30.0\nerase_ma = 40.0\nio_ma = 5.0\nstandby_ua = 100.0\n\
         [nand.geometry]\nblocks_per_plane = 64\n\
         [precondition]\nfill_ratio = 1.0\noverwrite_ratio = 0.5\n\
         [workload]\n{workload}"
    );
    shared::run(config)
}

fn close(measured: f64, expected: f64) {
    assert!(
        (measured / expected - 1.0).abs() < 1e-9,
        "{measured} is not {expected}"
    );
}

#[test]
fn energy_is_voltage_times_current_times_time() {
    let results = run("", "read_ratio = 0.5\nrequests = 40_000");
    let (energy, flash) = (results.summary.energy, results.summary.flash);
    assert!(flash.erases > 0, "GC has run");
    let [reads, programs, erases] =
        [flash.page_reads, flash.page_programs, flash.erases].map(|count| count as f64);
    // mW x us = nJ; 50, 500 and 3,000 us of array time.
    close(energy.read_mj, 60.0 * 50.0 * reads / 1e6);
    close(energy.program_mj, 90.0 * 500.0 * programs / 1e6);
    close(energy.erase_mj, 120.0 * 3_000.0 * erases / 1e6);
    // A page takes 12.3003 us and 9 cycles of 25 ns on the bus, and an erase takes 7 cycles.
    let bus_us = (12.3003 + 9.0 * 0.025) * (reads + programs) + 7.0 * 0.025 * erases;
    close(energy.bus_mj, 10.0 * bus_us / 1e6);
    let time = results.summary.time;
    let span_us = (time.simulated_s - time.first_arrival_s) * 1e6;
    let idle = 32.0 * span_us * (1.0 - results.summary.utilisation.die_mean);
    close(energy.standby_mj, 0.3 * idle / 1e6);
    let parts = energy.read_mj + energy.program_mj + energy.erase_mj + energy.bus_mj;
    close(energy.total_mj, parts + energy.standby_mj);
}

#[test]
fn internal_data_moves_save_bus_but_no_program_energy() {
    let workload = "read_ratio = 0.0\nrequests = 30_000";
    let moves = "[nand]\ninternal_data_move = true\n[ftl.gc]\ninternal_data_move = true";
    let (over_bus, inside) = (run("", workload).summary, run(moves, workload).summary);
    let per_program = |energy: f64, programs: u64| energy / programs as f64;
    close(
        per_program(inside.energy.program_mj, inside.flash.page_programs),
        per_program(over_bus.energy.program_mj, over_bus.flash.page_programs),
    );
    assert!(inside.energy.bus_mj < 0.6 * over_bus.energy.bus_mj);
}
