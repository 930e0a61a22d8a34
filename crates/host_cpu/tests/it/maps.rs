//! Contents, sizes and paging of maps, compared with a naive map that has one entry per unit and a
//! naive cache of map pages.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wordline_block::Op;
use wordline_cache::Replacement;
use wordline_cache::replacement::{clock, lru};
use wordline_host_cpu::mapping::b_tree::BTree;
use wordline_host_cpu::mapping::cached_table::CachedTable;
use wordline_host_cpu::mapping::flat_table::FlatTable;
use wordline_host_cpu::mapping::{Map, MapState, Region, Touch, Units};
use wordline_host_cpu::stats::Loads;
use wordline_host_cpu::{Mapping, Memory};

/// Naive map: write sequence number of each unit, and all units ever written.
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
    /// Returns the number of runs of mapping units that were written consecutively.
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

/// A store of 800 units.
const REGION: Region = Region {
    store_bytes: 800 * 512,
    unit_bytes: 512,
};

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
    fn b_tree_has_as_many_extents_as_the_naive_map(steps in prop::collection::vec(step(), 1..300)) {
        let nodes_of_four = BTree { extent_bytes: 64, node_bytes: 256 };
        let (mut map, mut naive) = (MapState::new(&Mapping::BTree(nodes_of_four), REGION), Naive::default());
        both(&mut map, &mut naive, &steps);
        let Memory { units, entries, bytes } = map.memory();
        prop_assert_eq!(units, naive.units.len() as u64);
        prop_assert_eq!(entries, naive.extents());
        // A leaf holds up to four extents. All leaves but the first hold at least one.
        prop_assert!(bytes >= entries.div_ceil(4) * 256);
        prop_assert!(bytes <= 2 * (entries + 1) * 256);
    }

    #[test]
    fn flat_table_keeps_every_page_in_which_a_unit_was_ever_mapped(steps in prop::collection::vec(step(), 1..300)) {
        let table = FlatTable { entry_bytes: 8, page_bytes: 128 };
        let (mut map, mut naive) = (MapState::new(&Mapping::FlatTable(table), REGION), Naive::default());
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
    let mut map = MapState::new(&Mapping::BTree(tree), REGION);
    units.for_each(|first| {
        map.write(Units { first, count: 1 });
    });
    map.memory()
}

/// Returns the share of the map's memory that extents of 16 bytes fill.
fn fill(memory: Memory) -> f64 {
    memory.entries as f64 * 16.0 / memory.bytes as f64
}

#[test]
fn random_inserts_fill_b_tree_nodes_to_ln_2_and_ascending_inserts_to_half() {
    // Random insertion fills nodes to ln 2, up to an error of one over the number of extents per
    // node (A. C.-C. Yao, On random 2-3 trees, Acta Informatica 9, 1978). With 64 extents per node,
    // only 1 node in 44 is an inner node. With 256 extents per node, many leaves would split at
    // about the same time.
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
fn sequential_write_of_all_units_is_one_extent() {
    let memory = tree_of(4096, 0..100_000);
    assert_eq!(
        (memory.entries, memory.units, memory.bytes),
        (1, 100_000, 4096)
    );
}

/// Naive cache of map pages. It evicts the least recently used page, or the first page whose bit is
/// clear (CLOCK).
struct NaiveCache {
    is_clock: bool,
    room: usize,
    /// Pages with two flags each: used again since insertion, and dirty. The first page is the next
    /// candidate for eviction.
    pages: Vec<(u64, bool, bool)>,
    in_flash: BTreeSet<u64>,
    loads: Loads,
    /// Store requests of the last operation: page written and page read, per miss.
    asked: Vec<(Option<u64>, Option<u64>)>,
}

impl NaiveCache {
    fn make_room(&mut self) -> Option<u64> {
        if self.pages.len() < self.room {
            return None;
        }
        loop {
            let (page, used, changed) = self.pages.remove(0);
            if self.is_clock && used {
                self.pages.push((page, false, changed));
                continue;
            }
            if changed {
                self.in_flash.insert(page);
                self.loads.write_backs += 1;
            }
            return changed.then_some(page);
        }
    }
    fn touch(&mut self, page: u64, op: Op) {
        let update = op != Op::Read;
        if let Some(place) = self.pages.iter().position(|(own, ..)| *own == page) {
            self.loads.hits += 1;
            let (_, used, changed) = &mut self.pages[place];
            (*used, *changed) = (true, *changed || update);
            if !self.is_clock {
                let own = self.pages.remove(place);
                self.pages.push(own);
            }
            return;
        }
        let known = self.in_flash.contains(&page);
        if known || op == Op::Write {
            let written = self.make_room();
            self.loads.misses += u64::from(known);
            self.pages.push((page, false, update));
            self.asked.push((written, known.then_some(page)));
        }
    }
}

fn asked() -> impl Strategy<Value = (Op, Units)> {
    let op = prop_oneof![3 => Just(Op::Read), 3 => Just(Op::Write), 1 => Just(Op::Trim)];
    let units = (0..SPACE, 1_u64..40).prop_map(|(first, count)| Units { first, count });
    (op, units)
}

proptest! {
    #[test]
    fn cached_table_has_the_hits_and_misses_of_the_naive_cache(
        steps in prop::collection::vec(asked(), 1..300), room in 1_usize..12, is_clock in any::<bool>(), filled in 0..SPACE,
        cut in prop::option::of(0_usize..300),
    ) {
        let replacement = if is_clock {
            Replacement::Clock(clock::Clock::default())
        } else {
            Replacement::Lru(lru::Lru::default())
        };
        // A page has 16 entries, so a store of 800 units of 512 bytes needs 48 pages for its map.
        let table = CachedTable { entry_bytes: 32, page_bytes: 512, memory_bytes: 48 * 32 + room as u64 * 512 + 511, replacement };
        let limit = table.memory_bytes;
        let mut map = MapState::new(&Mapping::CachedTable(table), REGION);
        let mut units_mapped: BTreeSet<u64> = (0..filled).collect();
        map.fill(Units { first: 0, count: filled });
        let mut naive = NaiveCache {
            is_clock,
            room,
            pages: Vec::new(),
            in_flash: (0..filled.div_ceil(16)).collect(),
            loads: Loads::default(),
            asked: Vec::new(),
        };
        for (number, (op, units)) in steps.into_iter().enumerate() {
            if cut == Some(number) {
                // Recovery loads the dirty pages, in order of address.
                map.recover();
                naive.pages.retain(|(_, _, changed)| *changed);
                naive.pages.sort_unstable();
                naive.pages.iter_mut().for_each(|(_, used, _)| *used = false);
            }
            let range = units.first..units.end();
            match op {
                Op::Write => {
                    map.write(units);
                    units_mapped.extend(range);
                }
                Op::Trim => {
                    map.trim(units);
                    units_mapped.retain(|unit| !range.contains(unit));
                }
                _ => prop_assert_eq!(map.look_up(units), units.count + (units.end() - 1) / 16 - units.first / 16 + 1),
            }
            let mut touches = Vec::new();
            map.touch(units, op, &mut touches);
            naive.asked.clear();
            for page in units.first / 16..=(units.end() - 1) / 16 {
                naive.touch(page, op);
            }
            let of_flash = |touch: &Touch| (touch.is_written.then_some(touch.left).flatten(), touch.is_loaded.then_some(touch.page));
            let found: Vec<_> = touches.iter().filter(|touch| !touch.is_resident).map(of_flash).collect();
            prop_assert_eq!(&found, &naive.asked);
            prop_assert_eq!(map.loads(), naive.loads);
            let memory = map.memory();
            prop_assert_eq!(memory.bytes, 48 * 32 + naive.pages.len() as u64 * 512);
            prop_assert!(memory.bytes <= limit);
            prop_assert_eq!(memory.units, units_mapped.len() as u64);
        }
    }

    #[test]
    fn cached_table_reserves_pages_for_all_units_to_within_one_mib(
        store_bytes in 2_u64 << 20..1 << 40, entry_bytes in 1_u64..65, page in 9_u32..15, unit in 9_u32..15,
    ) {
        let table = CachedTable { entry_bytes, page_bytes: 1 << page, ..CachedTable::default() };
        let unit_bytes = 1 << unit;
        let reserved = table.reserved(store_bytes, unit_bytes);
        prop_assert_eq!(reserved % (1 << 20), 0);
        let entries = (1_u64 << page) / entry_bytes;
        let pages = |units: u64| units.div_ceil(entries) << page;
        // There are pages for all remaining units, and less than 1 MiB is reserved in excess.
        let left = store_bytes.saturating_sub(reserved);
        prop_assert!(pages(left.div_ceil(unit_bytes)) <= reserved);
        if reserved > 1 << 20 {
            let more = store_bytes - (reserved - (1 << 20));
            prop_assert!(pages(more.div_ceil(unit_bytes)) + (1 << page) > reserved - (1 << 20));
        }
    }
}
