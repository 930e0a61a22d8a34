//! Standalone package: a stream of requests or a block migration on one package, without an FTL or
//! a host (Jung 2013, section 2.8).
//!
//! Only the `[nand]` tables of a configuration are used. The package has a bus of its own.

mod command;
mod migrate;
mod report;
mod stream;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_nand::array::Violation;
use wordline_nand::package::{Package, SubmitError};
use wordline_nand::{Energy, Part};

use wordline_config::{Config, ConfigError, Loaded, load};
use wordline_memory::{Estimate, Limits, MemoryError};

pub use migrate::{Migrate, MigrateMode};
pub use report::{
    DieReport, EnergyReport, Latency, ModeReport, Report, Speed, Stages, StripReport,
};
pub use stream::{Stream, StreamOperation};

/// Load of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "load", rename_all = "kebab-case")]
pub enum Load {
    /// Requests in a closed loop.
    Stream(Stream),
    /// Migration of blocks.
    Migrate(Migrate),
}

/// Error of an experiment.
#[derive(Debug, Error)]
pub enum PackageError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A number of the load is out of range.
    #[error("{key} = {value}: {rule}; {remedy}")]
    Load {
        /// Name of the parameter.
        key: &'static str,
        /// Value that was given.
        value: u64,
        /// Rule that the value breaks.
        rule: String,
        /// Change that makes the value valid.
        remedy: &'static str,
    },
    /// The load needs internal data moves, which the part does not support.
    #[error(
        "mode = {mode}: the part cannot move pages inside its planes; \
         set nand.internal_data_move to true, or choose another mode"
    )]
    NoMove {
        /// Requested mode.
        mode: MigrateMode,
    },
    /// The part rejects a transaction.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The package does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The array rejects an operation.
    #[error(transparent)]
    Violation(#[from] Violation),
}

/// Runs a load on a package of the configuration `text`, which messages call `name`. If the part
/// has jitter, `seed` determines the random times. If `strips` is set, the report contains every
/// stage.
pub fn run(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    load_of_package: &Load,
    seed: u64,
    strips: bool,
) -> Result<Report, PackageError> {
    let device = load(text, name, overrides)?;
    PackageSim::new(&device, seed, strips)?.run(load_of_package)
}

/// Checks the `[nand]` tables of a configuration.
pub fn check(text: &str, name: &str, overrides: &[(String, String)]) -> Result<(), ConfigError> {
    load(text, name, overrides)?.part(0).map(drop)
}

/// Simulation of one package, with the values of the configuration that its report needs.
#[derive(Clone, Debug)]
pub struct PackageSim {
    device: String,
    page_bytes: u32,
    part: Part,
    energy: Energy,
    internal_data_move: bool,
    strips: bool,
}

impl PackageSim {
    /// Creates the simulation of one package of a device. Checks the `[nand]` tables of the device.
    pub fn new(device: &Loaded, seed: u64, strips: bool) -> Result<Self, ConfigError> {
        let Config { name, nand, .. } = &device.config;
        Ok(Self {
            part: device.part(seed)?,
            device: name.clone(),
            page_bytes: nand.geometry.page_bytes,
            energy: nand.energy.clone(),
            internal_data_move: nand.internal_data_move,
            strips,
        })
    }

    /// Runs a load on a new package, in which only the pages that the load reads are programmed.
    pub fn run(&self, load: &Load) -> Result<Report, PackageError> {
        Estimate::of(&Package::memory(&self.part)).check(&Limits::now())?;
        match load {
            Load::Stream(stream) => stream::run(self, stream),
            Load::Migrate(migrate) => migrate::run(self, migrate),
        }
    }

    fn package(&self, interleaved: bool) -> Package {
        let mut package = Package::new(&self.part, interleaved);
        if self.strips {
            package.keep_strips();
        }
        package
    }
}

/// Checks that a number is between `least` and `most`.
fn within(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), PackageError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(PackageError::Load {
        key,
        value,
        rule: format!("it must be from {least} to {most}"),
        remedy: "give a number in that range",
    })
}
