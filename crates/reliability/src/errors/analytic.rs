//! Published fits of the raw bit error rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::fitted::{Fitted, Reads};
use super::{Age, Err, Rate};

/// Raw bit error rate for c cycles, t days of retention and r reads since the erase:
/// `e + a c^k + b c^m t^n + g c^p r^q`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Analytic {
    /// Cells to which the constants were fitted: `mlc`, planar MLC of 2y nm, where r is the number
    /// of reads of the block; `tlc`, 72-layer TLC, where r is that number divided by the number of
    /// pages of the block.
    pub cells: Cells,
    /// Limit of validity of the fit. A higher rate is replaced by the limit, and counted. Ratio.
    #[schemars(range(max = 0.5), extend("exclusiveMinimum" = 0.0))]
    pub limit: f64,
}

/// Cells to which the constants were fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// Planar MLC of 2y nm.
    #[default]
    Mlc,
    /// 72-layer TLC.
    Tlc,
}

impl Default for Analytic {
    fn default() -> Self {
        Self {
            cells: Cells::Mlc,
            limit: 0.05,
        }
    }
}

impl Cited for Analytic {
    const PAPER: &'static str =
        "B. S. Kim, J. Choi, S. L. Min, Design tradeoffs for SSD reliability, FAST 2019";
}

const MLC: Fitted = Fitted {
    e: 8.34e-5,
    a: 3.30e-11,
    k: 1.71,
    b: 5.56e-19,
    m: 2.49,
    n: 3.33,
    g: 6.26e-13,
    p: 1.76,
    q: 0.47,
    reads: Reads::Block,
    ..Fitted::NONE
};
const TLC: Fitted = Fitted {
    e: 1.48e-3,
    a: 3.90e-10,
    k: 2.05,
    b: 6.28e-5,
    m: 0.14,
    n: 0.54,
    g: 3.73e-9,
    p: 0.33,
    q: 1.71,
    reads: Reads::Page,
    ..Fitted::NONE
};

impl Err for Analytic {
    fn rate(&self, age: &Age) -> Rate {
        let fit = match self.cells {
            Cells::Mlc => MLC,
            Cells::Tlc => TLC,
        };
        let limit = self.limit;
        Fitted { limit, ..fit }.rate(age)
    }
}
