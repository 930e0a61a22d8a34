//! What maps hold and take, against a map that is one entry for each unit.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wordline_host::mapping::b_tree::BTree;
use wordline_host::mapping::flat_table::FlatTable;
use wordline_host::mapping::{Map, MapState, Units};
use wordline_host::{Mapping, Memory};

/// By unit: how many units were written before it. Whatever was touched at all.
#[derive(Default)]
struct Naive {
    written: u64,
    units: BTreeMap<u64, u64>,
    touched: BTreeSet<u64>,
}

impl Naive {
    fn write(&mut self, units: Units) {
        for unit in units.first..units.end() {
            self.units.insert(unit, self.written);
            self.touched.insert(unit);
            self.written += 1;
        }
    }
    fn trim(&mut self, units: Units) {
        self.units
            .retain(|unit, _| !(units.first..units.end()).contains(unit));
    }
    /// Runs of units that were written one behind the other.
    fn extents(&self) -> u64 {
        let before = |unit: u64| unit.checked_sub(1).and_then(|unit| self.units.get(&unit));
        let begins =
            |unit: &u64, written: &u64| before(*unit).map(|before| before + 1) != Some(*written);
        self.units
            .iter()
            .filter(|(unit, written)| begins(unit, written))
            .count() as u64
    }
}

const SPACE: u64 = 400;

fn step() -> impl Strategy<Value = (bool, Units)> {
    let units = (0..SPACE, 1_u64..20).prop_map(|(first, count)| Units { first, count });
    (prop::bool::weighted(0.8), units)
}

fn both(map: &mut MapState, naive: &mut Naive, steps: &[(bool, Units)]) {
    for (write, units) in steps {
        if *write {
            map.write(*units);
            naive.write(*units);
        } else {
            map.trim(*units);
            naive.trim(*units);
        }
    }
}

proptest! {
    #[test]
    fn a_tree_holds_the_runs_that_a_naive_map_has(steps in prop::collection::vec(step(), 1..300)) {
        let nodes_of_four = BTree { extent_bytes: 64, node_bytes: 256 };
        let (mut map, mut naive) = (MapState::new(&Mapping::BTree(nodes_of_four)), Naive::default());
        both(&mut map, &mut naive, &steps);
        let Memory { units, entries, bytes } = map.memory();
        prop_assert_eq!(units, naive.units.len() as u64);
        prop_assert_eq!(entries, naive.extents());
        // A leaf holds four, and but for the first one at least.
        prop_assert!(bytes >= entries.div_ceil(4) * 256);
        prop_assert!(bytes <= 2 * (entries + 1) * 256);
    }

    #[test]
    fn a_table_takes_the_pages_that_were_ever_mapped(steps in prop::collection::vec(step(), 1..300)) {
        let table = FlatTable { entry_bytes: 8, page_bytes: 128 };
        let (mut map, mut naive) = (MapState::new(&Mapping::FlatTable(table)), Naive::default());
        both(&mut map, &mut naive, &steps);
        let pages: BTreeSet<u64> = naive.touched.iter().map(|unit| unit / 16).collect();
        let memory = map.memory();
        prop_assert_eq!(memory.units, naive.units.len() as u64);
        prop_assert_eq!(memory.bytes, pages.len() as u64 * 128);
    }
}

fn tree_of(node_bytes: u64, units: impl Iterator<Item = u64>) -> Memory {
    let tree = BTree {
        node_bytes,
        ..BTree::default()
    };
    let mut map = MapState::new(&Mapping::BTree(tree));
    units.for_each(|first| {
        map.write(Units { first, count: 1 });
    });
    map.memory()
}

/// Share of the room in the nodes that extents of 16 bytes take.
fn fill(memory: Memory) -> f64 {
    memory.entries as f64 * 16.0 / memory.bytes as f64
}

#[test]
fn random_units_fill_nodes_to_ln_2_and_ascending_ones_to_a_half() {
    // A. C.-C. Yao, On random 2-3 trees, Acta Informatica 9, 1978: ln 2, but for one in the extents of a node. Nodes of 64 extents:
    // the inner ones, which are one in 44, and no longer waves of leaves that split together, as those of 256 have.
    let mut state = 1_u64;
    let random = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 24) & !1
    });
    let filled = fill(tree_of(1024, random.take(400_000)));
    assert!((filled - std::f64::consts::LN_2).abs() < 0.03, "{filled}");
    let ascending = fill(tree_of(4096, (0..200_000).map(|place| 2 * place)));
    assert!((ascending - 0.5).abs() < 0.01, "{ascending}");
}

#[test]
fn one_sequential_pass_is_one_extent() {
    let memory = tree_of(4096, 0..100_000);
    assert_eq!(
        (memory.entries, memory.units, memory.bytes),
        (1, 100_000, 4096)
    );
}
