//! Write amplification on the device D4 compared with an independent model: greedy selection per
//! plane, GC while a plane has fewer than 26 free blocks, uniform random single-page writes. As in
//! the model, moved pages go to a separate active block.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use wordline_ftl::allocate::Dimensions;
use wordline_ftl::untimed::{FlashOps, UntimedFtl};
use wordline_ftl::{Config, Lpn, Mapping, PageMap, Plan};
use wordline_kernel::Rng;
use wordline_nand::{Array, Geometry, Layout};

const DIMENSIONS: Dimensions = Dimensions {
    channels: 8,
    ways: 4,
    dies: 1,
    planes: 2,
};

/// Fills D4 in order if `fill` is set, then writes at random. Returns the flash operations of the
/// random writes.
fn d4(fill: bool, writes: u64) -> FlashOps {
    let layout = Layout::new(&Geometry::default(), 32).unwrap();
    let mut config = Config::default();
    config.gc.start_free_ratio = 0.052;
    let plan = Plan::new(&config, layout, DIMENSIONS, 1).unwrap();
    let mut map = PageMap::new(&plan);
    let mut array = Array::new(layout, u32::MAX);
    let mut random = Rng::new(1, "writes");
    let mut device = UntimedFtl::new(&mut map, &mut array, layout);
    if fill {
        (0..plan.user_pages).for_each(|page| device.write(Lpn(page)).unwrap());
    }
    let before = device.work();
    for _ in 0..writes {
        device
            .write(Lpn(random.below(plan.user_pages.into()) as u32))
            .unwrap();
    }
    let work = device.work().since(before);
    map.audit().unwrap();
    assert_eq!(map.user_pages(), 1_782_579);
    work
}

fn assert_within_one_per_cent(measured: f64, expected: f64) {
    assert!(
        (measured / expected - 1.0).abs() < 0.01,
        "measured {measured}, expected {expected}"
    );
}

#[test]
fn write_amplification_of_six_million_writes_to_an_empty_device_matches_the_model() {
    let work = d4(false, 6_000_000);
    assert_within_one_per_cent(work.write_amplification().unwrap(), 2.018);
    assert_within_one_per_cent(work.erased as f64, 158_141.0);
}

#[test]
fn write_amplification_after_a_sequential_fill_matches_the_model() {
    let work = d4(true, 1_000_000);
    assert_within_one_per_cent(work.write_amplification().unwrap(), 4.016);
    assert_within_one_per_cent(work.moved as f64, 3_015_594.0);
    assert_within_one_per_cent(work.erased as f64, 59_529.0);
}
