//! The timed device, compared with queueing theory and rooflines.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use crate::shared;

use wordline_runner::Results;

/// Runs `workload` on `channels` x `ways` single-die packages with the timing of D4.
fn run(channels: u32, ways: u32, extra: &str, workload: &str) -> Results {
    let config = format!(
        "schema = 1\n{extra}\n[ssd]\nchannels = {channels}\nways = {ways}\n[host]\nqueue_depth = 1024\n{workload}"
    );
    shared::run(config)
}

/// Bus and array times of D4's commands in microseconds: page transfer 12.3003, a cycle 0.025.
const TRANSFER: f64 = 12.3003;
const READ_BUS: f64 = TRANSFER + 9.0 * 0.025;
const READ: f64 = 50.0 + READ_BUS;
const PROGRAM_BUS: f64 = TRANSFER + 9.0 * 0.025;
const PROGRAM: f64 = 500.0 + PROGRAM_BUS;
const PAGE: f64 = 4096.0;

/// One die under Poisson reads is an M/D/1 queue: mean wait rho S / (2 (1 - rho)).
#[test]
fn one_die_behaves_as_an_m_d_1_queue() {
    for rho in [0.3, 0.5, 0.7] {
        let iops = rho / READ * 1e6;
        let workload = format!(
            "[workload]\nrequests = 1_000_000\nread_ratio = 1.0\narrival.poisson.iops = {iops}"
        );
        let summary = run(1, 1, "", &workload).summary;
        let wait = summary.latency.read.mean_us.unwrap() - READ;
        let theory = rho * READ / (2.0 * (1.0 - rho));
        println!("rho {rho}: wait {wait:.3} us, theory {theory:.3} us");
        assert!(
            (wait / theory - 1.0).abs() < 0.02,
            "rho {rho}: wait {wait}, theory {theory}"
        );
    }
}

/// 24 dies on one slow bus: the bus time of commands, status reads and data limits the reads.
#[test]
fn reads_reach_the_bus_roofline_but_never_exceed_it() {
    let extra = "[nand.timing]\nbus_mt_per_s = 40.0";
    let workload =
        "[workload]\nrequests = 100_000\nread_ratio = 1.0\narrival.closed-loop.queue_depth = 512";
    let summary = run(1, 24, extra, workload).summary;
    let roof = PAGE / (PAGE / 40.0 + 9.0 * 0.025);
    let measured = summary.throughput.read_mb_per_s;
    println!("bus roof {roof:.2} MB/s, measured {measured:.2} MB/s");
    assert!(measured <= roof, "{measured} passes {roof}");
    assert!(measured >= 0.97 * roof, "{measured} stays below {roof}");
}

/// First-come arbitration forms a convoy: the command of a die's next read waits behind the data of
/// all other dies, so that all dies read at the same time while the bus idles. A round of n reads
/// takes their bus time plus one array time.
#[test]
fn first_come_bus_arbitration_loses_one_array_time_per_round() {
    for dies in [8.0, 16.0] {
        let workload = "[workload]\nrequests = 200_000\nread_ratio = 1.0\n\
                        arrival.closed-loop.queue_depth = 512";
        let summary = run(1, dies as u32, "", workload).summary;
        let convoy = dies * READ_BUS / (dies * READ_BUS + 50.0);
        let measured = summary.utilisation.channel_mean;
        println!("{dies} dies: bus busy {measured:.4}, convoy {convoy:.4}");
        assert!(
            (measured / convoy - 1.0).abs() < 0.02,
            "busy {measured}, convoy {convoy}"
        );
    }
}

/// One die per bus: the dies, which execute one read at a time, limit the reads.
#[test]
fn reads_reach_the_die_roofline_but_never_exceed_it() {
    let workload =
        "[workload]\nrequests = 100_000\nread_ratio = 1.0\narrival.closed-loop.queue_depth = 256";
    let summary = run(8, 1, "", workload).summary;
    let roof = 8.0 * PAGE / READ;
    let measured = summary.throughput.read_mb_per_s;
    println!("die roof {roof:.2} MB/s, measured {measured:.2} MB/s");
    assert!(measured <= roof * 1.000_001, "{measured} passes {roof}");
    assert!(measured >= 0.97 * roof, "{measured} stays below {roof}");
}

/// An empty device is written sequentially, without GC: page bytes / tPROG per die.
#[test]
fn writes_reach_the_die_roofline_but_never_exceed_it() {
    let workload = "[precondition]\nfill_ratio = 0.0\n[workload]\nrequests = 100_000\nread_ratio = 0.0\n\
                    pattern = \"sequential\"\narrival.closed-loop.queue_depth = 256";
    let summary = run(4, 2, "", workload).summary;
    assert_eq!(summary.flash.gc_runs, 0);
    let roof = 8.0 * PAGE / 500.0;
    let measured = summary.throughput.write_mb_per_s;
    println!("program roof {roof:.2} MB/s, measured {measured:.2} MB/s");
    assert!(measured <= roof, "{measured} passes {roof}");
    assert!(measured >= 0.97 * roof, "{measured} stays below {roof}");
}

/// Utilisation law: the busy time of all buses is operations times demands, with GC. The busy time
/// of all dies is at least the product for the dies.
#[test]
fn bus_busy_time_is_operations_times_demand() {
    let workload = "[workload]\nrequests = 100_000\nread_ratio = 0.4\nrequest_bytes = 6144\nalign_bytes = 512\n\
                    arrival.closed-loop.queue_depth = 64";
    let summary = run(2, 4, "", workload).summary;
    let flash = summary.flash;
    assert!(
        flash.gc_runs > 100,
        "the load must trigger GC: {} runs",
        flash.gc_runs
    );
    let (reads, programs, erases) = (
        flash.page_reads as f64,
        flash.page_programs as f64,
        flash.erases as f64,
    );
    let erase_bus = 7.0 * 0.025;
    let span = summary.time.simulated_s * 1e6;
    let bus = reads * READ_BUS + programs * PROGRAM_BUS + erases * erase_bus;
    let measured = summary.utilisation.channel_mean * 2.0 * span;
    assert!(
        (measured / bus - 1.0).abs() < 1e-6,
        "bus time {measured}, demand {bus}"
    );
    // A die is also occupied while its operation waits for the bus.
    let die = reads * READ + programs * PROGRAM + erases * (3000.0 + erase_bus);
    let measured = summary.utilisation.die_mean * 8.0 * span;
    assert!(measured >= die, "die time {measured}, demand {die}");
    let sum: f64 = summary.breakdown.all.0.iter().sum();
    let mean = summary.latency.all.mean_us.unwrap();
    assert!((sum / mean - 1.0).abs() < 1e-9, "parts {sum}, mean {mean}");
}

/// A closed loop with N requests outstanding: N = throughput x response time (Little 1961). Fewer
/// requests are outstanding only in the drain after the last arrival, which is no longer than the
/// longest response time.
#[test]
fn closed_loop_obeys_littles_law() {
    let workload =
        "[workload]\nrequests = 300_000\nread_ratio = 0.7\narrival.closed-loop.queue_depth = 32";
    let summary = run(4, 2, "", workload).summary;
    let latency = summary.latency.all;
    let product = summary.throughput.iops * latency.mean_us.unwrap() / 1e6;
    let drain = latency.max_us.unwrap() / 1e6 / summary.time.simulated_s;
    println!(
        "throughput x response time {product:.4}, drain {:.2} % of the time",
        drain * 100.0
    );
    assert!(drain < 0.01, "the drain is {drain} of the time");
    assert!(
        product <= 32.0 * 1.000_001,
        "throughput x response time = {product}"
    );
    assert!(
        product >= 32.0 * (1.0 - drain),
        "throughput x response time = {product}"
    );
}
