//! FTL on the host: mapping and GC take CPU time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request, Ticket};
use wordline_kernel::slot::Cited;
use wordline_kernel::{Plus, Time};

use crate::mapping::{Map, MapState, Mapping, Region, Touch, Units};
use crate::paging::Paging;
use crate::stats::{Cause, Shares};

/// FTL in a driver of the host. Each look-up, update and GC step takes CPU time. The map is in host
/// memory; with `cached-table`, only part of it is. The device performs the same operations as with
/// its own FTL, and does not wait for the CPU: a GC step is charged when the flash has completed
/// it. After a power cut the map is unchanged, because it is rebuilt while the device recovers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlashSoftware {
    /// Structure of the map.
    pub mapping: Mapping,
    /// Mapping unit, such as a sector. Bytes.
    #[schemars(range(min = 512, max = 16_777_216))]
    pub unit_bytes: u64,
    /// CPU time per step of a look-up: an entry of a table or of its directory, a tree node, or
    /// each extent of a tree after the first. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub lookup_ns: u64,
    /// CPU time per step of an update. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub update_ns: u64,
    /// CPU time per GC step: a page read, programmed or moved, or a block erased. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub collection_ns: u64,
    /// Whether look-ups, updates and GC steps run under the lock that the workers share.
    pub locked: bool,
}

impl Default for FlashSoftware {
    fn default() -> Self {
        Self {
            mapping: Mapping::default(),
            unit_bytes: 512,
            lookup_ns: 200,
            update_ns: 400,
            collection_ns: 1_000,
            locked: true,
        }
    }
}

impl FlashSoftware {
    /// Returns the region that the map covers. The store is `store_bytes` long.
    pub(crate) fn region(&self, store_bytes: u64) -> Region {
        Region {
            store_bytes,
            unit_bytes: self.unit_bytes,
        }
    }
}

impl Cited for FlashSoftware {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 4.2.2";
}

/// Numbers of steps of a request's map operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub lookups: u64,
    pub updates: u64,
}

/// State of the flash software.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    unit_bytes: u64,
    lookup: Time,
    update: Time,
    collection: Time,
    pub is_locked: bool,
    pub map: MapState,
    /// Number of bytes at the start of the store that are reserved for the map's pages.
    pub reserved: u64,
    pub paging: Paging,
    /// Accesses to pages of the map by the last request. The list is kept to reuse its allocation.
    touches: Vec<Touch>,
}

impl State {
    pub fn new(policy: &FlashSoftware, store_bytes: u64) -> Self {
        let region = policy.region(store_bytes);
        Self {
            unit_bytes: policy.unit_bytes,
            lookup: Time::from_ns(policy.lookup_ns),
            update: Time::from_ns(policy.update_ns),
            collection: Time::from_ns(policy.collection_ns),
            is_locked: policy.locked,
            map: MapState::new(&policy.mapping, region),
            reserved: policy.mapping.reserved(region),
            paging: Paging::new(policy.mapping.page_bytes()),
            touches: Vec::new(),
        }
    }
    /// Returns the mapping units that a byte range touches.
    pub fn units(&self, offset: u64, bytes: u64) -> Units {
        let first = offset / self.unit_bytes;
        Units {
            first,
            count: offset.saturating_add(bytes).div_ceil(self.unit_bytes) - first,
        }
    }
    /// Applies a request to the map and returns the number of steps. Reads, writes and TRIMs look
    /// up their units. A write maps its units; a TRIM unmaps the units that it covers completely.
    pub fn serve(&mut self, ticket: Ticket, request: &Request) -> Steps {
        let Request { offset, bytes, .. } = *request;
        let units = self.units(offset, bytes);
        let lookups = match request.op {
            Op::Flush => 0,
            _ => self.map.look_up(units),
        };
        let updates = match request.op {
            Op::Read | Op::Flush => 0,
            Op::Write => self.map.write(units),
            Op::Trim => {
                let first = offset.div_ceil(self.unit_bytes);
                let end = offset.saturating_add(bytes) / self.unit_bytes;
                let count = end.saturating_sub(first);
                self.map.trim(Units { first, count })
            }
        };
        self.touches.clear();
        if request.op != Op::Flush {
            self.map.touch(units, request.op, &mut self.touches);
            self.paging.add(ticket, &self.touches);
        }
        Steps { lookups, updates }
    }
    /// Handles a power failure: drops the store operations on map pages, and recovers the map.
    pub fn stop(&mut self) {
        self.paging.stop();
        self.map.recover();
    }
    /// Returns the CPU time of map operations.
    pub fn price(&self, steps: Steps) -> Shares {
        let lookups = Shares::of(Cause::LookUp, self.lookup * steps.lookups);
        lookups.plus(Shares::of(Cause::Update, self.update * steps.updates))
    }
    /// Returns the CPU time of GC steps.
    pub fn collect(&self, steps: u32) -> Shares {
        Shares::of(Cause::Collection, self.collection * u64::from(steps))
    }
}
