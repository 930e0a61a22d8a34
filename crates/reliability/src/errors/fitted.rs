//! User-defined fit of the raw bit error rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Age, Err, Rate};

/// Like `analytic`, with user-defined constants, such as those that `wordline calibrate` finds:
/// `e + a c^k + b c^m t^n + g c^p r^q` for c cycles, t days of retention and r reads since the
/// erase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fitted {
    /// Raw bit error rate of new cells (e). Ratio.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub e: f64,
    /// Coefficient of the wear term `a c^k`. Ratio.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub a: f64,
    /// Exponent of cycles in the wear term.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub k: f64,
    /// Coefficient of the retention term `b c^m t^n`, with t in days. Ratio.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub b: f64,
    /// Exponent of cycles in the retention term.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub m: f64,
    /// Exponent of days in the retention term.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub n: f64,
    /// Coefficient of the read term `g c^p r^q`. Ratio.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub g: f64,
    /// Exponent of cycles in the read term.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub p: f64,
    /// Exponent of reads in the read term.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub q: f64,
    /// Meaning of r: with `block`, reads of the block; with `page`, reads of the block per page.
    pub reads: Reads,
    /// Limit of validity of the fit. A higher rate is replaced by the limit, and counted. Ratio.
    #[schemars(range(max = 0.5), extend("exclusiveMinimum" = 0.0))]
    pub limit: f64,
}

/// Scope in which reads are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// All reads of the block.
    #[default]
    Block,
    /// Reads of the block divided by its number of pages.
    Page,
}

impl Fitted {
    /// Cells without errors at any age.
    pub(super) const NONE: Self = Self {
        e: 0.0,
        a: 0.0,
        k: 0.0,
        b: 0.0,
        m: 0.0,
        n: 0.0,
        g: 0.0,
        p: 0.0,
        q: 0.0,
        reads: Reads::Block,
        limit: 0.05,
    };

    /// Returns the term `factor c^wear s^exponent` for a stress s; 0 without stress.
    fn added(cycles: f64, factor: f64, wear: f64, stress: f64, exponent: f64) -> f64 {
        if factor > 0.0 && stress > 0.0 {
            factor * libm::pow(cycles, wear) * libm::pow(stress, exponent)
        } else {
            0.0
        }
    }
}

impl Default for Fitted {
    fn default() -> Self {
        Self::NONE
    }
}

impl Cited for Fitted {
    const PAPER: &'static str =
        "B. S. Kim, J. Choi, S. L. Min, Design tradeoffs for SSD reliability, FAST 2019";
}

impl Err for Fitted {
    fn rate(&self, age: &Age) -> Rate {
        let cycles = age.cycles.max(0.0);
        let reads = match self.reads {
            Reads::Block => age.reads,
            Reads::Page => age.reads_a_page(),
        };
        let rate = self.e
            + self.a * libm::pow(cycles, self.k)
            + Self::added(cycles, self.b, self.m, age.retention_days, self.n)
            + Self::added(cycles, self.g, self.p, reads, self.q);
        Rate {
            rate: rate.min(self.limit),
            is_limited: rate > self.limit,
        }
    }
}
