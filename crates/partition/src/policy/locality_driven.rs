//! Write cache whose size follows the locality of writes.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;
use wordline_miss_ratio::{Curve, Rate};

use super::Divide;
use crate::latency::{Model, cached_pages};
use crate::shadow::Miniature;
use crate::space::{Kind, Sizes, Space};
use crate::utilisation::victims;
use crate::window::{Method, Sampling, Tracker, Window};

/// Over-provisioning levels for which the share of valid pages in victims is known, in ascending
/// order.
pub const TRAINED: [f64; 8] = [0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85];

/// Source of the share of valid pages in victims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Utilisation {
    /// The equation u = (u' - 1) / ln u', where u is the cached share of the pages that are not
    /// kept free.
    #[default]
    Analytic,
    /// The values of the key `victim_utilisations`.
    Given,
    /// Small write caches on small simulated flash devices, which receive a sample of the writes.
    /// The equation applies until they have received enough writes.
    Miniature,
}

/// Cache sizes that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Candidates {
    /// Over-provisioning of 15, 25, 35, 45, 55, 65, 75 and 85 %, the levels for which the source
    /// gives the share of valid pages in victims.
    #[default]
    Eight,
    /// Over-provisioning of every per cent from 15 to 85 %. Between those levels, the share of
    /// valid pages in victims is interpolated linearly.
    Percent,
}

/// A write cache; reads are not cached. After every window of writes, the cache takes the size with
/// the lowest latency. The latency follows from the miss-ratio curve of the window and the share of
/// valid pages in victims at each level of over-provisioning. The source starts with an
/// over-provisioning of 35 %; here the cache starts with the over-provisioning of the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocalityDriven {
    /// Length of a window, in written bytes; 0 means twice the flash, as in the source for 4 GB
    /// (for 16 GB the source uses 2.5 times). The count is kept in memory: a power cut starts a new
    /// window at the initial size, so that the size never changes if power fails more often than
    /// windows end. Bytes.
    #[schemars(range(min = 0, max = 1_152_921_504_606_846_976_u64))]
    pub window_bytes: u64,
    /// Method of computing the miss-ratio curve of a window. `shards-rate`: SHARDS, with a fixed
    /// share of the pages (`sample_ratio`). `shards-size`: SHARDS, with a fixed number of pages
    /// (`sample_pages`). `aet`: a model from the times between writes of a fixed share of the
    /// pages. `exact`: stack distances of all pages.
    pub curve: Method,
    /// Share of the pages that `shards-rate` and `aet` sample. 1/1024 takes the 24 KB of memory
    /// that the source states for 8 GB of writes, although the source prints a share of 0.0001. A
    /// small flash needs a larger share. Ratio, above 0 up to 1.
    #[schemars(range(min = 0.000_000_1, max = 1))]
    pub sample_ratio: f64,
    /// Maximum number of pages that `shards-size` samples. Count, 1 or more.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub sample_pages: u32,
    /// Treatment of the writes before a window. `clear`: no earlier write counts, so that the first
    /// write of a page in a window is a miss at any size. `keep`: all earlier writes count. `half`:
    /// no earlier write counts, and the first half of a window is not measured.
    pub tracker: Tracker,
    /// Source of the share of valid pages in victims. `analytic`: the equation u = (u' - 1) / ln
    /// u', where u' is this share and u the cached share of the pages that are not kept free.
    /// `given`: the key `victim_utilisations`. `miniature`: small write caches on small simulated
    /// flash devices, which receive a sample of the writes.
    pub utilisation: Utilisation,
    /// For `given`: mean share of valid pages in victims, at an over-provisioning from 15 to 85 %
    /// in steps of 10 %. The default follows from the equation with 5 % of the pages kept free.
    /// Ratios, 0 to below 1.
    #[schemars(inner(range(min = 0, max = 0.999)))]
    pub victim_utilisations: [f64; 8],
    /// For `miniature`: factor by which its flash devices are smaller than the flash; they have at
    /// least 64 blocks. Count, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub miniature_divisor: u32,
    /// For `miniature`: change of the miss ratio above which the flash devices are trained again.
    /// The miss ratios at the eight sizes are compared with those in the window of the last
    /// training. Needs 1,000 sampled writes per window; with fewer, use 0.2. Ratio, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub retrain_difference: f64,
    /// For `miniature`: minimum number of windows between the end of a training and the start of
    /// the next. Count, 0 or more.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub retrain_gap_windows: u32,
    /// Levels of over-provisioning that are compared. `eight`: 15, 25, ... 85 %. `percent`: every
    /// per cent from 15 to 85 %.
    pub candidates: Candidates,
}

impl Default for LocalityDriven {
    fn default() -> Self {
        Self {
            window_bytes: 0,
            curve: Method::default(),
            sample_ratio: 1.0 / 1024.0,
            sample_pages: 2048,
            tracker: Tracker::default(),
            utilisation: Utilisation::default(),
            victim_utilisations: [0.797, 0.611, 0.443, 0.297, 0.175, 0.083, 0.025, 0.002],
            miniature_divisor: 8,
            retrain_difference: 0.1,
            retrain_gap_windows: 1,
            candidates: Candidates::default(),
        }
    }
}

impl Cited for LocalityDriven {
    const PAPER: &'static str = "Xia, \"Towards Design and Analysis for High-Performance and Reliable SSDs\", dissertation, Virginia Commonwealth University 2017, chapter 4";
}

/// Share of valid pages in victims at the eight levels of over-provisioning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained([f64; 8]);

impl Trained {
    /// Computes the shares by the analytic equation, without training.
    pub fn analytic(space: &Space) -> Self {
        Self(TRAINED.map(|op| analytic(space, op)))
    }
    /// Returns the share at an over-provisioning. The share is linear between the eight levels, and
    /// constant beyond them.
    pub fn at(&self, over_provisioning: f64) -> f64 {
        let after = TRAINED.partition_point(|&op| op < over_provisioning);
        let (Some(before), Some(&high)) = (after.checked_sub(1), TRAINED.get(after)) else {
            return self.0[after.min(7)];
        };
        let low = TRAINED[before];
        let part = (over_provisioning - low) / (high - low);
        self.0[before] + (self.0[after] - self.0[before]) * part
    }
}

/// Victim model that a policy has learned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learned {
    /// Mean share of valid pages in victims at an over-provisioning of 15, 25, ... 85 %.
    pub victims: [f64; 8],
    /// Number of times that the model was trained on small simulated flash devices.
    pub trainings: u32,
}

/// Returns the share of valid pages in victims at an over-provisioning, from the equation for the
/// pages that GC does not keep free.
fn analytic(space: &Space, over_provisioning: f64) -> f64 {
    let total = f64::from(space.total_pages);
    let used = total - f64::from(space.threshold_pages);
    victims((1.0 - over_provisioning) * total / used.max(1.0))
}

/// State of the training on small simulated flash devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Training {
    seed: u64,
    divisor: u32,
    /// Training in progress; `None` once it has received enough writes.
    miniature: Option<Miniature>,
    /// Separate windows if the tracker keeps earlier writes, because the tracker's curves then
    /// cover more than single windows.
    windows: Option<Window>,
    /// Miss ratios at the eight sizes in the window of the last training.
    reference: Option<[f64; 8]>,
    difference: f64,
    gap: u32,
    /// Windows since the last training. Count.
    rested: u32,
    /// Number of completed trainings.
    trainings: u32,
}

impl Training {
    fn new(policy: &LocalityDriven, window: &Window, space: &Space, seed: u64) -> Self {
        let mut training = Self {
            seed,
            divisor: policy.miniature_divisor,
            miniature: None,
            windows: (policy.tracker == Tracker::Keep).then(|| window.cleared()),
            reference: None,
            difference: policy.retrain_difference,
            gap: policy.retrain_gap_windows,
            rested: 0,
            trainings: 0,
        };
        training.begin(space);
        training
    }
    fn begin(&mut self, space: &Space) {
        let sizes = TRAINED.map(|op| cached_pages(op, space.total_pages));
        self.miniature = Some(Miniature::new(space, self.divisor, &sizes, self.seed));
    }
    #[inline]
    fn write(&mut self, page: u64) {
        if let Some(miniature) = &mut self.miniature {
            miniature.write(page);
        }
        if let Some(window) = &mut self.windows {
            window.request(page);
        }
    }
    /// Ends a window with the miss-ratio curve `curve`. Returns the result of a training that this
    /// window completes.
    fn window(&mut self, curve: &Curve, space: &Space) -> Option<Trained> {
        let ratios = miss_ratios(
            self.windows
                .as_ref()
                .map(Window::curve)
                .as_ref()
                .unwrap_or(curve),
            space,
        );
        if let Some(window) = &mut self.windows {
            window.start();
        }
        if let Some(miniature) = self.miniature.take_if(|miniature| miniature.is_trained()) {
            self.reference = Some(ratios);
            self.rested = 0;
            self.trainings += 1;
            return Some(learned(&miniature, space));
        }
        self.rested = self.rested.saturating_add(1);
        let has_shifted = self
            .reference
            .is_some_and(|reference| shift(&reference, &ratios) > self.difference);
        if has_shifted && self.miniature.is_none() && self.rested > self.gap {
            self.begin(space);
        }
        None
    }
}

fn learned(miniature: &Miniature, space: &Space) -> Trained {
    let mut table = Trained::analytic(space);
    for (value, found) in table.0.iter_mut().zip(miniature.victims()) {
        *value = found.unwrap_or(*value);
    }
    table
}

/// Returns the miss ratios at the eight sizes.
pub fn miss_ratios(curve: &Curve, space: &Space) -> [f64; 8] {
    TRAINED.map(|op| curve.miss_ratio(cached_pages(op, space.total_pages).into()))
}

/// Returns the largest difference between the miss ratios of two windows at any of the eight sizes.
pub fn shift(one: &[f64; 8], other: &[f64; 8]) -> f64 {
    let apart = one
        .iter()
        .zip(other)
        .map(|(one, other)| (one - other).abs());
    apart.fold(0.0, f64::max)
}

/// State of the policy: the current window and the current size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    space: Space,
    candidates: Candidates,
    window: Window,
    table: Trained,
    training: Option<Box<Training>>,
    cached: u32,
}

impl State {
    pub(super) fn new(policy: &LocalityDriven, space: &Space, seed: u64) -> Self {
        let sampling = Sampling {
            method: policy.curve,
            rate: Rate::new(policy.sample_ratio).unwrap_or(Rate::ALL),
            pages: NonZeroU32::new(policy.sample_pages).unwrap_or(NonZeroU32::MIN),
            seed,
        };
        let window = Window::new(sampling, policy.tracker, window_pages(policy, space));
        let is_miniature = policy.utilisation == Utilisation::Miniature;
        Self {
            space: *space,
            candidates: policy.candidates,
            training: is_miniature.then(|| Box::new(Training::new(policy, &window, space, seed))),
            window,
            table: match policy.utilisation {
                Utilisation::Given => Trained(policy.victim_utilisations),
                Utilisation::Analytic | Utilisation::Miniature => Trained::analytic(space),
            },
            cached: space.first_pages(),
        }
    }
    pub(super) fn memory(policy: &LocalityDriven, space: &Space) -> Vec<Table> {
        let writes = window_pages(policy, space) as f64;
        let pages = match policy.curve {
            Method::ShardsRate | Method::Aet => writes * policy.sample_ratio,
            Method::ShardsSize => writes.min(policy.sample_pages.into()),
            Method::Exact => writes,
        };
        let mut tables = vec![Window::memory(pages.ceil() as u64)];
        if policy.utilisation == Utilisation::Miniature {
            tables.push(Miniature::memory(
                space,
                policy.miniature_divisor,
                TRAINED.len() as u32,
            ));
        }
        tables
    }
    /// Returns the share of valid pages in victims that the policy assumes.
    pub fn trained(&self) -> Trained {
        self.table
    }
    /// Returns the victim model, with the number of trainings.
    pub fn learned(&self) -> Learned {
        let training = self.training.as_ref();
        Learned {
            victims: self.table.0,
            trainings: training.map_or(0, |training| training.trainings),
        }
    }
    /// Returns `true` if a training is in progress.
    pub fn is_training(&self) -> bool {
        self.training
            .as_ref()
            .is_some_and(|training| training.miniature.is_some())
    }
    /// Returns the levels of over-provisioning whose cache size GC can sustain.
    fn over_provisionings(&self) -> impl Iterator<Item = f64> {
        let percents = match self.candidates {
            Candidates::Eight => (15..=85).step_by(10),
            Candidates::Percent => (15..=85).step_by(1),
        };
        let (total, most) = (self.space.total_pages, self.space.most_pages);
        let ratios = percents.map(|percent| f64::from(percent) / 100.0);
        ratios.filter(move |&op| cached_pages(op, total) <= most)
    }
    /// Returns the cache size with the lowest latency. Pages.
    fn best(&self, curve: &Curve) -> Option<u32> {
        let total = self.space.total_pages;
        let miss_ratio = |op| curve.miss_ratio(cached_pages(op, total).into());
        let victims = |op| self.table.at(op);
        let best = Model::of(&self.space).best(self.over_provisionings(), victims, miss_ratio);
        best.map(|(op, _)| cached_pages(op, total))
    }
}

/// Returns the length of a window (T). Pages.
fn window_pages(policy: &LocalityDriven, space: &Space) -> u64 {
    match policy.window_bytes {
        0 => 2 * u64::from(space.total_pages),
        bytes => (bytes / u64::from(space.page_bytes.max(1))).max(1),
    }
}

impl Divide for State {
    fn is_split(&self) -> bool {
        true
    }
    fn start(&self) -> Sizes {
        Sizes {
            read: 0,
            write: self.space.first_pages(),
        }
    }
    #[inline]
    fn page(&mut self, page: u64, kind: Kind, _hit: bool) {
        if kind == Kind::Write {
            self.window.request(page);
            if let Some(training) = &mut self.training {
                training.write(page);
            }
        }
    }
    fn decide(&mut self) -> Option<Sizes> {
        if !self.window.is_over() {
            return None;
        }
        let curve = self.window.curve();
        self.window.start();
        let training = self.training.as_mut();
        let learned = training.and_then(|training| training.window(&curve, &self.space));
        self.table = learned.unwrap_or(self.table);
        let write = self.best(&curve)?;
        let changed = write != self.cached;
        self.cached = write;
        changed.then_some(Sizes { read: 0, write })
    }
}
