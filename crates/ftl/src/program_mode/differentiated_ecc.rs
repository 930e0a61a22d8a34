//! Program mode and error-correcting code, selected by how a page is used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::bloom::{Hotness, Separator};
use super::{Characteristic, Graded, Regulate, Rewriting, Storage};
use crate::lpn::Lpn;

/// Pages that are only written are programmed fast, and therefore read with LDPC. Other pages are
/// programmed at the usual speed, and read with BCH. A page that is both read and written is
/// programmed fast if its write hotness exceeds its read hotness by more than `m`. A page
/// programmed fast is rewritten at once, at the usual speed, if its read hotness exceeds its write
/// hotness by more than `n`. Bloom filters determine the hotness of pages. In the terms of
/// `nand.programming`, fast is mode `low`, and the usual speed is mode `medium`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DifferentiatedEcc {
    /// Threshold for fast programs: a page that is both read and written is programmed fast if its
    /// write hotness minus its read hotness exceeds this value.
    #[schemars(range(min = -5.0, max = 5.0))]
    pub m: f64,
    /// Threshold for rewrites: when a page programmed fast is read, it is rewritten if its read
    /// hotness minus its write hotness exceeds this value.
    #[schemars(range(min = 0.0, max = 5.0))]
    pub n: f64,
    /// Number of steps after which the oldest pair of filters is cleared.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub decay: u32,
    /// Unit of a step: a `request` of the host, or an access to a `page`.
    pub step: Step,
    /// Program mode of data older than the run: `low`, `medium`, `high` or `reduced`.
    pub preloaded: ProgramMode,
}

/// Unit of a step of the filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A host request, regardless of its number of pages.
    #[default]
    Request,
    /// An access to a page.
    Page,
}

impl Default for DifferentiatedEcc {
    fn default() -> Self {
        Self {
            m: -1.0,
            n: 3.0,
            decay: 512,
            step: Step::Request,
            preloaded: ProgramMode::Medium,
        }
    }
}

impl Cited for DifferentiatedEcc {
    const PAPER: &'static str = "Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD thesis, Virginia Commonwealth University, 2017, chapter 5";
}

/// Filters, and the thresholds in units of one half.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    separator: Separator,
    twice_m: f64,
    twice_n: f64,
    step: Step,
    preloaded: ProgramMode,
}

impl State {
    pub(super) fn new(policy: &DifferentiatedEcc, _user_pages: u32) -> Self {
        Self {
            separator: Separator::new(policy.decay),
            twice_m: policy.m * 2.0,
            twice_n: policy.n * 2.0,
            step: policy.step,
            preloaded: policy.preloaded,
        }
    }
    pub(super) fn memory(_user_pages: u32, _fill: Fill) -> Vec<Table> {
        Vec::new()
    }
    /// Returns the program mode of a page that the filters contain as written, or `None` for other
    /// pages.
    fn grade(&self, page: Lpn) -> Option<ProgramMode> {
        let Hotness { read, write } = self.separator.hotness(page);
        if write == 0 {
            return None;
        }
        let fast = read == 0 || f64::from(write) - f64::from(read) > self.twice_m;
        Some(if fast {
            ProgramMode::Low
        } else {
            ProgramMode::Medium
        })
    }
}

impl Regulate for State {
    fn preloaded(&self) -> ProgramMode {
        self.preloaded
    }
    fn begins(&mut self) {
        if self.step == Step::Request {
            self.separator.step();
        }
    }
    fn access(&mut self, page: Lpn, write: bool) -> Characteristic {
        if self.step == Step::Page {
            self.separator.step();
        }
        self.separator.enter(page, write);
        Characteristic::New
    }
    fn write(&self, page: Lpn, _found: Characteristic, _queued: bool) -> Graded {
        Graded::once(self.grade(page).unwrap_or_default())
    }
    fn read(&self, page: Lpn, _found: Characteristic, mode: ProgramMode) -> bool {
        let Hotness { read, write } = self.separator.hotness(page);
        mode == ProgramMode::Low
            && read > write
            && f64::from(read) - f64::from(write) > self.twice_n
    }
    fn rewriting(&self) -> Rewriting {
        Rewriting::AtOnce
    }
    fn rewritten(&self) -> ProgramMode {
        ProgramMode::Medium
    }
    /// Returns the mode of a moved page. A page that the filters do not contain as written keeps
    /// its mode.
    fn moved(&self, page: Option<Lpn>, mode: ProgramMode) -> ProgramMode {
        page.and_then(|page| self.grade(page)).unwrap_or(mode)
    }
    fn regrades(&self) -> bool {
        true
    }
    fn storage(&self) -> Storage {
        Storage {
            bits_per_page: 1,
            bytes: Separator::bytes(),
        }
    }
}
