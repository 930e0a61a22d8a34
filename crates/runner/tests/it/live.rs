//! The status of a live run is the summary of the run so far, and a status request does not change
//! the run.

use std::time::{Duration, Instant};

use serde_json::Value;
use wordline_block::Op;
use wordline_config::load;
use wordline_kernel::{Rng, Time};
use wordline_runner::Results;
use wordline_runner::simulation::{Clients, LiveRequest, Options, Snapshot, Turn, run_live};
use wordline_workload::Request;

use crate::warm_up::stores;

/// Clients that keep eight requests in flight.
struct Load {
    draws: Rng,
    pages: u64,
    left: u64,
    in_flight: u64,
    /// Requests between two status requests. Count.
    status_every: u64,
    asked_for: u64,
    has_ended: bool,
    asked_at: Instant,
    /// Wall-clock time from each status request to its snapshot.
    took: Vec<Duration>,
    last: Option<Box<Snapshot>>,
}

impl Load {
    fn new(pages: u64, requests: u64, status_every: u64) -> Self {
        Self {
            draws: Rng::new(1, "live"),
            pages,
            left: requests,
            in_flight: 0,
            status_every,
            asked_for: u64::MAX,
            has_ended: false,
            asked_at: Instant::now(),
            took: Vec::new(),
            last: None,
        }
    }
    fn status(&mut self) -> Turn {
        self.asked_at = Instant::now();
        Turn::Status
    }
}

impl Clients for Load {
    fn turn(&mut self, now: Time, due: Time) -> Turn {
        if self.left.is_multiple_of(self.status_every) && self.asked_for != self.left {
            self.asked_for = self.left;
            return self.status();
        }
        if self.left > 0 && self.in_flight < 8 {
            self.left -= 1;
            self.in_flight += 1;
            let op = [Op::Read, Op::Write, Op::Write][self.draws.below(3) as usize];
            return Turn::Request(LiveRequest {
                id: self.left,
                op,
                fua: false,
                offset: self.draws.below(self.pages) * 4096,
                bytes: 4096,
                arrival: now,
            });
        }
        if due < Time::MAX {
            return Turn::Event;
        }
        if std::mem::replace(&mut self.has_ended, true) {
            return Turn::End;
        }
        self.status()
    }
    fn arrived(&mut self, _request: &Request) {}
    fn complete(&mut self, _now: Time, _id: u64, _failed: bool) {
        self.in_flight -= 1;
    }
    fn status(&mut self, _now: Time, snapshot: Box<Snapshot>) {
        self.took.push(self.asked_at.elapsed());
        self.last = Some(snapshot);
    }
}

fn served(text: &str, requests: u64, status_every: u64) -> (Results, Load) {
    let plan = load(text, "live.toml", &[]).unwrap().plan(1).unwrap();
    let mut clients = Load::new(plan.user_bytes() / 4096, requests, status_every);
    let options = Options::default();
    let results = run_live(&plan, &mut clients, Vec::new(), &options, &mut |_| true);
    (results.unwrap(), clients)
}

/// Returns the summary without the cost of the simulation.
fn summary(results: &Results) -> Value {
    let mut summary = serde_json::to_value(&results.summary).unwrap();
    summary.as_object_mut().unwrap().remove("speed");
    summary
}

#[test]
fn status_does_not_change_the_run_and_agrees_with_its_end() {
    for (name, text) in stores() {
        let (undisturbed, _) = served(&text, 2000, u64::MAX);
        let (asked, clients) = served(&text, 2000, 10);
        assert!(clients.took.len() > 200, "{name}");
        assert_eq!(summary(&undisturbed), summary(&asked), "{name}");
        let last = clients.last.unwrap().live_results();
        assert_eq!(summary(&last), summary(&asked), "{name}");
    }
}

#[test]
#[ignore = "a measurement without an expectation: prints the cost of a status; run it by hand"]
fn cost_of_a_status_is_printed() {
    let text = "schema = 1\nbase = \"d4\"\n";
    let (results, clients) = served(text, 1_000_000, 10_000);
    let mut took = clients.took;
    took.drain(..took.len() / 2);
    took.sort();
    let start = Instant::now();
    let json = clients.last.unwrap().live_results().summary_json();
    println!(
        "engine: median {:?}, most {:?}; summary: {:?} for {} bytes of {}",
        took[took.len() / 2],
        took[took.len() - 1],
        start.elapsed(),
        json.len(),
        results.summary.digest,
    );
}
