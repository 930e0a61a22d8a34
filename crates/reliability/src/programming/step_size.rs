//! Costs derived from the size of program steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{DISTANCE, ModeCost, ModeCosts, Price};
use crate::ecc::ldpc::{bits, read_us};
use crate::fault::{Fault, thousandths, us};
use crate::mode::ProgramMode;
use crate::program_step::{Step, error_rate};

/// Costs derived from the size of program steps. A write takes as many steps as its voltage needs.
/// Larger steps, or lower voltages, cause more errors. The errors determine the number of reference
/// voltages of a read, and thus its duration. Voltages and steps are relative to medium mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StepSize {
    /// Duration of a medium-cost write, including the transfer of its data over the channel.
    /// Microseconds.
    #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
    pub write_us: f64,
    /// Program step of a low-cost write. Medium steps.
    #[schemars(range(min = 1.0, max = 16.0))]
    pub low_step: f64,
    /// Program step of a high-cost write. Medium steps.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub high_step: f64,
    /// Threshold voltage and program step of a write with reduced wear, relative to medium mode.
    /// Ratio.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub reduced_voltage: f64,
    /// Distance between the verify levels of two neighbouring states. Medium steps. The default is
    /// assumed.
    #[schemars(range(max = 100.0), extend("exclusiveMinimum" = 0.0))]
    pub distance: f64,
    /// Standard deviation of the noise of a cell's voltage. Medium steps. The default is assumed.
    #[schemars(range(max = 100.0), extend("exclusiveMinimum" = 0.0))]
    pub noise: f64,
    /// Sensing time per reference voltage (alpha). Microseconds.
    #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
    pub sense_us: f64,
    /// Transfer time per bit read from each cell (beta). Microseconds.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub transfer_us: f64,
    /// Number of reference voltages at each sense level. Count.
    #[schemars(inner(range(min = 1, max = 4096)))]
    pub voltages: Vec<u32>,
    /// Raw bit error rate that each sense level corrects. The defaults are thresholds of a
    /// (4,36)-regular LDPC code: hard decision by Gallager B, then sum-product with 3 and 7 levels
    /// per boundary. Ratio.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub correctable: Vec<f64>,
}

impl Default for StepSize {
    fn default() -> Self {
        Self {
            write_us: 600.0,
            low_step: 4.0 / 3.0,
            high_step: 0.75,
            reduced_voltage: 0.8,
            distance: DISTANCE,
            noise: 0.32,
            sense_us: 10.0,
            transfer_us: 20.0,
            voltages: vec![3, 9, 21],
            correctable: vec![4.88e-3, 1.96e-2, 2.19e-2],
        }
    }
}

impl Cited for StepSize {
    const PAPER: &'static str = "Q. Li, L. Shi, C. Gao, Y. Di, C. J. Xue, Access Characteristic Guided Read and Write Regulation on Flash based Storage Systems, section 3.1";
}

impl StepSize {
    fn step(&self, mode: ProgramMode) -> Step {
        let (step, voltage) = match mode {
            ProgramMode::Medium => (1.0, 1.0),
            ProgramMode::Low => (self.low_step, 1.0),
            ProgramMode::High => (self.high_step, 1.0),
            ProgramMode::Reduced => (self.reduced_voltage, self.reduced_voltage),
        };
        Step { step, voltage }
    }
    /// Returns the raw bit error rate after a program in this mode.
    pub fn rate(&self, mode: ProgramMode) -> f64 {
        let Step { step, voltage } = self.step(mode);
        error_rate(self.distance * voltage, step, self.noise)
    }
    fn cost(&self, mode: ProgramMode) -> Result<ModeCost, Fault> {
        let rate = self.rate(mode);
        let ladder = self.correctable.iter().zip(&self.voltages);
        let mut enough = ladder.enumerate().filter(|(_, (most, _))| rate < **most);
        let Some((level, (_, &voltages))) = enough.next() else {
            return Err(Fault {
                key: "correctable",
                reason: format!(
                    "{} writes have an error rate of {rate:.3e}, which no level corrects",
                    mode.name()
                ),
                remedy: "raise `correctable`, or lower the step of this mode or `noise`",
            });
        };
        let step = self.step(mode);
        let transfer = self.transfer_us * f64::from(bits(voltages));
        Ok(ModeCost {
            sense: us(read_us(self.sense_us, self.transfer_us, voltages)) - us(transfer),
            transfer: us(transfer),
            write: us(self.write_us * step.voltage / step.step),
            wear: thousandths(step.voltage),
            level: level as u8,
        })
    }
}

impl Price for StepSize {
    fn costs(&self) -> Result<Option<ModeCosts>, Fault> {
        if self.voltages.len() != self.correctable.len() {
            return Err(Fault {
                key: "voltages",
                reason: format!(
                    "voltages has {} values, and correctable has {}",
                    self.voltages.len(),
                    self.correctable.len()
                ),
                remedy: "give both the same number of values, one per level",
            });
        }
        let costs: Result<Vec<_>, _> = ProgramMode::ALL
            .map(|mode| self.cost(mode))
            .into_iter()
            .collect();
        Ok(costs?.try_into().ok().map(ModeCosts))
    }
    fn steps(&self) -> [Step; 4] {
        ProgramMode::ALL.map(|mode| self.step(mode))
    }
    fn distance(&self) -> f64 {
        self.distance
    }
}
