//! Times and counts that follow from the description of the device.

use wordline_block::{BlockDevice, Op, Specification};
use wordline_kernel::{Context, EventQueue, Rng, Time};
use wordline_ram_disk::{Config, Event, Plan, RamDisk, RamDiskSummary};

use crate::shared::{OVERHEAD, PAGE, SERVICE, disk, next_event, request, serve, submit};

#[test]
fn idle_disk_completes_after_overhead_and_copy_time() {
    let far = Time::from_ms(1);
    let requests = [
        (Op::Read, PAGE, SERVICE),
        (Op::Write, PAGE, SERVICE),
        // 0.25 ns per byte is 250 ps per byte.
        (Op::Read, 1, OVERHEAD + Time(250)),
        (Op::Write, 1 << 20, OVERHEAD + Time(250 << 20)),
        (Op::Trim, PAGE, OVERHEAD),
        (Op::Flush, 0, Time::ZERO),
    ];
    let arrivals = (0_u64..).map(|place| Time(place * far.ps()));
    let asked: Vec<_> = requests
        .iter()
        .zip(arrivals)
        .map(|(&(op, bytes, _), arrival)| request(op, bytes, arrival))
        .collect();
    let mut disk = disk(1);
    let done = serve(&mut disk, asked.clone());
    for (place, ((_, _, takes), asked)) in requests.iter().zip(&asked).enumerate() {
        assert_eq!(done[place], (asked.arrival + *takes, place));
    }
    let stats = disk.figures();
    assert_eq!((stats.reads, stats.writes), (2, 2));
    assert_eq!(stats.bytes_read, PAGE + 1);
    assert_eq!(stats.response.count(), 4);
    assert_eq!(stats.held_most, 1);
}

#[test]
fn plan_states_the_mean_time_of_a_page() {
    let plan = Plan::new(&Config::default()).unwrap();
    assert_eq!(plan.page_us(4096, false), 1.4096);
    assert!(!plan.is_volatile());
}

/// Requests of equal size start in order of arrival, and therefore complete in that order.
#[test]
fn waiting_requests_are_served_first_come_first_served() {
    for channels in [1, 3] {
        let asked = (0..20).map(|at| request(Op::Read, PAGE, Time(at)));
        let done = serve(&mut disk(channels), asked);
        let order: Vec<usize> = done.iter().map(|(_, place)| *place).collect();
        assert_eq!(order, (0..20).collect::<Vec<_>>());
    }
}

/// With c channels, c requests complete per service time, to the last picosecond.
#[test]
fn throughput_is_one_request_per_channel_and_service_time() {
    for channels in [1, 2, 4, 7] {
        let rounds = 1000;
        let count = u64::from(channels) * rounds;
        let asked = (0..count).map(|_| request(Op::Write, PAGE, Time::ZERO));
        let mut disk = disk(channels);
        let done = serve(&mut disk, asked);
        assert_eq!(done.last().unwrap().0, Time(rounds * SERVICE.ps()));
        let stats = disk.figures();
        assert_eq!(stats.busy_time, u128::from(count * SERVICE.ps()));
        assert_eq!(u64::from(stats.held_most), count);
    }
}

/// A closed loop with q requests of equal size completes min(q, c) requests per service time and
/// obeys Little's law.
#[test]
fn closed_loop_reaches_the_bound_of_its_channels() {
    for (channels, depth) in [(4, 1), (4, 3), (4, 4), (4, 9), (1, 32)] {
        let mut disk = disk(channels);
        let mut queue: EventQueue<Event> = EventQueue::default();
        let (mut issued, mut completed, mut now) = (0_u64, 0_u64, Time::ZERO);
        let count = 12_600;
        while completed < count {
            while issued < count && issued - completed < depth {
                submit(&mut disk, &mut queue, request(Op::Read, PAGE, now));
                issued += 1;
            }
            (now, _) = next_event(&mut disk, &mut queue).unwrap();
            completed += disk.completions().count() as u64;
        }
        let served_at_once = depth.min(channels.into());
        assert_eq!(now, Time(count / served_at_once * SERVICE.ps()));
        let stats = disk.figures();
        // Little's law: the sum of the response times is the number of requests in the disk, summed
        // over time.
        assert_eq!(stats.held_time, stats.response.sum_ps());
    }
}

/// Percentiles are at most 0.1 % above the order statistic; count, mean and maximum are exact.
#[test]
fn histogram_agrees_with_the_sorted_response_times() {
    let mut random = Rng::new(1, "test.ram_disk");
    let mut arrival = Time::ZERO;
    let asked: Vec<_> = (0..20_000)
        .map(|_| {
            arrival += Time(random.below(3 * SERVICE.ps()));
            request(Op::Read, 1 + random.below(16 * PAGE), arrival)
        })
        .collect();
    let mut disk = disk(4);
    let done = serve(&mut disk, asked.clone());
    let mut exact: Vec<u64> = done
        .iter()
        .map(|(at, place)| (*at - asked[*place].arrival).ps())
        .collect();
    exact.sort_unstable();
    let stats = disk.figures();
    let (end, _) = *done.last().unwrap();
    let config = Config::default();
    let plan = Plan::new(&config).unwrap();
    let told = RamDiskSummary::new("ram".into(), Vec::new(), &plan, &stats, end).response;
    assert_eq!(told.count, 20_000);
    assert_eq!(told.max_ns, Some(exact[19_999] as f64 / 1e3));
    let sum: u64 = exact.iter().sum();
    let mean = sum as f64 / 20_000.0 / 1e3;
    assert!((told.mean_ns.unwrap() / mean - 1.0).abs() < 1e-12);
    for (given, rank) in [(told.p50_ns, 9_999), (told.p99_ns, 19_799)] {
        let (given, exact) = (given.unwrap(), exact[rank] as f64 / 1e3);
        println!("rank {rank}: {given} ns, exact {exact} ns");
        assert!(given >= exact && given <= exact * 1.001);
    }
}

#[test]
fn statistics_exclude_requests_before_measuring_begins() {
    let mut disk = disk(1);
    serve(
        &mut disk,
        (0..5).map(|_| request(Op::Read, PAGE, Time::ZERO)),
    );
    let from = Time::from_ms(1);
    disk.begin_measuring(from);
    serve(&mut disk, [request(Op::Write, PAGE, from)]);
    let stats = disk.figures();
    assert_eq!((stats.reads, stats.writes), (0, 1));
    assert_eq!(stats.response.max(), Some(SERVICE));
    assert_eq!(stats.busy_time, u128::from(SERVICE.ps()));
}

#[test]
fn power_cut_loses_requests_but_no_data() {
    let mut disk = disk(1);
    let mut queue = EventQueue::default();
    for _ in 0..3 {
        submit(&mut disk, &mut queue, request(Op::Write, PAGE, Time::ZERO));
    }
    let cut = disk.cut_power(Time::from_us(1), &mut ()).unwrap();
    assert_eq!((cut.requests_lost, cut.pages_lost), (3, 0));
    assert_eq!(disk.completions().count(), 3);
    assert_eq!(disk.outstanding(), 0);
    let later = Time::from_us(2);
    let done = serve(&mut disk, [request(Op::Read, PAGE, later)]);
    assert_eq!(done, [(later + SERVICE, 0)]);
    assert_eq!(disk.figures().response.count(), 1);
}

/// A disk restored from its written state serves the remaining requests like the original.
#[test]
fn restored_disk_continues_like_the_original() {
    let mut whole = disk(2);
    let mut queue: EventQueue<Event> = EventQueue::default();
    for place in 0..50 {
        submit(&mut whole, &mut queue, request(Op::Read, PAGE, Time(place)));
    }
    for _ in 0..20 {
        next_event(&mut whole, &mut queue).unwrap();
    }
    let state = postcard::to_stdvec(&whole).unwrap();
    let mut read: RamDisk = postcard::from_bytes(&state).unwrap();
    let mut other = queue.clone();
    let rest = rest(&mut whole, &mut queue);
    assert_eq!(rest.len(), 30);
    assert_eq!(self::rest(&mut read, &mut other), rest);
    let ends = [whole, read].map(|disk| format!("{:?}", disk.figures().response.cdf()));
    assert_eq!(ends[0], ends[1]);
}

fn rest(disk: &mut RamDisk, queue: &mut EventQueue<Event>) -> Vec<(Time, Event)> {
    std::iter::from_fn(|| next_event(disk, queue)).collect()
}

#[test]
fn invalid_capacity_and_requests_beyond_the_end_are_rejected() {
    let config = Config {
        capacity_bytes: 1000,
        ..Config::default()
    };
    assert_eq!(
        Plan::new(&config).unwrap_err().to_string(),
        "ram.capacity_bytes: 1000 bytes are not a whole number of sectors of 512 bytes; give a multiple of 512"
    );
    let mut disk = disk(1);
    let (mut queue, mut probe) = (EventQueue::default(), ());
    let beyond = request(Op::Read, (1 << 20) + 1, Time::ZERO);
    let mut cx = Context::new(Time::ZERO, &mut queue, &mut probe);
    let error = disk.submit(&mut cx, beyond).unwrap_err();
    assert!(error.to_string().contains("ends beyond"), "{error}");
}
