//! Map as a B-tree of extents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::{MAP, Map, Region, Units};
use crate::stats::Memory;

/// A B-tree of extents, each a run of mapping units that were written consecutively. A node that
/// overflows is split in half. An empty node is removed; nodes are never merged. Inner nodes are
/// assumed to be as full as the leaves. GC is assumed to preserve extents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BTree {
    /// Length of an extent entry, including its key. Bytes.
    #[schemars(range(min = 1, max = 64))]
    pub extent_bytes: u64,
    /// Length of a node. Bytes.
    #[schemars(range(min = 256, max = 1_048_576))]
    pub node_bytes: u64,
}

impl Default for BTree {
    fn default() -> Self {
        Self {
            extent_bytes: 16,
            node_bytes: 4096,
        }
    }
}

impl Cited for BTree {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 4.4.1";
}

/// Run of mapping units that were written consecutively.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Extent {
    units: Units,
    /// Number of mapping units written before the first unit of this extent.
    written: u64,
}

impl Extent {
    /// Returns the part of the extent from `unit` on.
    fn behind(&self, unit: u64) -> Self {
        Self {
            units: Units {
                first: unit,
                count: self.units.end() - unit,
            },
            written: self.written + (unit - self.units.first),
        }
    }
    /// Returns `true` if `next` continues the extent both in address and in write order.
    fn goes_on(&self, next: &Self) -> bool {
        self.units.end() == next.units.first && self.written + self.units.count == next.written
    }
}

/// Leaves of the tree by key, which is the smallest mapping unit that a leaf may hold. The first
/// leaf has key 0 and is never removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    capacity: usize,
    node_bytes: u64,
    leaves: BTreeMap<u64, Vec<Extent>>,
    /// Number of mapping units written so far.
    written: u64,
    units: u64,
    extents: u64,
}

impl State {
    pub(super) fn new(policy: &BTree, _region: Region) -> Self {
        Self {
            capacity: (policy.node_bytes / policy.extent_bytes) as usize,
            node_bytes: policy.node_bytes,
            leaves: BTreeMap::from([(0, Vec::new())]),
            written: 0,
            units: 0,
            extents: 0,
        }
    }
    /// Returns the memory estimate of the simulated map for at most `units` mapping units: one
    /// extent each, in half-full leaves. The preconditioned part is a single extent.
    pub(super) fn simulated(_policy: &BTree, units: u64, _filled: f64) -> Table {
        Table::grown::<[Extent; 2]>(MAP, units)
    }
    /// Returns the numbers of nodes and of levels.
    fn nodes(&self) -> (u64, u64) {
        let mut level = self.leaves.len() as u64;
        let fanout = (self.extents / level).max(2);
        let (mut nodes, mut levels) = (level, 1);
        while level > 1 {
            level = level.div_ceil(fanout);
            nodes += level;
            levels += 1;
        }
        (nodes, levels)
    }
    /// Returns the last extent that starts at or before `unit`, if any.
    fn at_or_before(&self, unit: u64) -> Option<&Extent> {
        let mut leaves = self.leaves.range(..=unit).rev();
        leaves.find_map(|(_, leaf)| {
            let place = leaf.partition_point(|extent| extent.units.first <= unit);
            leaf[..place].last()
        })
    }
    /// Returns the number of extents that a range of mapping units touches.
    fn touched(&self, units: Units) -> u64 {
        let before = self.at_or_before(units.first);
        let first = before.is_some_and(|extent| extent.units.end() > units.first);
        let leaves = self.leaves.range(..units.end());
        let from = leaves
            .clone()
            .rev()
            .take_while(|(key, _)| **key > units.first)
            .count();
        let inside = leaves.rev().take(from + 1).map(|(_, leaf)| {
            let place = |unit| leaf.partition_point(|extent| extent.units.first < unit);
            place(units.end()) - place(units.first + 1)
        });
        u64::from(first) + inside.sum::<usize>() as u64
    }
    fn leaf(&mut self, unit: u64) -> (u64, &mut Vec<Extent>) {
        let Some((&key, leaf)) = self.leaves.range_mut(..=unit).next_back() else {
            unreachable!("the first leaf has key 0");
        };
        (key, leaf)
    }
    fn insert(&mut self, extent: Extent) {
        let capacity = self.capacity;
        let (_, leaf) = self.leaf(extent.units.first);
        let place = leaf.partition_point(|other| other.units.first < extent.units.first);
        leaf.insert(place, extent);
        if leaf.len() > capacity {
            let upper = leaf.split_off(leaf.len() / 2);
            self.leaves.insert(upper[0].units.first, upper);
        }
        self.extents += 1;
        self.units += extent.units.count;
    }
    /// Removes the extent that starts at `first`.
    fn remove(&mut self, first: u64) {
        let (key, leaf) = self.leaf(first);
        let place = leaf.partition_point(|other| other.units.first < first);
        let extent = leaf.remove(place);
        if leaf.is_empty() && key > 0 {
            self.leaves.remove(&key);
        }
        self.extents -= 1;
        self.units -= extent.units.count;
    }
    /// Removes a range of mapping units: removes, splits or shortens each extent that it touches.
    fn cut(&mut self, units: Units) {
        while let Some(&extent) = self.at_or_before(units.end() - 1)
            && extent.units.end() > units.first
        {
            self.remove(extent.units.first);
            if extent.units.end() > units.end() {
                self.insert(extent.behind(units.end()));
            }
            if extent.units.first < units.first {
                let count = units.first - extent.units.first;
                self.insert(Extent {
                    units: Units {
                        first: extent.units.first,
                        count,
                    },
                    written: extent.written,
                });
            }
        }
    }
}

impl Map for State {
    fn look_up(&self, units: Units) -> u64 {
        self.nodes().1 + self.touched(units).saturating_sub(1)
    }
    fn write(&mut self, units: Units) -> u64 {
        let steps = self.look_up(units);
        self.cut(units);
        let mut extent = Extent {
            units,
            written: self.written,
        };
        self.written += units.count;
        if let Some(&before) = self.at_or_before(units.first)
            && before.goes_on(&extent)
        {
            self.remove(before.units.first);
            extent.units.count += before.units.count;
            extent.units.first = before.units.first;
            extent.written = before.written;
        }
        self.insert(extent);
        steps
    }
    fn trim(&mut self, units: Units) -> u64 {
        if units.count == 0 {
            return 0;
        }
        let steps = self.look_up(units);
        self.cut(units);
        steps
    }
    fn memory(&self) -> Memory {
        Memory {
            units: self.units,
            entries: self.extents,
            bytes: self.nodes().0 * self.node_bytes,
        }
    }
}
