//! Merges of log-block, hybrid and buffered mapping, in scenarios computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use wordline_ftl::allocate::Dimensions;
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::{buffered, hybrid, log_block};
use wordline_ftl::untimed::{FlashOps, UntimedFtl};
use wordline_ftl::{
    Collection, Config, GcKind, Lpn, Map, Mapping, Plan, SpaceRequest, WriteOutcome,
};
use wordline_kernel::Rng;
use wordline_nand::{Array, Geometry, Layout, Plane};

const PAGES: u32 = 4;

struct Bench {
    map: Map,
    array: Array,
    layout: Layout,
}

impl Bench {
    fn new(mapping: Family, blocks: u32, spare: f64) -> Self {
        let geometry = Geometry {
            dies_per_package: 1,
            planes_per_die: 1,
            blocks_per_plane: blocks,
            pages_per_block: PAGES,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, 1).unwrap();
        let dimensions = Dimensions {
            channels: 1,
            ways: 1,
            dies: 1,
            planes: 1,
        };
        let config = Config {
            over_provisioning_ratio: spare,
            mapping,
            ..Config::default()
        };
        let plan = Plan::new(&config, layout, dimensions, 1).unwrap();
        Self {
            map: Map::new(&plan),
            array: Array::new(layout, u32::MAX),
            layout,
        }
    }
    fn write(&mut self, pages: impl IntoIterator<Item = u32>) -> FlashOps {
        let mut device = UntimedFtl::new(&mut self.map, &mut self.array, self.layout);
        for page in pages {
            device.write(Lpn(page)).unwrap();
        }
        let work = device.work();
        self.map.audit().unwrap();
        work
    }
    /// Returns the space that the next write of a page waits for, and the kind of GC run that gains
    /// it.
    fn needs(&mut self, page: u32) -> (SpaceRequest, GcKind) {
        let mut map = self.map.clone();
        let WriteOutcome::Blocked(want) = map.write(Lpn(page)) else {
            panic!("page {page} has room");
        };
        let Collection { kind, .. } = map.collect(want).unwrap();
        (want, kind)
    }
}

fn log_block(record_erases: bool) -> Family {
    Family::LogBlock(log_block::LogBlock {
        record_erases,
        ..log_block::LogBlock::default()
    })
}

fn hybrid(data_blocks: u32, update_blocks: u32) -> Family {
    Family::Hybrid(hybrid::Hybrid {
        data_blocks,
        update_blocks,
        record_erases: false,
        ..hybrid::Hybrid::default()
    })
}

/// An update block written in order needs no copy: only the block with the previous versions is
/// erased.
#[test]
fn update_block_written_in_order_replaces_the_data_block_without_a_copy() {
    let mut bench = Bench::new(log_block(false), 16, 0.4);
    assert_eq!(bench.write(0..4).erased, 0);
    assert_eq!(bench.write(0..4).erased, 0);
    assert_eq!(bench.needs(0).1, GcKind::Switch);
    let work = bench.write([0]);
    assert_eq!((work.moved, work.erased), (0, 1));
}

/// Two of four pages are written in order. The others are copied after them.
#[test]
fn partial_merge_copies_the_pages_after_those_written_in_order() {
    let mut bench = Bench::new(log_block(false), 16, 0.4);
    bench.write(0..4);
    bench.write([0, 1]);
    let want = SpaceRequest::Update(Plane(0), wordline_ftl::LogicalBlock(0));
    assert_eq!(bench.map.cost(want).pages, 2);
    let collection = bench.map.collect(want).unwrap();
    assert_eq!(collection.kind, GcKind::Partial);
}

/// Pages are written out of order. All four are copied, both blocks are erased, and two records are
/// written.
#[test]
fn full_merge_copies_all_pages_and_records_both_erases() {
    let mut bench = Bench::new(log_block(true), 16, 0.5);
    bench.write(0..4);
    bench.write([1, 0, 1, 1]);
    assert_eq!(bench.needs(2).1, GcKind::Full);
    let work = bench.write([2]);
    assert_eq!((work.moved, work.erased, work.metadata), (4, 2, 2));
}

/// Only pages 1 and 3 were written. They are copied to their offsets, and filler pages are
/// programmed at 0 and 2 to keep the order in the block.
#[test]
fn merge_programs_filler_pages_for_pages_never_written() {
    let mut bench = Bench::new(log_block(false), 16, 0.4);
    let work = bench.write([3, 1, 3, 1, 1]);
    assert_eq!((work.moved, work.erased, work.metadata), (2, 1, 2));
}

/// With 2:2 mapping, the first block remains because all its pages are current.
#[test]
fn hybrid_merge_keeps_fully_valid_blocks() {
    let mut bench = Bench::new(hybrid(2, 2), 16, 0.4);
    bench.write(0..8);
    let work = bench.write([4, 4, 4, 4, 5, 5, 5, 5]);
    assert_eq!(work.erased, 0);
    assert_eq!(bench.needs(6).1, GcKind::Partial);
    let work = bench.write([6]);
    // Pages 4, 5, 6 and 7 are copied into one block, which leaves three blocks empty.
    assert_eq!((work.moved, work.erased), (4, 3));
}

#[test]
fn tables_stay_consistent_under_random_writes() {
    let families = [
        log_block(true),
        hybrid(2, 8),
        hybrid(1, 1),
        hybrid(3, 2),
        Family::Buffered(buffered::Buffered {
            buffer_ratio: 0.2,
            ..buffered::Buffered::default()
        }),
    ];
    for family in families {
        let mut bench = Bench::new(family.clone(), 40, 0.5);
        let pages = u64::from(bench.map.user_pages());
        let mut random = Rng::new(7, "merges");
        for _ in 0..300 {
            let batch: Vec<u32> = (0..50).map(|_| random.below(pages) as u32).collect();
            bench.write(batch);
        }
    }
}
