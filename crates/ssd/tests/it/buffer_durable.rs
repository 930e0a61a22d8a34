//! Durability: flushes, FUA writes and power cuts, compared with a model of the acknowledgements
//! that the host received. Also tests TRIMs during destages, and empty flushes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use std::collections::HashMap;

use shared::{Tally, at, play};
use wordline_block::{BlockDevice, Op, Request};
use wordline_cache::Replacement;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Lpn, Map, Mapping, Precondition};
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_nand::Operation;
use wordline_ssd::{Event, Plan, Ssd};

const PAGE: u64 = 4096;
const SECTOR: u64 = 512;
const SECTORS: usize = 8;

fn plan(random: &mut Rng, replacement: &Replacement, capacitors: bool) -> Plan {
    let dimensions = Dimensions {
        channels: 1 + random.below(2) as u32,
        ways: 1,
        dies: 1,
        planes: 1 + random.below(2) as u32,
    };
    let config = Config {
        over_provisioning_ratio: 0.4,
        ..Config::default()
    };
    let depth = 1 + random.below(16) as u32;
    let mut plan = shared::plan(&config, dimensions, 32, 8, depth).unwrap();
    let pages = 2 + random.below(30) as u32;
    plan.buffer = Some(buffer::Plan {
        watches_balance: false,
        pages,
        replacement: replacement.clone(),
        write_through: random.below(4) == 0,
        capacitors,
        ignores_flush: false,
        batch_pages: if random.below(2) == 0 {
            0
        } else {
            1 + random.below(u64::from(pages)) as u32 / 2
        },
        idle_flush: (random.below(3) == 0).then(|| Time::from_us(random.below(3_000))),
        read_ahead: [0, 1, 5][random.below(3) as usize],
        access: Time::from_ns(100),
        port: (3_200_000, 1_000_000_000),
    });
    plan
}

/// Versions of a page that the host has written, by sector, and the versions that must never be
/// lost.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Writes so far. Count.
    last: u32,
    /// Last acknowledged version of each sector.
    told: [u32; SECTORS],
    /// Last version of each sector that was acknowledged as durable, or before an acknowledged
    /// flush.
    safe: [u32; SECTORS],
}

/// Versions that a request acknowledges: those of a write's sectors, or those that a flush makes
/// durable.
#[derive(Clone, Debug)]
enum Promise {
    Nothing,
    Write {
        durable: bool,
        sectors: Vec<(u64, u32)>,
    },
    Flush(HashMap<u32, [u32; SECTORS]>),
}

#[derive(Debug, Default)]
struct Host {
    pages: HashMap<u32, Page>,
    promises: HashMap<u32, Promise>,
}

impl Host {
    /// Records a submitted request. The device numbers writes of a page in order of submission.
    fn asks(&mut self, request: &Request) -> Promise {
        match request.op {
            Op::Write => {
                let (first, end) = (
                    request.offset / SECTOR,
                    (request.offset + request.bytes) / SECTOR,
                );
                for page in request.offset / PAGE..(request.offset + request.bytes).div_ceil(PAGE) {
                    self.pages.entry(page as u32).or_default().last += 1;
                }
                let version = |sector: u64| self.pages[&((sector / 8) as u32)].last;
                Promise::Write {
                    durable: request.fua,
                    sectors: (first..end)
                        .map(|sector| (sector, version(sector)))
                        .collect(),
                }
            }
            Op::Flush => {
                let told = self.pages.iter().map(|(page, state)| (*page, state.told));
                Promise::Flush(told.collect())
            }
            Op::Read | Op::Trim => Promise::Nothing,
        }
    }
    fn hears(&mut self, ticket: u32) {
        match self.promises.remove(&ticket).unwrap() {
            Promise::Nothing => {}
            Promise::Write { durable, sectors } => {
                for (sector, version) in sectors {
                    let page = self.pages.get_mut(&((sector / 8) as u32)).unwrap();
                    let place = (sector % 8) as usize;
                    page.told[place] = page.told[place].max(version);
                    if durable {
                        page.safe[place] = page.safe[place].max(version);
                    }
                }
            }
            Promise::Flush(told) => {
                for (page, told) in told {
                    let safe = &mut self.pages.get_mut(&page).unwrap().safe;
                    for (safe, told) in safe.iter_mut().zip(told) {
                        *safe = told.max(*safe);
                    }
                }
            }
        }
    }
    fn hears_all(&mut self, ssd: &mut Ssd<Map>) {
        for done in ssd.completions() {
            self.hears(done.ticket);
        }
    }
    /// Checks that everything durable is in flash.
    fn check(&self, ssd: &Ssd<Map>, told: &str) {
        for (page, state) in &self.pages {
            let versions = ssd.versions(Lpn(*page)).unwrap();
            for (sector, safe) in state.safe.iter().enumerate() {
                let flash = versions.flash[sector];
                assert!(
                    flash >= *safe,
                    "{told}: sector {sector} of page {page}: flash has {flash}, {safe} is durable"
                );
            }
        }
    }
    /// Checks a power cut: nothing durable is lost, and with capacitors nothing acknowledged. The
    /// model then continues from the surviving versions. Returns the number of sectors whose
    /// acknowledged version is lost.
    fn cut(&mut self, ssd: &Ssd<Map>, capacitors: bool, told: &str) -> u32 {
        let mut lost = 0;
        for (page, state) in &mut self.pages {
            let versions = ssd.versions(Lpn(*page)).unwrap();
            for sector in 0..SECTORS {
                let newest = versions.newest[sector];
                assert!(
                    newest >= state.safe[sector],
                    "{told}: sector {sector} of page {page}"
                );
                let kept = newest >= state.told[sector];
                assert!(
                    kept || !capacitors,
                    "{told}: sector {sector} of page {page}"
                );
                lost += u32::from(!kept);
                state.told[sector] = newest;
            }
            state.last = versions.last;
        }
        self.promises.clear();
        lost
    }
}

/// Runs random reads, writes, FUA writes and flushes, with power cuts after at most `gap` events if
/// `gap` is set. Returns the number of sectors whose acknowledged version is lost, and the tally.
fn run(plan: &Plan, seed: u64, requests: u64, gap: Option<u64>, told: &str) -> (u32, Tally) {
    let mut random = Rng::new(seed, "durable");
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    ssd.expect_power_cuts();
    let fill = Precondition {
        fill_pages: random.below(u64::from(plan.ftl.user_pages)) as u32,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    ssd.verify();
    let mut queue = EventQueue::<Event>::default();
    let mut tally = Tally::default();
    let mut host = Host::default();
    let space = u64::from(plan.ftl.user_pages) / 4;
    let (mut now, mut issued, mut lost) = (Time::ZERO, 0, 0);
    let mut left = gap.map_or(u64::MAX, |gap| 1 + random.below(gap));
    loop {
        while issued < requests && ssd.can_accept(0) {
            let first = random.below(space * 8);
            let sectors = [1 + random.below(7), 8, 8 + random.below(16)][random.below(3) as usize];
            let first = if sectors == 8 { first / 8 * 8 } else { first };
            let (op, fua) = match random.below(20) {
                0 => (Op::Flush, false),
                1..5 => (Op::Read, false),
                5..8 => (Op::Write, true),
                _ => (Op::Write, false),
            };
            let bytes = if op == Op::Flush { 0 } else { sectors * SECTOR };
            let request = Request {
                fua,
                ..at(
                    now,
                    op,
                    if op == Op::Flush { 0 } else { first * SECTOR },
                    bytes,
                )
            };
            let promise = host.asks(&request);
            let ticket = ssd
                .submit(
                    &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                    request,
                )
                .unwrap();
            host.promises.insert(ticket, promise);
            issued += 1;
            host.hears_all(&mut ssd);
        }
        host.check(&ssd, told);
        let Some((time, event)) = queue.pop() else {
            break;
        };
        now = time;
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
            event,
        )
        .unwrap();
        host.hears_all(&mut ssd);
        left -= 1;
        if left == 0 {
            left = 1 + random.below(gap.unwrap());
            queue = EventQueue::default();
            let cut = ssd.cut_power(now, &mut tally).unwrap();
            ssd.completions().for_each(drop);
            now += cut.time;
            lost += host.cut(&ssd, plan.buffer.as_ref().unwrap().capacitors, told);
        }
    }
    (lost, tally)
}

fn policies() -> Vec<Replacement> {
    let mut all = Replacement::defaults();
    all.retain(buffer::Plan::takes);
    all
}

#[test]
fn acknowledged_durable_data_are_in_flash() {
    let mut random = Rng::new(1, "draw");
    for round in 0..6 {
        for policy in policies() {
            let plan = plan(&mut random, &policy, false);
            let told = format!("{} {round} {:?}", policy.name(), plan.buffer);
            run(&plan, round, 300, None, &told);
        }
    }
}

#[test]
fn power_cut_keeps_durable_data_and_all_acknowledged_data_with_capacitors() {
    let mut random = Rng::new(2, "draw");
    let mut lost = [0; 2];
    for round in 0..8 {
        for policy in policies() {
            let capacitors = random.below(2) == 0;
            let plan = plan(&mut random, &policy, capacitors);
            let told = format!("{} {round} {:?}", policy.name(), plan.buffer);
            lost[usize::from(capacitors)] += run(&plan, round, 300, Some(300), &told).0;
        }
    }
    assert!(
        lost[0] > 100,
        "without capacitors, acknowledged data are lost: {lost:?}"
    );
    assert_eq!(lost[1], 0);
}

/// A page that is trimmed during its destage must not reappear.
#[test]
fn trim_during_a_destage_discards_the_page() {
    for delay in [0, 500, 1_000, 2_000, 100_000, 2_000_000] {
        let mut random = Rng::new(3, "draw");
        let mut plan = plan(&mut random, &Replacement::default(), false);
        plan.queue_depth = 8;
        plan.buffer.as_mut().unwrap().pages = 4;
        plan.buffer.as_mut().unwrap().write_through = false;
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        ssd.verify();
        let start = Time::from_ms(1);
        let asked = [
            at(Time::ZERO, Op::Write, 0, PAGE),
            at(start, Op::Flush, 0, 0),
            at(start + Time::from_ns(delay), Op::Trim, 0, PAGE),
            at(Time::from_ms(50), Op::Read, 0, PAGE),
        ];
        let (_, tally) = play(&mut ssd, &asked);
        assert_eq!(
            ssd.mapping().lookup(Lpn(0)),
            None,
            "a TRIM {delay} ns later"
        );
        assert_eq!(
            (tally.trimmed, tally.unwritten),
            (1, 1),
            "a TRIM {delay} ns later"
        );
        assert_eq!(ssd.dirty_pages(), 0);
    }
}

/// Flushes without a buffer, or without dirty pages, complete at once.
#[test]
fn empty_flush_takes_no_time() {
    let mut random = Rng::new(4, "draw");
    let mut plan = plan(&mut random, &Replacement::default(), false);
    plan.queue_depth = 8;
    for buffer in [plan.buffer.clone(), None] {
        plan.buffer = buffer;
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        ssd.verify();
        let asked = [at(Time::from_ms(1), Op::Flush, 0, 0)];
        let (played, _) = play(&mut ssd, &asked);
        assert_eq!(played[0].done, asked[0].arrival);
        assert_eq!(played[0].parts.total(), Time::ZERO);
    }
}

/// A buffer that ignores flushes completes flushes and FUA writes as fast as other requests, and a
/// power cut loses the pages that they should have made durable. A buffer that obeys keeps both
/// pages.
#[test]
fn buffer_that_ignores_flushes_loses_data_that_the_host_regards_as_durable() {
    for ignores_flush in [false, true] {
        let mut random = Rng::new(4, "draw");
        let mut plan = plan(&mut random, &Replacement::default(), false);
        plan.queue_depth = 8;
        let buffer = plan.buffer.as_mut().unwrap();
        (buffer.pages, buffer.write_through) = (4, false);
        (buffer.batch_pages, buffer.idle_flush) = (0, None);
        buffer.ignores_flush = ignores_flush;
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        ssd.expect_power_cuts();
        let asked = [
            at(Time::ZERO, Op::Write, 0, PAGE),
            at(Time::from_ms(1), Op::Flush, 0, 0),
            Request {
                fua: true,
                ..at(Time::from_ms(20), Op::Write, PAGE, PAGE)
            },
        ];
        let (played, _) = play(&mut ssd, &asked);
        let program = plan.part.chains.unloaded(Operation::Program, 0);
        for (durable, request) in played[1..].iter().zip(&asked[1..]) {
            let is_fast = durable.done - request.arrival < program;
            assert_eq!(is_fast, ignores_flush, "{request:?}");
        }
        let lost = ssd.volatile_pages(0, 2 * PAGE);
        assert_eq!(lost, if ignores_flush { 2 } else { 0 });
        let cut = ssd.cut_power(Time::from_ms(40), &mut ()).unwrap();
        assert_eq!(cut.pages_lost, lost);
    }
}
