//! Memory that partition policies take for ghosts, samples and other trackers.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code, also outside test functions

use std::num::NonZeroU32;

use wordline_partition::period::Period;
use wordline_partition::{Costs, Kind, Partition, Partitioning, Space};

fn space(total_pages: u32) -> Space {
    Space {
        total_pages,
        pages_per_block: 64,
        threshold_pages: total_pages / 100,
        page_bytes: 4096,
        start_pages: total_pages / 20 * 19,
        most_pages: total_pages / 100 * 97,
        costs: Costs::PUBLISHED,
    }
}

/// The paper states about 1 % of the flash for two lists as long as the flash, at 20 bytes per
/// entry.
#[test]
fn ghosts_use_the_declared_memory() {
    let space = space(1 << 20);
    let mut period = Period::new(&space, 16);
    for page in 0..u64::from(space.total_pages) {
        period.page(page, Kind::Write, false);
        period.page(page + (1 << 32), Kind::Read, false);
    }
    let declared: u64 = Period::memory(&space).iter().map(|table| table.most).sum();
    let (bytes, flash) = (period.bytes() as f64, space.total_bytes() as f64);
    println!(
        "{:.1} bytes per entry, {:.2} % of the flash; declared {:.2} %",
        bytes / f64::from(space.total_pages) / 2.0,
        bytes / flash * 100.0,
        declared as f64 / flash * 100.0
    );
    assert!(period.bytes() <= declared + 4096, "{bytes} of {declared}");
    assert!((0.01..0.015).contains(&(bytes / flash)), "about 1 %");
}

/// The memory of a sampled stack does not depend on the size of the flash.
#[test]
fn samples_use_the_declared_memory_and_less_than_5_percent_of_that_of_ghosts() {
    let (space, pages) = (space(1 << 20), NonZeroU32::new(2048).unwrap());
    let mut period = Period::sampled(&space, 16, pages, 1);
    for page in (0..u64::from(space.total_pages)).cycle().take(3 << 20) {
        period.page(page, Kind::Write, false);
        period.page(page + (1 << 32), Kind::Read, false);
    }
    let declared = Period::memory_of_sample(pages);
    let declared: u64 = declared.iter().map(|table| table.most).sum();
    let ghosts: u64 = Period::memory(&space).iter().map(|table| table.most).sum();
    println!(
        "{} KiB, declared {}, ghosts {}",
        period.bytes() >> 10,
        declared >> 10,
        ghosts >> 10
    );
    assert!(period.bytes() <= declared);
    assert!(period.bytes() * 20 < ghosts);
}

#[test]
fn every_policy_declares_its_memory() {
    let space = space(1 << 16);
    for policy in Partition::defaults() {
        let tables = Partitioning::memory(&policy, &space);
        let stateful = !matches!(policy, Partition::Unified(_) | Partition::Split(_));
        assert_eq!(!tables.is_empty(), stateful, "{policy:?}");
    }
}
