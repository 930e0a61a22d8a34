//! The `[nand.reliability]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_reliability::{Errors, Failures};

/// Read errors, read reclaim, refresh, and bad blocks (`[nand.reliability]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reliability {
    /// Model of the raw bit error rate of page reads. If `nand.programming` has several modes, the
    /// model applies to pages of medium cost.
    pub errors: Errors,
    /// Raw bit error rate of each page type relative to the model, least significant bit first.
    /// With an empty list, all rates are equal. Ratio.
    #[schemars(inner(range(min = 0.0, max = 1000.0)))]
    pub level_factors: Vec<f64>,
    /// Coefficient of variation of the raw bit error rate among blocks of the same age. The rates
    /// are log-normal around the rate of the model. Ratio.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub block_variation: f64,
    /// Program/erase cycles of every block at the start of the run. Count.
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    pub cycles: f64,
    /// Age, at the start of the run, of the data written before it. Days.
    #[schemars(range(min = 0.0, max = 36_500.0))]
    pub retention_days: f64,
    /// Storage temperature of the data. Degrees Celsius.
    #[schemars(range(min = -60.0, max = 150.0))]
    pub temperature_c: f64,
    /// Temperature at which the error model was measured. Degrees Celsius.
    #[schemars(range(min = -60.0, max = 150.0))]
    pub reference_c: f64,
    /// Activation energy of retention loss (Arrhenius; 1.1 in JEDEC JESD218). Electronvolts.
    #[schemars(range(min = 0.0, max = 5.0))]
    pub activation_ev: f64,
    /// Whether each read has the median number of errors instead of a random number.
    pub expected: bool,
    /// Limit of read reclaim: number of reads of a block since its last erase after which its data
    /// is moved (`ftl.refresh`) and the block is erased; 0 for no read reclaim. Every sensing of a
    /// page counts, whatever its purpose, including retries. The read that reaches the limit
    /// completes first: with a limit of 5, the data moves after the fifth read. Works with and
    /// without read errors. Needs page mapping or `dftl`. Count.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub read_limit: u32,
    /// Limit of refresh: age of a block's data, at the temperature of the model; 0 for no refresh.
    /// The next read of data of this age causes the data to be moved and the block to be erased.
    /// Works with and without read errors. Needs page mapping or `dftl`. Days.
    #[schemars(range(min = 0.0, max = 36_500.0))]
    pub refresh_days: f64,
    /// Probability that a block is bad from the factory, independently of other blocks. A plane
    /// needs at least as many spare blocks as bad blocks (`ftl.spare_blocks`). Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub factory_bad_ratio: f64,
    /// Failure model of programs and erases. A block is bad after its first failure, and a spare
    /// block replaces it. The device becomes read-only when a plane has no spare block left.
    /// Replaces `nand.endurance_cycles`.
    pub failures: Failures,
}

impl Default for Reliability {
    fn default() -> Self {
        Self {
            errors: Errors::default(),
            level_factors: Vec::new(),
            block_variation: 0.0,
            cycles: 0.0,
            retention_days: 0.0,
            temperature_c: 25.0,
            reference_c: 25.0,
            activation_ev: 1.1,
            expected: false,
            read_limit: 0,
            refresh_days: 0.0,
            factory_bad_ratio: 0.0,
            failures: Failures::default(),
        }
    }
}
