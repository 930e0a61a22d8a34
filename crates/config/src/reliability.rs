//! The `[nand.reliability]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_reliability::{Errors, Failures};

/// How reads err, and how blocks go bad (`[nand.reliability]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reliability {
    /// How often bits err when a page is read: of pages of medium cost, where `nand.programming` has several.
    pub errors: Errors,
    /// Raw bit error rate of the pages of each level of the cell over that of the model, least significant bit first; the same for all
    /// where the list is empty. Ratio.
    #[schemars(inner(range(min = 0.0, max = 1000.0)))]
    pub level_factors: Vec<f64>,
    /// How much blocks of the same age differ: coefficient of variation of their raw bit error rates, which are log-normal around that
    /// of the model. Ratio.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub block_variation: f64,
    /// Program/erase cycles of every block before the run. Count.
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    pub cycles: f64,
    /// How long the data had lain that was there before the run. Days.
    #[schemars(range(min = 0.0, max = 36_500.0))]
    pub retention_days: f64,
    /// Temperature at which data lies. Degrees Celsius.
    #[schemars(range(min = -60.0, max = 150.0))]
    pub temperature_c: f64,
    /// Temperature that the model of errors was measured at. Degrees Celsius.
    #[schemars(range(min = -60.0, max = 150.0))]
    pub reference_c: f64,
    /// Activation energy with which heat ages data (Arrhenius; 1.1 in JEDEC JESD218). Electronvolts.
    #[schemars(range(min = 0.0, max = 5.0))]
    pub activation_ev: f64,
    /// Whether a read meets the median of its errors instead of a number drawn at random.
    pub expected: bool,
    /// Reads of a block since its erase with which its data is moved (`ftl.refresh`) and the block erased (read reclaim); 0 for never. Every page that
    /// the array senses counts, for whatever purpose, and so does each retry. The read that reaches the limit is served first, and the data
    /// moves as soon as that read is over: with a limit of 5, after the fifth read. Whether reads err or not; only with page mapping and `dftl`. Count.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub read_limit: u32,
    /// Age of the data of a block, at the temperature of the model, from which a read has it moved and the block erased (refresh); 0
    /// for never. Whether reads err or not; only with page mapping and `dftl`. Days.
    #[schemars(range(min = 0.0, max = 36_500.0))]
    pub refresh_days: f64,
    /// Probability with which a block is bad from the factory, each by itself; there have to be as many spare blocks in its plane
    /// (`ftl.spare_blocks`). Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub factory_bad_ratio: f64,
    /// How often programs and erases fail. A block on which one has failed is bad, and a spare one takes its place; where its plane has
    /// none left, the device is read-only from then on. In place of `nand.endurance_cycles`.
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
