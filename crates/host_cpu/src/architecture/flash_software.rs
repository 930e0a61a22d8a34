//! Mapping and collection on the host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request, Ticket};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use crate::mapping::{Map, MapState, Mapping, Region, Touch, Units};
use crate::paging::Paging;
use crate::stats::{Cause, Shares};

/// Mapping and collection in a driver of the host: CPU time for each look-up, update and step of a collection, and the map in the
/// host's memory. The device does the same work as ever and does not wait for the CPU; a step of a collection is charged when the
/// flash has done it. After a power cut the map is as before: it is rebuilt as the device recovers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlashSoftware {
    /// The structure of the map.
    pub mapping: Mapping,
    /// What the map maps by itself: a sector. Bytes.
    #[schemars(range(min = 512, max = 16_777_216))]
    pub unit_bytes: u64,
    /// CPU time for each step of a look-up: an entry of a table, a node or a further extent of a tree. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub lookup_ns: u64,
    /// CPU time for each step of an update. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub update_ns: u64,
    /// CPU time for each step of a collection: a page read, programmed or moved, a block erased. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub collection_ns: u64,
    /// Whether all of that is done under the lock that the workers share.
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
    /// What the map is for, in front of so many bytes.
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

/// The steps of something done with the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub lookups: u64,
    pub updates: u64,
}

/// The software at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    unit_bytes: u64,
    lookup: Time,
    update: Time,
    collection: Time,
    pub is_locked: bool,
    pub map: MapState,
    /// Bytes of the store that pages of the map take, at its beginning.
    pub reserved: u64,
    pub paging: Paging,
    /// Pages of the map that the last request touched.
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
    /// The units that some bytes touch.
    pub fn units(&self, offset: u64, bytes: u64) -> Units {
        let first = offset / self.unit_bytes;
        Units {
            first,
            count: offset.saturating_add(bytes).div_ceil(self.unit_bytes) - first,
        }
    }
    /// Does with the map what a request asks for: every request is looked up, a write is mapped anew, what a TRIM covers as a
    /// whole is mapped no more.
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
    /// The power has failed.
    pub fn stop(&mut self) {
        self.paging.stop();
        self.map.recover();
    }
    /// The CPU time of such steps.
    pub fn price(&self, steps: Steps) -> Shares {
        let lookups = Shares::of(Cause::LookUp, self.lookup * steps.lookups);
        lookups.plus(&Shares::of(Cause::Update, self.update * steps.updates))
    }
    /// The CPU time of steps of collections.
    pub fn collect(&self, steps: u32) -> Shares {
        Shares::of(Cause::Collection, self.collection * u64::from(steps))
    }
}
