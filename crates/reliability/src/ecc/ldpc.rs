//! LDPC codes with soft decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Code, Correct, Level};
use crate::fault::{Fault, us};

/// LDPC code with a sequence of reads: a hard decision first, then soft decisions with more
/// reference voltages, each a separate read. A read at N voltages takes `alpha N + beta
/// ceil(log2(N+1))`, where alpha is `sense_us` and beta is the transfer time of one bit per cell. A
/// sense level corrects a codeword whose share of errors is at most its threshold (`correctable`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ldpc {
    /// Size of a codeword, data and parity. Bits.
    #[schemars(range(min = 16, max = 1_048_576))]
    pub bits: u32,
    /// Data in a codeword. Bits.
    #[schemars(range(min = 8, max = 1_048_576))]
    pub data_bits: u32,
    /// Number of reference voltages at each sense level, the hard decision first. Count.
    #[schemars(inner(range(min = 1, max = 4096)))]
    pub voltages: Vec<u32>,
    /// Share of errors per codeword that each sense level corrects. The defaults are thresholds of
    /// a (4,36)-regular code of rate 8/9: hard decision by Gallager B, then sum-product with 3 and
    /// 7 levels per boundary. Ratio.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub correctable: Vec<f64>,
    /// Sensing time per reference voltage (alpha). Microseconds.
    #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
    pub sense_us: f64,
    /// Decoding time of a page at each sense level. Microseconds. The defaults are assumed.
    #[schemars(inner(range(min = 0.0, max = 1e6)))]
    pub decode_us: Vec<f64>,
}

impl Default for Ldpc {
    fn default() -> Self {
        Self {
            bits: 9216,
            data_bits: 8192,
            voltages: vec![3, 9, 21],
            correctable: vec![4.88e-3, 1.96e-2, 2.19e-2],
            sense_us: 10.0,
            decode_us: vec![2.0, 10.0, 20.0],
        }
    }
}

impl Cited for Ldpc {
    const PAPER: &'static str = "K. Zhao et al., LDPC-in-SSD: making advanced error correction codes work effectively in solid state drives, FAST 2013";
}

/// Returns the number of bits per cell that are transferred after sensing at `voltages` reference
/// voltages.
pub fn bits(voltages: u32) -> u32 {
    u32::BITS - voltages.leading_zeros()
}

/// Returns the duration of a read at `voltages` reference voltages: `alpha N + beta
/// ceil(log2(N+1))`. Microseconds.
pub fn read_us(sense_us: f64, transfer_us: f64, voltages: u32) -> f64 {
    sense_us * f64::from(voltages) + transfer_us * f64::from(bits(voltages))
}

impl Correct for Ldpc {
    fn code(&self) -> Result<Code, Fault> {
        let fault = |key, reason: String, remedy| {
            Err(Fault {
                key,
                reason,
                remedy,
            })
        };
        if self.data_bits >= self.bits {
            let reason = format!(
                "{} of {} bits are data, which leaves none for parity",
                self.data_bits, self.bits
            );
            return fault("data_bits", reason, "set data_bits below bits");
        }
        let levels = self.voltages.len();
        if levels == 0 || levels != self.correctable.len() || levels != self.decode_us.len() {
            let reason = format!(
                "voltages has {levels} values, correctable {} and decode_us {}",
                self.correctable.len(),
                self.decode_us.len()
            );
            return fault("voltages", reason, "give each of them one value per level");
        }
        if !self.correctable.is_sorted() || self.voltages.contains(&0) {
            let reason =
                "a later level corrects less than an earlier one, or a level has no reference voltage"
                    .into();
            return fault(
                "correctable",
                reason,
                "sort the levels in rising order, each with at least one voltage",
            );
        }
        if self
            .correctable
            .iter()
            .any(|share| !(0.0..=0.5).contains(share))
        {
            let reason = "a share of errors is not between 0 and 0.5".into();
            return fault(
                "correctable",
                reason,
                "give shares of the bits of a codeword in that range",
            );
        }
        let ladder = self
            .voltages
            .iter()
            .zip(&self.correctable)
            .zip(&self.decode_us);
        Ok(Code {
            bits: self.bits,
            data_bits: self.data_bits,
            ladder: ladder
                .map(|((&voltages, share), decode_us)| Level {
                    correctable: (f64::from(self.bits) * share) as u32,
                    sense: Some(us(self.sense_us * f64::from(voltages))),
                    bits: bits(voltages),
                    decode: us(*decode_us),
                    decode_per_error: us(0.0),
                })
                .collect(),
        })
    }
}
