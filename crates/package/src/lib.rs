//! One package by itself: a stream of requests, or a migration of blocks, without translation layer
//! and host (Jung 2013, section 2.8).
//!
//! Only the `[nand]` tables of a configuration matter. The package is the configured one, on a bus
//! of its own.

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

/// What a package is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "load", rename_all = "kebab-case")]
pub enum Load {
    /// Requests one after another.
    Stream(Stream),
    /// Blocks are moved elsewhere.
    Migrate(Migrate),
}

/// An experiment that cannot be made.
#[derive(Debug, Error)]
pub enum PackageError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A number of the load is out of range.
    #[error("{key} = {value}: {rule}; {remedy}")]
    Load {
        /// Which.
        key: &'static str,
        /// What was given.
        value: u64,
        /// What holds.
        rule: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Internal data moves of a part that has none.
    #[error(
        "mode = {mode}: the part cannot move pages inside its planes; \
         set nand.internal_data_move to true, or choose another mode"
    )]
    NoMove {
        /// The mode asked for.
        mode: MigrateMode,
    },
    /// The part refuses a transaction.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// It does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The array refuses an operation.
    #[error(transparent)]
    Violation(#[from] Violation),
}

/// Runs a load on a package of the configuration `text`, called `name` in messages. Times are
/// random only if the part has jitter, drawn with `seed`. `strips` keeps every stage.
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

/// A package and what is needed to tell of it.
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
    /// One package of a device; checks its `[nand]` tables.
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

    /// Runs a load on the package, pristine but for the pages that the load reads.
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

/// Refuses a number that is not between `least` and `most`.
fn within(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), PackageError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(PackageError::Load {
        key,
        value,
        rule: format!("it lies between {least} and {most}"),
        remedy: "give a number in that range",
    })
}
