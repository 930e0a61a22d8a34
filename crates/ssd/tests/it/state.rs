//! The state of a device can be written and read back: a restored device continues identically,
//! with policies of the FTL, the back end, the host interface and the buffer, before and after a
//! power cut.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::{Load, Tally, plan};
use wordline_block::{BlockDevice, Completion, Event as _, Op, Request};
use wordline_cache::Replacement;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::mapping::Family;
use wordline_ftl::wear::Wear;
use wordline_ftl::{Config, Map, Precondition};
use wordline_host_link::Interface;
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, Context, Digest, EventQueue, Rng, Time};
use wordline_nand::{Arbitration, Suspend};
use wordline_ssd::{Event, Plan, Ssd};

/// A device, its host, and their progress.
#[derive(Clone, Serialize, Deserialize)]
struct Run {
    ssd: Ssd<Map>,
    queue: EventQueue<Event>,
    random: Rng,
    digest: Digest,
    now: Time,
    issued: u64,
}

const REQUESTS: u64 = 300;
const LOAD: Load = Load {
    requests: REQUESTS,
    read_ratio: 0.4,
    grain_bytes: 1024,
    most_bytes: 16 * 1024,
    footprint_ratio: 0.9,
};

impl Run {
    fn new(plan: &Plan, verify: bool) -> Self {
        let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
        ssd.expect_power_cuts();
        let precondition = Precondition {
            fill_pages: plan.ftl.user_pages / 2,
            scattered: false,
            overwrite_pages: 200,
            settle: None,
            seed: 3,
        };
        ssd.precondition(&precondition, |_| true).unwrap();
        if verify {
            ssd.verify();
        }
        Self {
            ssd,
            queue: EventQueue::default(),
            random: Rng::new(7, "load"),
            digest: Digest::default(),
            now: Time::ZERO,
            issued: 0,
        }
    }
    /// Handles up to `events` events; returns `false` if there were fewer.
    fn goes_on(&mut self, events: u64) -> bool {
        let mut tally = Tally::default();
        for _ in 0..events {
            let mut probe = AnyProbe::new(&mut tally);
            let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
            while self.issued < REQUESTS && self.ssd.can_accept(0) {
                let (mut op, offset, bytes) = LOAD.next(self.ssd.user_bytes(), &mut self.random);
                if self.issued.is_multiple_of(16) {
                    op = Op::Trim;
                }
                let request = Request {
                    stream: 0,
                    op,
                    fua: false,
                    offset,
                    bytes,
                    arrival: cx.now,
                };
                self.ssd.submit(cx, request).unwrap();
                self.issued += 1;
            }
            let Some((time, event)) = cx.queue.pop() else {
                return false;
            };
            cx.now = time;
            self.digest.mix(time.0);
            event.mix(&mut self.digest);
            self.ssd.handle(cx, event).unwrap();
            self.now = time;
            for Completion { ticket, parts, .. } in self.ssd.completions() {
                self.digest.mix(ticket.into());
                let of_others = [parts.gc, parts.die_wait, parts.bus_wait, parts.buffer_wait];
                let of_itself = [
                    parts.queue,
                    parts.bus,
                    parts.cell,
                    parts.link,
                    parts.total(),
                ];
                for part in of_others.into_iter().chain(of_itself) {
                    self.digest.mix(part.0);
                }
            }
        }
        true
    }
    fn power_fails(&mut self) {
        self.queue = EventQueue::default();
        let cut = self.ssd.cut_power(self.now, &mut ()).unwrap();
        self.now += cut.time;
        self.ssd.completions().for_each(drop);
    }
}

fn written<T: Serialize>(state: &T) -> Vec<u8> {
    postcard::to_stdvec(state).unwrap()
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).unwrap()
}

/// Repeatedly stops a run and continues it from its written state; compares it with an
/// uninterrupted run.
fn survives(told: &str, plan: &Plan) {
    let mut straight = Run::new(plan, told.len().is_multiple_of(2));
    let mut stopped = straight.clone();
    for round in 0.. {
        stopped = read(&written(&stopped));
        let goes_on = straight.goes_on(137);
        assert_eq!(stopped.goes_on(137), goes_on, "{told}");
        assert_eq!(stopped.digest, straight.digest, "{told}, round {round}");
        if !goes_on {
            break;
        }
        if round == 2 {
            straight.power_fails();
            stopped.power_fails();
        }
    }
    assert_eq!(straight.issued, REQUESTS, "{told}");
    let ends = [&stopped, &straight].map(|run| {
        assert_eq!(run.ssd.outstanding(), 0, "{told}");
        run.ssd.audit().unwrap();
        let erases = run.ssd.array().erases().to_vec();
        (erases, run.ssd.stats().usage)
    });
    assert_eq!(ends[0], ends[1], "{told}");
}

fn device(config: &Config) -> Option<Plan> {
    let dimensions = Dimensions {
        channels: 2,
        ways: 1,
        dies: 1,
        planes: 2,
    };
    plan(config, dimensions, 32, 8, 12)
}

fn roomy() -> Config {
    Config {
        over_provisioning_ratio: 0.4,
        ..Config::default()
    }
}

/// Tests each policy of a family, on the default device with the change that the family needs.
fn each<P>(
    policies: &[P],
    name: impl Fn(&P) -> &'static str,
    configure: impl Fn(&P, &mut Config),
    change: impl Fn(&P, &mut Plan),
) {
    let mut runs = 0;
    for policy in policies {
        let mut config = roomy();
        configure(policy, &mut config);
        if let Some(mut plan) = device(&config) {
            change(policy, &mut plan);
            survives(name(policy), &plan);
            runs += 1;
        }
    }
    assert!(runs + 2 > policies.len(), "{runs} runs");
}

fn each_of_ftl<P>(
    policies: &[P],
    name: impl Fn(&P) -> &'static str,
    configure: impl Fn(&P, &mut Config),
) {
    each(policies, name, configure, |_, _| {});
}

fn each_of_device<P>(
    policies: &[P],
    name: impl Fn(&P) -> &'static str,
    change: impl Fn(&P, &mut Plan),
) {
    each(policies, name, |_, _| {}, change);
}

#[test]
fn runs_continue_identically_with_every_mapping() {
    each_of_ftl(&Family::defaults(), Family::name, |policy, config| {
        config.mapping = policy.clone();
    });
}

#[test]
fn runs_continue_identically_with_every_victim_policy() {
    each_of_ftl(&Victim::defaults(), Victim::name, |policy, config| {
        config.gc.victim = policy.clone();
    });
}

#[test]
fn runs_continue_identically_with_every_gc_schedule() {
    each_of_ftl(
        &Scheduling::defaults(),
        Scheduling::name,
        |policy, config| {
            config.gc.schedule = policy.clone();
        },
    );
}

#[test]
fn runs_continue_identically_with_every_allocation_policy() {
    each_of_ftl(&Allocate::defaults(), Allocate::name, |policy, config| {
        config.allocate = policy.clone();
    });
}

#[test]
fn runs_continue_identically_with_every_wear_policy() {
    each_of_ftl(&Wear::defaults(), Wear::name, |policy, config| {
        config.wear = policy.clone();
    });
}

#[test]
fn runs_continue_identically_with_every_scheduler() {
    let greedy = Composition::defaults()
        .into_iter()
        .find(|member| member.name() == "greedy");
    let greedy = greedy.unwrap();
    each_of_device(&Scheduler::defaults(), Scheduler::name, |policy, plan| {
        plan.scheduler = policy.clone();
        plan.composition = greedy.clone();
    });
}

#[test]
fn runs_continue_identically_with_every_composition_and_suspension() {
    each_of_device(
        &Composition::defaults(),
        Composition::name,
        |policy, plan| {
            plan.composition = policy.clone();
            plan.part.suspend = Suspend {
                program: true,
                erase: true,
                ..plan.part.suspend
            };
        },
    );
}

#[test]
fn runs_continue_identically_with_every_arbitration() {
    each_of_device(
        &Arbitration::defaults(),
        Arbitration::name,
        |policy, plan| {
            plan.part.arbitration = policy.clone();
        },
    );
}

#[test]
fn runs_continue_identically_with_every_interface() {
    each_of_device(&Interface::defaults(), Interface::name, |policy, plan| {
        plan.interface = policy.clone();
    });
}

#[test]
fn runs_continue_identically_with_every_buffer_replacement() {
    let policies = Replacement::defaults().into_iter();
    let policies: Vec<_> = policies.filter(buffer::Plan::takes).collect();
    assert!(policies.len() > 5, "{}", policies.len());
    for replacement in policies {
        let mut plan = device(&roomy()).unwrap();
        plan.buffer = Some(buffer::Plan {
            watches_balance: false,
            pages: 12,
            replacement: replacement.clone(),
            write_through: false,
            capacitors: replacement.name().len().is_multiple_of(2),
            ignores_flush: false,
            batch_pages: 0,
            idle_flush: None,
            read_ahead: 0,
            access: Time::from_ns(100),
            port: (3_200_000, 1_000_000_000),
        });
        survives(replacement.name(), &plan);
    }
}

#[test]
fn truncated_state_is_rejected() {
    let run = Run::new(&device(&roomy()).unwrap(), false);
    let text = written(&run);
    for end in (0..text.len()).step_by(1 + text.len() / 100) {
        assert!(postcard::from_bytes::<Run>(&text[..end]).is_err(), "{end}");
    }
}
