//! Compares the behaviour of an array with that of its members.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use std::collections::BTreeMap;

use wordline_array::{AddressMap, Array};
use wordline_block::ArrayObservation as Observation;
use wordline_block::{BlockDevice, Event, FromMember, LatencyComponents, Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Map, Mapping, Precondition};
use wordline_host_link::Interface;
use wordline_host_link::{nvme::Nvme, sata::Sata};
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, Context, Digest, EventQueue, Probe, Rng, Time};
use wordline_nand::{Cell, Geometry, Layout, Part, Timing};
use wordline_ssd::{Plan, Ssd};

/// Returns the plan of an SSD with 256 pages per die and `channels` x 2 dies.
fn plan(channels: u32, interface: &Interface) -> Plan {
    let geometry = Geometry {
        blocks_per_plane: 16,
        pages_per_block: 8,
        ..Geometry::default()
    };
    let dimensions = Dimensions {
        channels,
        ways: 2,
        dies: geometry.dies_per_package,
        planes: geometry.planes_per_die,
    };
    let layout = Layout::new(&geometry, channels * 2).unwrap();
    let config = wordline_ftl::Config {
        over_provisioning_ratio: 0.3,
        ..wordline_ftl::Config::default()
    };
    Plan {
        part: Part::new(layout, &geometry, &Timing::default(), &Cell::default()),
        read_ahead: None,
        first_read_pages: 0,
        dies_per_channel: 2 * dimensions.dies,
        dies_per_package: dimensions.dies,
        composition: Composition::default(),
        scheduler: Scheduler::default(),
        page_bytes: geometry.page_bytes,
        internal_data_move: false,
        queue_depth: 4,
        interface: interface.clone(),
        streams: Vec::new(),
        buffer: None,
        ftl: wordline_ftl::Plan::new(&config, layout, dimensions, 1).unwrap(),
    }
}

/// Returns a full SSD with verification and support for power cuts.
fn disk(channels: u32, interface: &Interface) -> Ssd<Map> {
    let plan = plan(channels, interface);
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.expect_power_cuts();
    let fill = Precondition {
        fill_pages: ssd.mapping().user_pages(),
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    ssd.verify();
    ssd
}

fn interfaces() -> [Interface; 3] {
    [
        Interface::default(),
        Interface::Sata(Sata::default()),
        Interface::Nvme(Nvme::default()),
    ]
}

/// Returns random requests of whole sectors, each with its own time of issue.
fn load(user_bytes: u64, count: u64, mean_gap_us: u64, most_bytes: u64) -> Vec<Request> {
    let mut random = Rng::new(7, "load");
    let mut arrival = Time::ZERO;
    let requests = (0..count).map(|_| {
        arrival += Time::from_ps(1 + random.below(2 * mean_gap_us * 1_000_000));
        let bytes = 512 * (1 + random.below(most_bytes / 512));
        let op = match random.below(10) {
            0 => Op::Trim,
            1..5 => Op::Write,
            _ => Op::Read,
        };
        Request {
            stream: 0,
            op,
            fua: false,
            offset: 512 * random.below((user_bytes - bytes) / 512 + 1),
            bytes,
            arrival,
        }
    });
    requests.collect()
}

/// Completed request: time of issue, time of completion, latency components.
type Done = (Time, Time, LatencyComponents);

/// Issues requests at their times, or as soon as the store accepts them. Returns the digest of the
/// run.
fn replay<S: BlockDevice>(
    store: &mut S,
    requests: &[Request],
    probe: &mut impl Probe<S::Observation>,
) -> u64 {
    replay_with_cuts(store, requests, None, probe).0
}

/// Does the same as [`replay`], with a power cut after every `events_to_cut` events, if given.
/// Returns the digest and the number of lost requests.
fn replay_with_cuts<S: BlockDevice>(
    store: &mut S,
    requests: &[Request],
    events_to_cut: Option<u64>,
    probe: &mut impl Probe<S::Observation>,
) -> (u64, usize) {
    let (mut events, mut lost) = (0, 0);
    let mut queue = EventQueue::<S::Event>::default();
    let mut digest = Digest::default();
    let mut now = Time::ZERO;
    let mut left = requests.iter().peekable();
    let mut completed = 0;
    loop {
        let due = queue.next_time();
        let ready = |request: &&Request| due.is_none_or(|due| request.arrival.max(now) <= due);
        if store.can_accept(0)
            && let Some(request) = left.next_if(|request| ready(request))
        {
            now = now.max(request.arrival);
            let taken = store.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(probe)),
                *request,
            );
            taken.unwrap_or_else(|error| panic!("{error}"));
            completed += store.completions().count();
            continue;
        }
        if Some(events) == events_to_cut {
            events = 0;
            now = due.unwrap_or(now);
            queue = EventQueue::default();
            let cut = store.cut_power(now, probe);
            now += cut.unwrap_or_else(|error| panic!("{error}")).time;
            lost += store.completions().count();
            let resumed = store.resume(&mut Context::new(
                now,
                &mut queue,
                &mut AnyProbe::new(probe),
            ));
            resumed.unwrap_or_else(|error| panic!("{error}"));
            completed += store.completions().count();
            continue;
        }
        let Some((at, event)) = queue.pop() else {
            break;
        };
        events += 1;
        now = at;
        digest.mix(now.0);
        event.mix(&mut digest);
        let handled = store.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(probe)),
            event,
        );
        handled.unwrap_or_else(|error| panic!("{error}"));
        completed += store.completions().count();
    }
    completed += lost;
    assert_eq!(
        completed,
        requests.len(),
        "every request must complete exactly once"
    );
    (digest.value(), lost)
}

/// Probe that records requests and their parts.
#[derive(Default)]
struct Observations {
    whole: Vec<Done>,
    /// Parts with their bytes, by arrival of the request.
    parts: BTreeMap<Time, Vec<(Done, u64)>>,
    /// Observations per member. Count.
    members: BTreeMap<u32, u64>,
}

impl Probe<wordline_ssd::Observation> for Observations {
    fn observe(&mut self, now: Time, observation: wordline_ssd::Observation) {
        if let wordline_ssd::Observation::Request { request, parts, .. } = observation {
            self.whole.push((request.arrival, now, parts));
        }
    }
}

impl Probe<Observation<wordline_ssd::Observation>> for Observations {
    fn observe(&mut self, now: Time, observation: Observation<wordline_ssd::Observation>) {
        match observation {
            Observation::Request {
                request,
                parts,
                depth: 0,
                ..
            } => self.whole.push((request.arrival, now, parts)),
            Observation::Request { .. } => {}
            Observation::Device(FromMember { member, of }) => {
                *self.members.entry(member).or_default() += 1;
                if let wordline_ssd::Observation::Request { request, parts, .. } = of {
                    let done = ((request.arrival, now, parts), request.bytes);
                    self.parts.entry(request.arrival).or_default().push(done);
                }
            }
        }
    }
}

fn joined<D: BlockDevice>(map: impl Fn(&[u64]) -> AddressMap, members: Vec<D>) -> Array<D> {
    let sizes: Vec<u64> = members.iter().map(D::user_bytes).collect();
    let names = (0..).map(|number| format!("ssd{number}"));
    Array::new(map(&sizes), names.zip(members))
}

fn array(map: fn(&[u64]) -> AddressMap, disks: Vec<Ssd<Map>>) -> Array<Ssd<Map>> {
    joined(map, disks)
}

fn striped(sizes: &[u64]) -> AddressMap {
    AddressMap::striped(8192, sizes)
}

fn same(observations: &[Done], expected: &[Done], what: &str) {
    let pairs = observations.iter().zip(expected);
    let first = pairs
        .enumerate()
        .find(|(_, (observations, expected))| observations != expected);
    assert_eq!(first, None, "{what}");
    assert_eq!(observations.len(), expected.len(), "{what}");
}

#[test]
fn an_array_of_one_device_behaves_like_that_device() {
    for interface in interfaces() {
        for map in [striped, AddressMap::concatenated] {
            for gap_us in [50, 400, 5000] {
                let mut single = disk(2, &interface);
                let requests = load(single.user_bytes(), 1500, gap_us, 40_000);
                let mut one = array(map, vec![disk(2, &interface)]);
                assert_eq!(one.user_bytes(), single.user_bytes());
                let (mut expected, mut observations) =
                    (Observations::default(), Observations::default());
                replay(&mut single, &requests, &mut expected);
                replay(&mut one, &requests, &mut observations);
                same(&observations.whole, &expected.whole, interface.name());
            }
        }
    }
}

/// Requests that no device had accepted are served after a power cut. An array behaves like a
/// single device with a host that holds requests back.
#[test]
fn an_array_of_one_device_survives_power_cuts_like_that_device() {
    for interface in interfaces() {
        for gap_us in [50, 5000] {
            let mut single = disk(2, &interface);
            let requests = load(single.user_bytes(), 1000, gap_us, 40_000);
            let mut one = array(striped, vec![disk(2, &interface)]);
            let (mut expected, mut observations) =
                (Observations::default(), Observations::default());
            let (_, lost) = replay_with_cuts(&mut single, &requests, Some(700), &mut expected);
            let (_, also) = replay_with_cuts(&mut one, &requests, Some(700), &mut observations);
            same(&observations.whole, &expected.whole, interface.name());
            assert_eq!(also, lost);
            assert!(lost > 0, "requests must be in progress at the cut");
        }
    }
}

#[test]
fn every_request_of_an_array_completes_or_is_lost_in_a_power_cut() {
    for interface in interfaces() {
        for map in [striped, AddressMap::concatenated] {
            let channels = [1, 2, 1];
            let mut store = array(map, channels.map(|one| disk(one, &interface)).into());
            let requests = load(store.user_bytes(), 1500, 100, 60_000);
            let mut observations = Observations::default();
            let (_, lost) = replay_with_cuts(&mut store, &requests, Some(900), &mut observations);
            assert_eq!(observations.whole.len() + lost, requests.len());
            assert!(lost > 0, "requests must be in progress at the cut");
        }
    }
}

#[test]
fn a_request_completes_with_its_last_part_and_covers_all_bytes() {
    for interface in interfaces() {
        for map in [striped, AddressMap::concatenated] {
            let disks = [1, 2, 1].map(|channels| disk(channels, &interface));
            let mut store = array(map, disks.into());
            let requests = load(store.user_bytes(), 2000, 300, 60_000);
            let mut observations = Observations::default();
            replay(&mut store, &requests, &mut observations);
            assert_eq!(observations.whole.len(), requests.len());
            let mut split = 0;
            for (arrival, done, parts) in observations.whole {
                let own = &observations.parts[&arrival];
                let last = own.iter().map(|((_, done, _), _)| *done).max().unwrap();
                assert_eq!(done, last, "completion of the last part");
                assert_eq!(parts.total(), done - arrival);
                assert!(own.iter().any(|(part, _)| *part == (arrival, done, parts)));
                let request = requests.iter().find(|one| one.arrival == arrival).unwrap();
                let bytes: u64 = own.iter().map(|(_, bytes)| bytes).sum();
                assert_eq!(bytes, request.bytes);
                split += usize::from(own.len() > 1);
            }
            assert!(split > 0, "some requests must go to several members");
        }
    }
}

#[test]
fn equal_runs_have_equal_digests() {
    let digest = || {
        let disks = [1, 2].map(|channels| disk(channels, &Interface::default()));
        let mut store = array(striped, disks.into());
        let requests = load(store.user_bytes(), 1000, 300, 60_000);
        replay(&mut store, &requests, &mut ())
    };
    assert_eq!(digest(), digest());
}

/// An array of two arrays of two devices equals one array of four: with inner stripes of the same
/// length, and outer stripes of twice that length, every byte is on the same device as in the array
/// of four.
#[test]
fn an_array_of_arrays_behaves_like_one_array_of_all_devices() {
    for interface in interfaces() {
        for cut in [None, Some(900)] {
            let disks = || (0..4).map(|_| disk(1, &interface)).collect::<Vec<_>>();
            let mut flat = array(striped, disks());
            let requests = load(flat.user_bytes(), 1500, 300, 60_000);
            let pairs = disks();
            let pairs = pairs.chunks(2).map(|pair| array(striped, pair.to_vec()));
            let mut nested = joined(
                |sizes| AddressMap::striped(2 * 8192, sizes),
                pairs.collect(),
            );
            assert_eq!(nested.user_bytes(), flat.user_bytes());
            let (mut expected, mut observations) =
                (Observations::default(), Observations::default());
            let (_, lost) = replay_with_cuts(&mut flat, &requests, cut, &mut expected);
            let (_, also) = replay_with_cuts(&mut nested, &requests, cut, &mut observations);
            same(&observations.whole, &expected.whole, interface.name());
            assert_eq!(also, lost);
            // In the array of four, the devices of the first outer member precede those of the
            // second.
            let outer_first = |member: &u32| [0, 2, 1, 3][*member as usize];
            let numbered = observations
                .members
                .iter()
                .map(|(member, count)| (outer_first(member), *count));
            assert_eq!(numbered.collect::<BTreeMap<_, _>>(), expected.members);
        }
    }
}

/// A member serves its own requests as if it were alone, however busy the others are.
#[test]
fn concatenated_members_do_not_affect_each_other() {
    for interface in interfaces() {
        let mut alone = disk(1, &interface);
        let own = load(alone.user_bytes(), 300, 2000, 8192);
        let mut expected = Observations::default();
        replay(&mut alone, &own, &mut expected);

        let disks = [2, 1, 1].map(|channels| disk(channels, &interface));
        let first = disks[0].user_bytes();
        let mut store = array(AddressMap::concatenated, disks.into());
        // The first member receives ten times as many requests as the second, and the third none.
        let mut requests = load(first, 3000, 20, 40_000);
        let moved = own.iter().map(|request| Request {
            offset: request.offset + first,
            ..*request
        });
        requests.extend(moved);
        requests.sort_by_key(|request| request.arrival);
        let mut observations = Observations::default();
        replay(&mut store, &requests, &mut observations);
        let issued: Vec<Time> = own.iter().map(|request| request.arrival).collect();
        observations
            .whole
            .retain(|(arrival, ..)| issued.contains(arrival));
        same(&observations.whole, &expected.whole, interface.name());
        assert!(
            !observations.members.contains_key(&2),
            "the third member must be idle"
        );
    }
}

#[test]
fn a_request_beyond_the_end_is_rejected() {
    let mut store = array(striped, vec![disk(1, &Interface::default())]);
    let request = Request {
        stream: 0,
        op: Op::Read,
        fua: false,
        offset: store.user_bytes() - 512,
        bytes: 1024,
        arrival: Time::ZERO,
    };
    let mut queue = EventQueue::default();
    let refused = store.submit(
        &mut Context::new(Time::ZERO, &mut queue, &mut AnyProbe::new(&mut ())),
        request,
    );
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("ends beyond the device's"), "{said}");
}
