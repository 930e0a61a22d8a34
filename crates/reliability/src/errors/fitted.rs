//! A fit of one's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Age, Err, Rate};

/// As `analytic`, with constants of one's own, such as `wordline calibrate` finds: `e + a c^k + b c^m t^n + g c^p r^q` of
/// cycles c, retention t in days and reads r since the erase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fitted {
    /// Raw bit error rate of new cells. Ratio.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub e: f64,
    /// What wear adds: `a c^k`. Ratio.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub a: f64,
    /// Exponent of cycles in it.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub k: f64,
    /// What retention adds: `b c^m t^n`, t in days. Ratio.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub b: f64,
    /// Exponent of cycles in it.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub m: f64,
    /// Exponent of days in it.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub n: f64,
    /// What reads add: `g c^p r^q`. Ratio.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub g: f64,
    /// Exponent of cycles in it.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub p: f64,
    /// Exponent of reads in it.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub q: f64,
    /// Whose reads r counts: of the `block`, or its reads for each `page`.
    pub reads: Reads,
    /// Rate beyond which the fit is not believed: a greater one is taken as this, and noted. Ratio.
    #[schemars(range(max = 0.5), extend("exclusiveMinimum" = 0.0))]
    pub limit: f64,
}

/// What reads are counted of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// All of the block.
    #[default]
    Block,
    /// Those of the block over its pages.
    Page,
}

impl Fitted {
    /// Cells that never err, however old.
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

    /// `factor c^wear s^exponent` of a stress s. What was never kept or read adds nothing.
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
