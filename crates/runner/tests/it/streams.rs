//! Several concurrent streams: requests served per stream, and fairness.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use wordline_config::plan::Replay;
use wordline_host_link::Interface;
use wordline_kernel::Time;
use wordline_runner::simulation::Input;
use wordline_runner::summary::StreamSummary;
use wordline_runner::{Options, Phase, Results, RunSpec, Summary, run};
use wordline_workload::{Op, Request, Source, WorkloadError};

fn job(config: &str) -> RunSpec {
    RunSpec {
        config: config.into(),
        config_name: "test.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

fn done(job: &RunSpec) -> Results {
    let done = job.run(&mut |_| true);
    let results = done.unwrap_or_else(|error| panic!("{error}")).results;
    assert_eq!(results.summary.error, None);
    results
}

fn fault(job: &RunSpec) -> String {
    job.run(&mut |_| true).map(|_| ()).unwrap_err().to_string()
}

fn stream<'a>(summary: &'a Summary, name: &str) -> &'a StreamSummary {
    let streams = &summary.streams;
    streams.iter().find(|stream| stream.name == name).unwrap()
}

/// Four single-die packages on two buses.
const DEVICE: &str =
    "schema = 1\n[ssd]\nchannels = 2\nways = 2\n[nand.geometry]\nblocks_per_plane = 64\n";

fn table(name: &str, keys: &str) -> String {
    format!("[[streams]]\nname = \"{name}\"\n{keys}\n")
}

const READS: &str = "workload.read_ratio = 1.0\nworkload.requests = 4000";
const MIXED: &str = "workload.read_ratio = 0.5\nworkload.requests = 3000\nworkload.request_bytes = 8192\n\
                     workload.arrival.poisson.iops = 3000";

/// Reads of 4 KiB that are all issued at time zero.
struct Backlog {
    next: u64,
    left: u64,
}

impl Source for Backlog {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.next += 1;
        Ok(Some(Request {
            arrival: Time::ZERO,
            offset: self.next % 4000 * 4096,
            bytes: 4096,
            volume: 0,
            op: Op::Read,
            fua: false,
        }))
    }
    fn fraction(&self) -> Option<f64> {
        None
    }
    fn timed(&self) -> bool {
        true
    }
}

const OPEN: Replay = Replay::OpenLoop { time_scale: 1.0 };

/// Runs backlogs of the given numbers of reads on a device with a stream for each, named a, b, c.
fn backlogs(interface: &str, classes: &[&str], reads: &[u64]) -> Summary {
    let names = ["a", "b", "c"];
    let streams = names.iter().zip(classes);
    let tables = streams.map(|(name, class)| table(name, &format!("class = \"{class}\"")));
    let text = format!(
        "{DEVICE}[host]\nqueue_depth = 8\ninterface = {interface}\n{}",
        tables.collect::<String>()
    );
    let plan = wordline_config::load(&text, "test.toml", &[])
        .unwrap()
        .plan(1);
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let starts = reads.iter().zip([0, 1300, 2700]);
    let mut sources: Vec<Backlog> = starts.map(|(&left, next)| Backlog { next, left }).collect();
    let inputs = sources.iter_mut().map(|source| Input {
        source,
        replay: OPEN,
    });
    let results = run(&plan, inputs.collect(), &Options::default(), &mut |_| true).unwrap();
    assert_eq!(results.summary.error, None);
    results.summary
}

const WEIGHTED: &str = "{ nvme = { arbitration = \"weighted-round-robin\", queue_entries = 8 } }";

fn interfaces() -> Vec<&'static str> {
    let all = vec!["\"direct\"", "\"link\"", "\"sata\"", "\"nvme\"", WEIGHTED];
    let covered = |name: &&str| all.iter().any(|one| one.contains(*name));
    assert!(
        Interface::NAMES.iter().all(covered),
        "an interface is not tested"
    );
    all
}

#[test]
fn every_request_is_served_and_counted_for_its_stream() {
    for interface in interfaces() {
        let summary = backlogs(interface, &["high", "medium", "low"], &[500, 300, 20]);
        let served: Vec<u64> = summary
            .streams
            .iter()
            .map(|one| one.latency.all.count)
            .collect();
        assert_eq!(served, [500, 300, 20], "{interface}");
        let bytes: u64 = summary.streams.iter().map(|one| one.input.read_bytes).sum();
        assert_eq!(bytes, 820 * 4096);
        assert_eq!(
            (summary.input.requests, summary.input.read_bytes),
            (820, bytes)
        );
        let shares: f64 = summary
            .streams
            .iter()
            .filter_map(|one| one.bytes_share)
            .sum();
        assert!((shares - 1.0).abs() < 1e-12);
        for one in &summary.streams {
            let sum: f64 = one.breakdown.all.0.iter().sum();
            let mean = one.latency.all.mean_us.unwrap();
            assert!((sum / mean - 1.0).abs() < 1e-9, "{interface}: {sum} {mean}");
        }
    }
}

#[test]
fn equal_runs_have_equal_digests() {
    for interface in interfaces() {
        let digest = || backlogs(interface, &["high", "low"], &[300, 400]).digest;
        assert_eq!(digest(), digest(), "{interface}");
    }
}

#[test]
fn stream_without_requests_changes_nothing() {
    for interface in interfaces() {
        let two = backlogs(interface, &["medium", "medium"], &[400, 300]);
        let three = backlogs(interface, &["medium", "medium", "urgent"], &[400, 300, 0]);
        assert_eq!(two.digest, three.digest, "{interface}");
        assert_eq!(
            two.fairness.unwrap().jain_index,
            three.fairness.unwrap().jain_index
        );
        let said = "Stream c: no read or write was issued.";
        assert!(three.notes.iter().any(|note| note == said));
    }
}

/// The order of equal streams only depends on chance, as in a fair coin toss.
#[test]
fn equal_streams_on_a_symmetric_device_are_served_equally() {
    for interface in interfaces() {
        let load = "workload.read_ratio = 1.0\nworkload.requests = 6000\nworkload.arrival.closed-loop.queue_depth = 6";
        let text = format!(
            "{DEVICE}[host]\nqueue_depth = 32\ninterface = {interface}\n{}{}",
            table("a", load),
            table("b", load)
        );
        let summary = done(&job(&text)).summary;
        let share = stream(&summary, "a").contest_share.unwrap();
        let four_sigma = 4.0 * 0.5 / 12_000_f64.sqrt();
        assert!((share - 0.5).abs() < four_sigma, "{interface}: {share}");
        let (a, b) = (stream(&summary, "a"), stream(&summary, "b"));
        let ratio = a.latency.all.mean_us.unwrap() / b.latency.all.mean_us.unwrap();
        assert!((ratio - 1.0).abs() < 0.02, "{interface}: {ratio}");
        assert!(summary.fairness.unwrap().jain_index.unwrap() > 0.999);
    }
}

/// NVM Express 1.3, section 4.11: each class fetches its weight in commands per round, here 4, 2
/// and 1.
#[test]
fn weighted_round_robin_shares_a_backlogged_device_by_weight() {
    let summary = backlogs(WEIGHTED, &["high", "medium", "low"], &[4000, 4000, 4000]);
    for (one, weight) in summary.streams.iter().zip([4.0, 2.0, 1.0]) {
        let share = one.contest_share.unwrap();
        println!("{}: {share:.4}", one.name);
        assert!((share - weight / 7.0).abs() < 0.01, "{}: {share}", one.name);
    }
    // Shares of 4, 2 and 1: (4 + 2 + 1)^2 / (3 (16 + 4 + 1)) = 49 / 63.
    let index = summary.fairness.unwrap().jain_index.unwrap();
    assert!((index - 49.0 / 63.0).abs() < 0.02, "{index}");
}

/// With its own queue, a stream does not wait behind the backlog of another.
#[test]
fn backlog_delays_only_streams_of_the_same_queue() {
    let wait = |interface: &str| {
        let summary = backlogs(interface, &["medium", "medium"], &[2000, 20]);
        let mean = |name| stream(&summary, name).latency.all.mean_us.unwrap();
        mean("b") / mean("a")
    };
    // With one queue, all requests arrive at the same time, and the first stream is served first.
    assert!(wait("\"direct\"") > 1.0);
    // With turns, the 20 reads of b finish together with the first 20 of a, whose reads take 1000
    // turns on average.
    assert!(wait("\"nvme\"") < 0.05);
}

/// One die and two streams with one outstanding request each: a read waits for the read of the
/// other stream, so it takes twice as long as alone.
#[test]
fn two_streams_on_one_die_have_a_slowdown_of_two() {
    let text = format!(
        "schema = 1\n[ssd]\nchannels = 1\nways = 1\n{}{}",
        table("a", READS),
        table("b", READS)
    )
    .replace(
        "requests = 4000",
        "requests = 4000\nworkload.arrival.closed-loop.queue_depth = 1",
    );
    let summary = done(&RunSpec {
        slowdown: true,
        ..job(&text)
    })
    .summary;
    for one in &summary.streams {
        let slowdown = one.slowdown.unwrap();
        assert!((slowdown.all.unwrap() - 2.0).abs() < 1e-3, "{slowdown:?}");
        assert_eq!(slowdown.all, slowdown.read);
        assert_eq!(slowdown.write, None);
    }
    let fairness = summary.fairness.unwrap();
    assert!((fairness.slowdown_ratio.unwrap() - 1.0).abs() < 1e-3);
    assert!((fairness.weighted_speedup.unwrap() - 1.0).abs() < 1e-3);
    assert!((fairness.harmonic_speedup.unwrap() - 0.5).abs() < 1e-3);
    assert!((fairness.jain_index.unwrap() - 1.0).abs() < 1e-3);
}

/// A stream issues the same requests with and without other streams. Alone, it has the results of a
/// run on a separate device.
#[test]
fn requests_of_a_stream_do_not_depend_on_other_streams() {
    for interface in interfaces() {
        let device = format!("{DEVICE}[host]\ninterface = {interface}\n");
        let (a, b) = (table("a", MIXED), table("b", READS));
        let beside = RunSpec {
            slowdown: true,
            ..job(&format!("{device}{b}{a}"))
        };
        let beside = done(&beside).summary;
        let single = done(&job(&format!("{device}{a}"))).summary;
        let (beside, single) = (stream(&beside, "a"), stream(&single, "a"));
        assert_eq!(beside.input.written_bytes, single.input.written_bytes);
        assert_eq!(beside.input.reads, single.input.reads);
        let alone = beside.alone.unwrap().all;
        assert_eq!(alone.count, single.latency.all.count);
        assert_eq!(alone.mean_us, single.latency.all.mean_us, "{interface}");
        assert_eq!(alone.max_us, single.latency.all.max_us, "{interface}");
        assert!(beside.slowdown.unwrap().all.unwrap() > 1.0);
    }
}

#[test]
fn max_requests_counts_all_streams() {
    let text = format!("{DEVICE}{}{}", table("a", READS), table("b", MIXED));
    let summary = done(&RunSpec {
        max_requests: Some(500),
        slowdown: true,
        ..job(&text)
    })
    .summary;
    assert_eq!(summary.input.requests, 500);
    let served: u64 = summary
        .streams
        .iter()
        .map(|one| one.latency.all.count)
        .sum();
    assert_eq!(served, 500);
    for one in &summary.streams {
        assert_eq!(one.alone.unwrap().all.count, one.latency.all.count);
    }
}

#[test]
fn interrupted_slowdown_run_is_partial() {
    let text =
        format!("{DEVICE}{}{}", table("a", READS), table("b", READS)).replace("4000", "40_000_000");
    let job = RunSpec {
        slowdown: true,
        max_requests: Some(1_000_000),
        ..job(&text)
    };
    let done = job.run(&mut |now| now.phase != Phase::Alone).unwrap();
    if !done.results.interrupted {
        println!("too fast to be interrupted");
        return;
    }
    let summary = done.results.summary;
    assert!(summary.partial);
    assert_eq!(summary.input.requests, 1_000_000);
    // The first solo run may have finished when the interruption is noticed.
    let mut slowdowns = summary.streams.iter().map(|stream| stream.slowdown);
    assert!(slowdowns.any(|slowdown| slowdown.is_none()));
    assert_eq!(summary.fairness.unwrap().weighted_speedup, None);
}

#[test]
fn single_stream_may_have_a_name() {
    let summary = done(&job(&format!("{DEVICE}{}", table("a", READS)))).summary;
    assert_eq!(summary.streams.len(), 1);
    assert!(summary.fairness.is_none());
    assert_eq!(
        summary.streams[0].latency.all.mean_us,
        summary.latency.all.mean_us
    );
    let summary = done(&job(&format!("{DEVICE}[workload]\nrequests = 100"))).summary;
    assert!(summary.streams.is_empty());
}

#[test]
fn streams_are_overridden_by_name() {
    let text = format!("{DEVICE}{}", table("a", READS));
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let overrides = [
        set("streams.a.workload.requests", "70"),
        set("streams.a.class", "low"),
        set("streams.b.workload.requests", "30"),
    ];
    let summary = done(&RunSpec {
        overrides: overrides.to_vec(),
        ..job(&text)
    })
    .summary;
    let asked: Vec<_> = summary
        .streams
        .iter()
        .map(|one| (one.name.as_str(), one.input.requests))
        .collect();
    assert_eq!(asked, [("a", 70), ("b", 30)]);
    let said = "The priority classes of the streams were ignored: only NVMe with weighted round robin uses them.";
    assert!(summary.notes.iter().any(|note| note.starts_with(said)));
}

#[test]
fn resolved_configuration_with_streams_runs_again() {
    let text = format!("{DEVICE}{}{}", table("a", READS), table("b", MIXED));
    let first = job(&text).run(&mut |_| true).unwrap();
    let again = done(&job(&first.resolved_toml)).summary;
    assert_eq!(first.results.summary.digest, again.digest);
}

fn says(text: &str, first: &str) {
    let said = fault(&job(text));
    assert_eq!(said.lines().next().unwrap(), first);
}

#[test]
fn faulty_streams_are_rejected() {
    let (a, b) = (table("a", READS), table("b", ""));
    says(
        &format!("schema = 1\n[workload]\n{a}"),
        "test.toml:2:2: both [workload] and [[streams]] are given; move the load into a stream as its `workload` table, or leave one of them out",
    );
    says(
        &format!("schema = 1\n{a}{b}"),
        "test.toml: streams[1] (b) has neither a trace nor a workload; name a trace (--stream b=FILE), or give it a workload table",
    );
    says(
        &format!("schema = 1\n{a}{a}"),
        "test.toml:7:1: streams[1].name = \"a\": another stream has this name; give each stream a unique name",
    );
    says(
        &format!("schema = 1\n{}", table("a b", READS)),
        "test.toml:3:1: streams[0].name = \"a b\": not a valid name; give every stream a name of 1 to 64 letters, digits, - and _",
    );
    says(
        &format!("schema = 1\n{a}{}", table("b", "class = \"hihg\"")),
        "test.toml:8:9: streams[1].class: unknown value `hihg`; did you mean `high`? choose one of urgent, high, medium, low",
    );
    says(
        &format!("schema = 1\n{}", table("a", "clas = \"high\"")),
        "test.toml:4:1: unknown key `clas` in streams[0]; did you mean `class`?",
    );
    says(
        &format!("schema = 1\n{}", table("a", "workload.read_ratio = 2.0")),
        "test.toml:4:10: streams[0].workload.read_ratio = 2: out of range; give a number from 0 to 1",
    );
    says(
        &format!(
            "schema = 1\n{}",
            table("a", "replay.mode.closed-loop.queue_depth = 0")
        ),
        "test.toml:4:25: streams[0].replay.mode.closed-loop.queue_depth = 0: too small; give a whole number from 1 to 1000000",
    );
    says(
        &format!(
            "schema = 1\n{}",
            table("a", &format!("{READS}\nreplay.mode = \"closed-loop\""))
        ),
        "test.toml:6:1: streams[0].replay: applies to traces, and this stream has a workload; omit `replay`; `workload.arrival` decides when the requests are issued",
    );
    says(
        &format!("schema = 1\n{}", table("a", "workload.requests = \"many\"")),
        "test.toml:4:21: streams[0].workload.requests: expected a whole number from 0 to 9223372036854775807, found the text \"many\"; requests is: Number of requests to generate",
    );
    let two = format!("schema = 1\n{a}");
    let with = |change: &dyn Fn(&mut RunSpec)| {
        let mut job = job(&two);
        change(&mut job);
        fault(&job)
    };
    assert_eq!(
        with(&|job| job.traces = vec!["x.csv".into()]),
        "test.toml: the trace belongs to no stream; replace --trace with --stream NAME=FILE, where NAME is one of a"
    );
    assert_eq!(
        with(&|job| job.streams = vec![("a".into(), vec!["x.csv".into()])]),
        "test.toml: streams[0].workload: stream a has both a workload and a trace; leave one of them out"
    );
    assert_eq!(
        with(&|job| job.slowdown = true),
        "test.toml: --slowdown compares streams, but the run has only one; add a second stream ([[streams]], --stream NAME=FILE), or leave --slowdown out"
    );
    assert_eq!(
        with(&|job| job.overrides = vec![("streams.a.workload.read_ratio".into(), "3".into())]),
        "--set streams.a.workload.read_ratio=3: streams[0].workload.read_ratio = 3: out of range; give a number from 0 to 1"
    );
    assert_eq!(
        with(&|job| job.overrides = vec![("streams.a.class".into(), "3".into())]),
        "--set streams.a.class=3: streams[0].class: expected one of urgent, high, medium, low; class is: Priority class of the stream's commands, if `host.interface` distinguishes streams"
    );
}
