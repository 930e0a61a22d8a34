//! Runs on a store of any shape, with or without a host side.

use wordline_array::{Array, Leaf, Store};
use wordline_config::Plan;
use wordline_config::plan;
use wordline_flash_cache::Cached;
use wordline_ftl::precondition::Preconditioned;
use wordline_ftl::{Map, Mapping};
use wordline_hdd::Disk;
use wordline_host_cpu::Host as HostSide;
use wordline_ram_disk::RamDisk;
use wordline_recorder::Recorder;
use wordline_results::Device;
use wordline_results::outcome::CacheOutcome;
use wordline_ssd::Ssd;

use super::Options;
use super::shape::{Capabilities, RunShape, StoreOutcome};
use crate::observer::Several;

impl RunShape for HostSide<Store> {
    type Recorder = Several;
    const CAN: Capabilities = Capabilities {
        name: "a store with a host side",
        verify: true,
    };

    fn fits(plan: &Plan) -> bool {
        plan.host_side.is_some()
    }
    fn build(plan: &Plan, options: &Options, ssds: Vec<Ssd<Map>>) -> Self {
        let Some(config) = &plan.host_side else {
            unreachable!("the plan has a host side");
        };
        let mut side = Self::new(config, Store::build(plan, options, ssds));
        side.filled(0, plan.filled_bytes());
        side
    }
    fn recorder(plan: &Plan, options: &Options) -> Several {
        Store::recorder(plan, options)
    }
    fn free_blocks(&self) -> Vec<u32> {
        self.store().free_blocks()
    }
    fn end(&self, observer: Several, preconditioned: &[Preconditioned]) -> StoreOutcome {
        StoreOutcome {
            host_side: Some(self.figures()),
            ..self.store().end(observer, preconditioned)
        }
    }
}

impl RunShape for Store {
    type Recorder = Several;
    const CAN: Capabilities = Capabilities {
        name: "devices of several kinds",
        verify: true,
    };

    fn fits(_plan: &Plan) -> bool {
        true
    }
    fn build(plan: &Plan, options: &Options, ssds: Vec<Ssd<Map>>) -> Self {
        let mut builder = Builder {
            plan,
            options,
            ssds: ssds.into_iter(),
        };
        builder.build(&plan.store)
    }
    fn recorder(plan: &Plan, options: &Options) -> Several {
        Several::new(plan, Recorder::new(plan, options.requests))
    }
    fn free_blocks(&self) -> Vec<u32> {
        let mut free = Vec::new();
        for leaf in self.leaves() {
            if let Leaf::Ssd(ssd) = leaf {
                free.push(ssd.mapping().free_blocks());
            } else if let Leaf::Cached(cached) = leaf {
                free.push(cached.flash().mapping().free_blocks());
            }
        }
        free
    }
    fn end(&self, observer: Several, preconditioned: &[Preconditioned]) -> StoreOutcome {
        let recorded = observer.into_parts();
        let mut outcome = StoreOutcome {
            members: recorded.members,
            stats: self.stats(),
            ..StoreOutcome::of(recorded.whole)
        };
        let (mut done, mut hits) = (preconditioned.iter(), recorded.hits.into_iter());
        for leaf in self.leaves() {
            if let Leaf::Ssd(ssd) = leaf {
                let done = done.next();
                outcome
                    .devices
                    .extend(done.map(|done| Device::of(ssd, *done)));
            } else if let Leaf::Cached(cached) = leaf {
                let flash = Device::of(cached.flash(), Preconditioned::default());
                outcome.devices.push(flash);
                let hits = hits.next();
                outcome
                    .caches
                    .extend(hits.map(|hits| CacheOutcome::of(cached, hits)));
            }
        }
        outcome
    }
}

/// Builder of stores of any shape.
struct Builder<'a> {
    plan: &'a Plan,
    options: &'a Options,
    /// SSDs that are not the flash of a cache, in order.
    ssds: std::vec::IntoIter<Ssd<Map>>,
}

impl Builder<'_> {
    fn build(&mut self, store: &plan::Store) -> Store {
        match store {
            plan::Store::Ssd(_) => match self.ssds.next() {
                Some(ssd) => ssd.into(),
                None => unreachable!("every SSD of the plan is built"),
            },
            plan::Store::Disk(disk) => Disk::new(&disk.plan).into(),
            plan::Store::RamDisk(disk) => RamDisk::new(&disk.plan).into(),
            plan::Store::Cached(cached) => {
                let device = cached.ssd.device(&self.plan.streams);
                let backing = self.build(&cached.backing);
                let mut store = Cached::new(&cached.cache, &device, backing);
                if self.options.has_power_cuts() {
                    store.expect_power_cuts();
                }
                if self.options.verify {
                    store.verify();
                }
                store.into()
            }
            plan::Store::Array(array) => {
                let members = array.members.iter();
                let members: Vec<_> = members
                    .map(|member| (member.name.clone(), self.build(&member.store)))
                    .collect();
                Array::new(array.layout.clone(), members).into()
            }
        }
    }
}
