//! Measures how many transactions of one page or block the package model alone executes per second.
//!
//! `cargo run --release -p wordline-nand --example speed [TRANSACTIONS]`
#![allow(clippy::print_stdout)]

#[path = "../benches/load/mod.rs"]
mod load;

use std::time::Instant;

fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let count: u64 = count.unwrap_or(5_000_000);
    for dies in [1, 2, 8] {
        let mut idle = load::dies(dies);
        let begun = Instant::now();
        idle.serve(count);
        let rate = count as f64 / begun.elapsed().as_secs_f64() / 1e6;
        let simulated = idle.package.now();
        println!("{dies} dies: {rate:.2} M transactions/s, simulated {simulated}");
    }
}
