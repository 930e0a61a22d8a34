//! Verification detects planted faults of a map, and its message shows the history of the page.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, closed_loop, plan};
use wordline_block::BlockDevice;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::recovery::{Flash, Recovery};
use wordline_ftl::{
    Collection, Config, Cost, JobId, Lpn, Mapping, PageMap, Precondition, SpaceRequest, Step,
    WriteOutcome,
};
use wordline_kernel::Time;
use wordline_nand::{Block, Plane, Ppn};
use wordline_ssd::{DeviceError, Ssd};

/// Planted fault: wrong lookups from a given call on, a wrong move, or a wrong recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// A lookup returns the previous page.
    Lookup(u32),
    /// A moved page is dropped: the map points to a copy that is never programmed.
    LostMove(u32),
    /// A lookup reports a written page as unwritten.
    Forgotten(u32),
    /// A recovery loses a page.
    Unrecovered(Lpn),
}

#[derive(Debug)]
struct Faulty {
    map: PageMap,
    fault: Fault,
    lookups: std::cell::Cell<u32>,
    moves: u32,
}

impl Faulty {
    fn new(map: PageMap, fault: Fault) -> Self {
        Self {
            map,
            fault,
            lookups: 0.into(),
            moves: 0,
        }
    }
}

impl Mapping for Faulty {
    fn user_pages(&self) -> u32 {
        self.map.user_pages()
    }
    fn free_blocks(&self) -> u32 {
        self.map.free_blocks()
    }
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.map.free_blocks_of(plane)
    }
    fn valid_pages(&self) -> u64 {
        self.map.valid_pages()
    }
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        self.map.home_plane(page)
    }
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        let place = self.map.lookup(page);
        self.lookups.set(self.lookups.get() + 1);
        match self.fault {
            Fault::Lookup(call) if self.lookups.get() >= call => {
                let other = Lpn(if page.0 == 0 { 1 } else { page.0 - 1 });
                self.map.lookup(other)
            }
            Fault::Forgotten(call) if self.lookups.get() >= call => None,
            _ => place,
        }
    }
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        self.map.write(page)
    }
    fn trim(&mut self, page: Lpn) {
        self.map.trim(page);
    }
    fn wants_collection(&self, plane: Plane) -> bool {
        self.map.wants_collection(plane)
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        self.map.collect(want)
    }
    fn is_over(&self, job: JobId) -> bool {
        self.map.is_over(job)
    }
    fn step(&mut self, job: JobId) -> Step {
        self.map.step(job)
    }
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        self.moves += 1;
        let to = self.map.relocate(job, from)?;
        match self.fault {
            // The copy is never programmed, so the mapped page holds other data.
            Fault::LostMove(call) if self.moves == call => None,
            _ => Some(to),
        }
    }
    fn erased(&mut self, block: Block, erases: u32) {
        self.map.erased(block, erases);
    }
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        self.map.full(plane)
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        self.map.shortage(plane, writes)
    }
    fn cost(&self, want: SpaceRequest) -> Cost {
        self.map.cost(want)
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        let recovery = self.map.recover(flash);
        if let Fault::Unrecovered(page) = self.fault {
            self.map.trim(page);
        }
        recovery
    }
    fn audit(&self) -> Result<(), String> {
        self.map.audit()
    }
}

fn run(fault: Fault) -> DeviceError {
    let dimensions = Dimensions {
        channels: 1,
        ways: 2,
        dies: 1,
        planes: 2,
    };
    let config = Config {
        over_provisioning_ratio: 0.4,
        ..Config::default()
    };
    let plan = plan(&config, dimensions, 16, 8, 8).unwrap();
    let load = Load {
        requests: 20_000,
        read_ratio: 0.6,
        grain_bytes: 4096,
        most_bytes: 4096,
        footprint_ratio: 1.0,
    };
    let mapping = Faulty::new(PageMap::new(&plan.ftl), fault);
    closed_loop(&plan, mapping, load, plan.ftl.user_pages, true)
        .map(|_| ())
        .unwrap_err()
}

#[test]
fn wrong_map_lookup_is_detected() {
    // The content oracle looks up every page once at the start, and the fault occurs well after
    // that.
    let DeviceError::Verification(message) = run(Fault::Lookup(3_000)) else {
        panic!("verification missed the fault")
    };
    assert!(
        message.contains("returned content that was never written there"),
        "{message}"
    );
    assert!(
        message.contains("History of the page:\n  version "),
        "{message}"
    );
}

#[test]
fn page_forgotten_by_the_map_is_detected() {
    let DeviceError::Verification(message) = run(Fault::Forgotten(3_001)) else {
        panic!("verification missed the fault")
    };
    assert!(
        message.contains("returned nothing from nowhere"),
        "{message}"
    );
}

#[test]
fn lost_move_is_detected_by_the_array_or_the_oracle() {
    match run(Fault::LostMove(5)) {
        DeviceError::Verification(message) => assert!(message.contains("version"), "{message}"),
        DeviceError::Violation { violation, .. } => {
            // The page after the lost one is programmed out of order.
            assert!(
                violation.to_string().contains("out of order"),
                "{violation}"
            );
        }
        other => panic!("{other}"),
    }
}

/// The host has not accessed the page since preconditioning.
#[test]
fn page_lost_by_recovery_is_detected() {
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let plan = plan(&Config::default(), dimensions, 64, 8, 8).unwrap();
    let fault = Fault::Unrecovered(Lpn(7));
    let mut ssd = Ssd::new(&plan, Faulty::new(PageMap::new(&plan.ftl), fault));
    ssd.expect_power_cuts();
    let precondition = Precondition {
        fill_pages: 20,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd.verify();
    let cut = ssd.cut_power(Time::ZERO, &mut ());
    let Err(DeviceError::Verification(message)) = cut else {
        panic!("verification missed the fault")
    };
    assert!(message.contains("logical page 7"), "{message}");
}
