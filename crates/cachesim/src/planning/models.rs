//! Applies the cost models to the LRU stacks of a trace.

use wordline_partition::Space;
use wordline_partition::cost::{Division, Model};
use wordline_partition::latency;
use wordline_partition::period::Period;
use wordline_partition::policy::locality_driven::Trained;
use wordline_partition::utilisation::victims;

use super::stacks::{Sampled, Stopped, Unified, Writes, split};
use super::{Answer, Case, Map};

/// Maximum number of iterations that adapt a division to the reads that its write list serves, and
/// these reads to the division.
const ROUNDS: u32 = 8;
/// Maximum number of steps of a cost map in each direction.
const MAP_STEPS: u32 = 50;
/// Over-provisioning ratios that the locality-driven policy compares. Per cent.
const PERCENTS: std::ops::RangeInclusive<u32> = 15..=85;
const SECONDS_A_DAY: f64 = 24.0 * 3600.0;
const SECONDS_A_YEAR: f64 = 365.25 * SECONDS_A_DAY;

/// Inputs of the cost models for a flash of a given size.
pub(super) struct Answers<'a> {
    space: &'a Space,
    steps: u32,
    /// Length of a stack segment, in pages of the unsampled flash.
    segment: f64,
    unified: Unified,
    writes: Writes,
    /// Divisions into two lists, with fixed (`rw`) and with variable over-provisioning (`op`).
    rw: Settled,
    op: Settled,
    trained: Trained,
}

/// Division, and the statistics of a period in which a write list of its size serves reads.
struct Settled {
    division: Division,
    period: Period,
}

/// Cost and hit ratios of a division, per page request.
struct Outcome {
    read_pages: Option<u64>,
    write_pages: u64,
    page_us: f64,
    read_hit_ratio: Option<f64>,
    write_hit_ratio: Option<f64>,
    programs: f64,
    victims: f64,
}

impl<'a> Answers<'a> {
    pub(super) fn of(
        sampled: &Sampled,
        space: &'a Space,
        steps: u32,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, Stopped> {
        let passes = f64::from(2 + 2 * ROUNDS);
        let at = |pass: u32| {
            let before = f64::from(pass) / passes;
            move |part: f64| before + part / passes
        };
        let (first, second) = (at(0), at(1));
        let unified = Unified::of(sampled, space.total_pages, steps, &mut |part| {
            goes_on(first(part))
        })?;
        let writes = Writes::of(sampled, space.total_pages, steps, &mut |part| {
            goes_on(second(part))
        })?;
        let mut settle = |pass: u32, fixed: Option<f64>| {
            let mut round = pass;
            let mut held = steps / 2;
            loop {
                let now = at(round);
                let period = split(sampled, space, steps, held, &mut |part| goes_on(now(part)))?;
                let division = best(space, steps, &period, fixed);
                let wanted = division.utilisation * (1.0 - division.read_ratio) * f64::from(steps);
                let wanted = wanted.round() as u32;
                round += 1;
                if wanted == held || round == pass + ROUNDS {
                    return Ok(Settled { division, period });
                }
                held = wanted;
            }
        };
        let own = f64::from(space.first_pages()) / f64::from(space.total_pages);
        let rw = settle(2, Some(own))?;
        let op = settle(2 + ROUNDS, None)?;
        let scaled = f64::from(sampled.scaled(space.total_pages).div_ceil(steps));
        let of_all = f64::from(space.total_pages) / f64::from(sampled.scaled(space.total_pages));
        Ok(Self {
            space,
            steps,
            segment: scaled * of_all,
            unified,
            writes,
            rw,
            op,
            trained: Trained::analytic(space),
        })
    }
    /// Returns the answers of all policies.
    pub(super) fn all(&self, case: &Case) -> Vec<Answer> {
        let own = f64::from(self.space.first_pages()) / self.total();
        let least = |best: f64, other: f64| {
            if self.unified_us(other) < self.unified_us(best) {
                other
            } else {
                best
            }
        };
        let cheapest = self.utilisations().reduce(least).unwrap_or(own);
        let mut answers = vec![
            case.answer("unified", self.space, &self.one_list(own)),
            case.answer("unified-best", self.space, &self.one_list(cheapest)),
            case.answer("rw-fcl", self.space, &self.two_lists(&self.rw)),
            case.answer("op-fcl", self.space, &self.two_lists(&self.op)),
        ];
        let bearable = |percent: &u32| {
            latency::cached_pages(ratio(*percent), self.space.total_pages) <= self.space.most_pages
        };
        let candidates = PERCENTS.filter(bearable).map(ratio);
        let victims = |op| self.trained.at(op);
        let misses =
            |op| 1.0 - self.write_hits(latency::cached_pages(op, self.space.total_pages).into());
        let model = latency::Model::of(self.space);
        if let Some((op, _)) = model.best(candidates, victims, misses) {
            answers.push(case.answer("locality-driven", self.space, &self.write_list(op)));
        }
        answers
    }
    fn total(&self) -> f64 {
        self.space.total_pages.into()
    }
    /// Iterates over the cached shares of the flash that GC can sustain, one per step.
    fn utilisations(&self) -> impl Iterator<Item = f64> {
        let most = f64::from(self.space.most_pages) / self.total();
        let steps = self.steps;
        let shares = (1..steps).map(move |step| f64::from(step) / f64::from(steps));
        shares.filter(move |&share| share <= most)
    }
    fn model(&self) -> Model {
        Model::of(self.space)
    }

    /// Returns the mean cost of a page access with a single list. A read miss fills the flash; an
    /// evicted dirty page is read from flash and written to the disk. Microseconds.
    fn unified_us(&self, utilisation: f64) -> f64 {
        self.one_list(utilisation).page_us
    }
    fn one_list(&self, utilisation: f64) -> Outcome {
        let Unified { reads, writes, .. } = &self.unified;
        let costs = &self.space.costs;
        let segments = self.total() * utilisation / self.segment;
        let (read_hits, write_hits) = (reads.within(segments), writes.within(segments));
        let fills = reads.total() as f64 - read_hits;
        let written = writes.total() as f64;
        let page_write = self.model().page_write_us(utilisation);
        let busy = read_hits * costs.read_us
            + fills * (costs.disk_read_us + page_write)
            + written * page_write
            + self.unified.written_back(segments) * (costs.read_us + costs.disk_write_us);
        let all = (reads.total() + writes.total()).max(1) as f64;
        Outcome {
            read_pages: None,
            write_pages: (self.total() * utilisation).round() as u64,
            page_us: busy / all,
            read_hit_ratio: share(read_hits, reads.total() as f64),
            write_hit_ratio: share(write_hits, writes.total() as f64),
            programs: (fills + written) / all,
            victims: victims(utilisation),
        }
    }
    /// Returns the outcome with a read list and a write list.
    fn two_lists(&self, settled: &Settled) -> Outcome {
        let Settled { division, period } = settled;
        let sizes = division.sizes(self.space.total_pages);
        let counts = period.counts();
        let scale = f64::from(period.total_pages()) / self.total();
        let read_hits =
            period.reads().hit_ratio(f64::from(sizes.read) * scale) * counts.reads as f64;
        let requests = (counts.writes + counts.reads_of_written) as f64;
        let hits = period.writes().hit_ratio(f64::from(sizes.write) * scale) * requests;
        let write_hits = (hits - counts.reads_of_written as f64).max(0.0);
        let all_reads = (counts.reads + counts.reads_of_written) as f64;
        let fills = match sizes.read {
            0 => 0.0,
            _ => counts.reads as f64 - read_hits,
        };
        let all = counts.pages().max(1) as f64;
        Outcome {
            read_pages: Some(sizes.read.into()),
            write_pages: sizes.write.into(),
            page_us: division.cost_us,
            read_hit_ratio: share(read_hits + counts.reads_of_written as f64, all_reads),
            write_hit_ratio: share(write_hits, counts.writes as f64),
            programs: (fills + counts.writes as f64) / all,
            victims: victims(division.utilisation),
        }
    }
    /// Returns the share of writes that hit in a write list of `pages` pages.
    fn write_hits(&self, pages: f64) -> f64 {
        let Writes { writes, .. } = &self.writes;
        writes.within(pages / self.segment) / writes.total().max(1) as f64
    }
    /// Returns the outcome with a write list only. The list serves reads of its pages; the disk
    /// serves all other reads.
    fn write_list(&self, over_provisioning: f64) -> Outcome {
        let Writes { writes, reads } = &self.writes;
        let costs = &self.space.costs;
        let pages = latency::cached_pages(over_provisioning, self.space.total_pages);
        let valid = self.trained.at(over_provisioning);
        let hits = self.write_hits(pages.into());
        let write_us = latency::Model::of(self.space).latency_us(valid, 1.0 - hits);
        let served = reads.within(f64::from(pages) / self.segment);
        let written = writes.total() as f64;
        let busy = written * write_us
            + served * costs.read_us
            + (reads.total() as f64 - served) * costs.disk_read_us;
        let all = (reads.total() + writes.total()).max(1) as f64;
        Outcome {
            read_pages: Some(0),
            write_pages: pages.into(),
            page_us: busy / all,
            read_hit_ratio: share(served, reads.total() as f64),
            write_hit_ratio: share(hits * written, written),
            programs: written / all,
            victims: valid,
        }
    }

    /// Returns the cost map for the report.
    pub(super) fn map(&self) -> Map {
        let every = self.steps.div_ceil(MAP_STEPS).max(1) as usize;
        let utilisations: Vec<f64> = self.utilisations().skip(every - 1).step_by(every).collect();
        let read_ratios: Vec<f64> = (0..=self.steps)
            .step_by(every)
            .map(|step| f64::from(step) / f64::from(self.steps))
            .collect();
        let model = scaled_model(self.space, &self.op.period);
        let costs = self.op.period.load(|load| {
            let row = |&read_ratio: &f64| {
                let at = |&share: &f64| rounded(model.cost_us(share, read_ratio, load));
                utilisations.iter().map(at).collect()
            };
            read_ratios.iter().map(row).collect()
        });
        let one = |&utilisation: &f64| rounded(self.unified_us(utilisation));
        let write = |&utilisation: &f64| rounded(self.write_list(1.0 - utilisation).page_us);
        Map {
            page_us: costs.unwrap_or_default(),
            unified_us: utilisations.iter().map(one).collect(),
            locality_us: utilisations.iter().map(write).collect(),
            utilisations,
            read_ratios,
        }
    }
}

/// Returns the model of a flash whose size equals the length of the stacks of `period`.
fn scaled_model(space: &Space, period: &Period) -> Model {
    Model {
        total_pages: period.total_pages(),
        ..Model::of(space)
    }
}

/// Returns the division with the lowest cost that GC can sustain. `fixed` is the cached share of
/// the flash; `None` permits any share.
fn best(space: &Space, steps: u32, period: &Period, fixed: Option<f64>) -> Division {
    let model = scaled_model(space, period);
    let most = f64::from(space.most_pages) / f64::from(space.total_pages);
    let all = (1..steps).map(|step| f64::from(step) / f64::from(steps));
    let shares: Vec<f64> = match fixed {
        Some(share) => vec![share],
        None => all.filter(|&share| share <= most).collect(),
    };
    let found = period.load(|load| {
        let splits = shares.iter().map(|&share| model.split(share, steps, load));
        splits.reduce(|best, split| {
            if split.cost_us < best.cost_us {
                split
            } else {
                best
            }
        })
    });
    found.flatten().unwrap_or(Division {
        utilisation: fixed.unwrap_or(1.0 / f64::from(steps)),
        read_ratio: 0.0,
        cost_us: 0.0,
        evaluations: 0,
    })
}

fn ratio(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

fn share(part: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| part / all)
}

/// Rounds a time to a hundredth of a microsecond.
fn rounded(us: f64) -> f64 {
    (us * 100.0).round() / 100.0
}

impl Case<'_> {
    fn answer(&self, policy: &str, space: &Space, found: &Outcome) -> Answer {
        let pages = self.input.page_requests as f64;
        let requests = (self.input.reads + self.input.writes).max(1) as f64;
        let gained = (1.0 - found.victims) * f64::from(space.pages_per_block);
        let erases = pages * found.programs / gained;
        let blocks = f64::from(space.total_pages / space.pages_per_block);
        let cycles = blocks * f64::from(self.flash.endurance_cycles);
        let years = self.seconds.filter(|_| erases > 0.0);
        let cached = found.read_pages.unwrap_or(0) + found.write_pages;
        Answer {
            policy: policy.to_owned(),
            flash_pages: space.total_pages.into(),
            read_pages: found.read_pages,
            write_pages: found.write_pages,
            over_provisioning_ratio: 1.0 - cached as f64 / f64::from(space.total_pages),
            page_us: found.page_us,
            request_us: found.page_us * pages / requests,
            read_request_us: None,
            write_request_us: None,
            read_hit_ratio: found.read_hit_ratio,
            write_hit_ratio: found.write_hit_ratio,
            programs_per_page: found.programs,
            victim_utilisation: found.victims,
            write_amplification: 1.0 / (1.0 - found.victims),
            written_bytes_per_day: self.seconds.map(|seconds| {
                let written = pages * found.programs * self.input.page_bytes as f64;
                written * SECONDS_A_DAY / seconds
            }),
            erases,
            lifetime_years: years.map(|seconds| seconds / SECONDS_A_YEAR * cycles / erases),
        }
    }
}
