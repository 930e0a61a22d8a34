//! Caches in arrays and in front of arrays: block devices nest in any way.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use serde_json::json;
use wordline_array::{AddressMap, Array, Leaf, Store};
use wordline_block::{BlockDevice, Op, Request};
use wordline_flash_cache::{Cached, Config, Plan};
use wordline_ftl::Map;
use wordline_ftl::allocate::Dimensions;
use wordline_hdd::Disk;
use wordline_host_link::Interface;
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_nand::{Cell, Geometry, Layout, Part, Timing};
use wordline_partition::Costs;
use wordline_ssd::Ssd;

const PAGE: u64 = 4096;
const DISK_PAGES: u64 = 200;

fn flash() -> wordline_ssd::Plan {
    let geometry = Geometry {
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: 24,
        pages_per_block: 8,
        page_bytes: PAGE as u32,
        ..Geometry::default()
    };
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let ftl = json!({"over_provisioning_ratio": 0.35, "gc": {"start_free_pages": 17, "hard_free_ratio": 0.0}});
    let ftl: wordline_ftl::Config = serde_json::from_value(ftl).unwrap();
    let layout = Layout::new(&geometry, 1).unwrap();
    wordline_ssd::Plan {
        part: Part::new(layout, &geometry, &Timing::default(), &Cell::default()),
        read_ahead: None,
        first_read_pages: 0,
        dies_per_channel: 1,
        dies_per_package: 1,
        composition: Composition::default(),
        scheduler: Scheduler::default(),
        page_bytes: geometry.page_bytes,
        internal_data_move: false,
        queue_depth: 64,
        interface: Interface::default(),
        streams: Vec::new(),
        buffer: None,
        ftl: wordline_ftl::Plan::new(&ftl, layout, dimensions, 1).unwrap(),
    }
}

fn disk() -> Disk {
    let disk = wordline_hdd::Config {
        capacity_bytes: Some(DISK_PAGES * PAGE),
        ..wordline_hdd::Config::default()
    };
    Disk::new(&wordline_hdd::Plan::new(&disk).unwrap())
}

/// Creates a write-back cache with verification.
fn before<B: BlockDevice>(backing: B) -> Cached<B> {
    let config: Config = serde_json::from_value(json!({"mode": "write-back"})).unwrap();
    let device = flash();
    let plan = Plan::new(&config, &device, Costs::PUBLISHED);
    let mut cached = Cached::new(&plan, &device, backing);
    cached.verify();
    cached
}

/// Serves a random load with eight outstanding requests. Returns the number of completions, and the
/// time of the last one.
fn serve<D: BlockDevice>(store: &mut D) -> (u32, Time)
where
    D::Event: Default,
    D::Error: std::fmt::Debug,
{
    let (mut queue, mut now) = (EventQueue::default(), Time::ZERO);
    let mut random = Rng::new(5, "nested");
    let pages = store.user_bytes() / PAGE;
    let (mut left, mut under_way, mut served) = (3_000, 0, 0);
    let mut nobody = ();
    while left > 0 || under_way > 0 {
        let mut probe = AnyProbe::new(&mut nobody);
        let cx = &mut Context::new(now, &mut queue, &mut probe);
        while left > 0 && under_way < 8 && store.can_accept(0) {
            let count = 1 + random.below(4);
            let first = random.below(random.clone().below(pages - 4).max(1));
            let request = Request {
                stream: 0,
                op: if random.below(2) == 0 {
                    Op::Read
                } else {
                    Op::Write
                },
                fua: false,
                offset: first * PAGE,
                bytes: count * PAGE,
                arrival: now,
            };
            store.submit(cx, request).unwrap();
            (left, under_way) = (left - 1, under_way + 1);
        }
        let done = store.completions().count() as u32;
        (under_way, served) = (under_way - done, served + done);
        if done == 0 {
            let (at, event) = queue.pop().unwrap();
            now = at;
            store
                .handle(
                    &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
                    event,
                )
                .unwrap();
        }
    }
    (served, now)
}

fn named<D>(devices: Vec<D>) -> impl Iterator<Item = (String, D)> {
    (0..)
        .map(|number: u32| format!("member {number}"))
        .zip(devices)
}

#[test]
fn an_array_of_one_cache_behaves_like_that_cache() {
    let alone = serve(&mut before(disk()));
    let map = AddressMap::concatenated(&[DISK_PAGES * PAGE]);
    let one = serve(&mut Array::new(map, named(vec![before(disk())])));
    assert_eq!(alone, one);
}

#[test]
fn caches_work_in_arrays_and_in_front_of_arrays_of_caches() {
    let sizes = [DISK_PAGES * PAGE; 3];
    let array = |stripe| {
        let caches = (0..3).map(|_| before(disk())).collect();
        Array::new(AddressMap::striped(stripe, &sizes), named(caches))
    };
    assert_eq!(serve(&mut array(8 * PAGE)).0, 3_000);
    let mut tiers = before(array(PAGE));
    assert_eq!(serve(&mut tiers).0, 3_000);
    assert!(tiers.checked() > Some(0));
    let inner = tiers.backing().members().map(Cached::figures);
    assert!(inner.map(|figures| figures.pages_written()).sum::<u64>() > 0);
}

fn ssd() -> Ssd<Map> {
    let plan = flash();
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.verify();
    ssd
}

/// A store whose structure is known at run time behaves like one of static structure: the same
/// requests complete at the same times.
#[test]
fn a_store_composed_at_run_time_behaves_like_one_composed_at_compile_time() {
    assert_eq!(serve(&mut Store::from(disk())), serve(&mut disk()));
    assert_eq!(serve(&mut Store::from(ssd())), serve(&mut ssd()));
    let alone = serve(&mut before(disk()));
    assert_eq!(serve(&mut Store::from(before(disk().into()))), alone);
    let sizes = [DISK_PAGES * PAGE; 3];
    let map = AddressMap::striped(8 * PAGE, &sizes);
    let caches = || named((0..3).map(|_| before(disk())).collect());
    let plain = serve(&mut before(Array::new(map.clone(), caches())));
    let members = (0..3).map(|_| Store::from(before(disk().into()))).collect();
    let array = Store::from(Array::new(map, named(members)));
    let mut any = Store::from(before(array));
    assert_eq!(serve(&mut any), plain);
    let kinds: Vec<&str> = any
        .leaves()
        .into_iter()
        .map(|leaf| match leaf {
            Leaf::Ssd(_) => "ssd",
            Leaf::Disk(_) => "disk",
            Leaf::RamDisk(_) => "ram",
            Leaf::Cached(cached) => {
                assert!(cached.checked() > Some(0));
                "cache"
            }
        })
        .collect();
    assert_eq!(
        kinds,
        ["cache", "cache", "disk", "cache", "disk", "cache", "disk"]
    );
}

#[test]
fn devices_of_different_kinds_work_in_one_array() {
    let members: Vec<Store> = vec![ssd().into(), disk().into(), before(ssd().into()).into()];
    let sizes: Vec<u64> = members.iter().map(Store::user_bytes).collect();
    let mut store = Store::from(Array::new(
        AddressMap::striped(PAGE, &sizes),
        named(members),
    ));
    assert_eq!(serve(&mut store).0, 3_000);
}
